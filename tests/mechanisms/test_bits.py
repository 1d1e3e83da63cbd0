"""Bit vectors: the paper's (3), and optimised unary encoding."""

import math

import pytest

from hedgerow.mechanisms import BitVectorResponse, UnaryEncoding

EPSILONS = [0.001, 0.1, 1.0, 3.0, 10.0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_noise_is_the_least_that_64_bits_allow(epsilon):
    paper, best = BitVectorResponse(epsilon, 4), UnaryEncoding(epsilon, 4)
    half = math.exp(epsilon / 2)
    assert (float(paper.p), float(paper.q)) == pytest.approx((half / (1 + half), 1 / (1 + half)), rel=1e-12)
    assert (float(best.p), float(best.q)) == pytest.approx((0.5, 1 / (1 + math.exp(epsilon))), rel=1e-12)


def test_bit_vectors_are_the_papers():
    # Appendix D.1 prints the flip probability twice; a bit is KEPT with e**(eps/2) / (1 + e**(eps/2)).
    kept = float(BitVectorResponse(2.0, 3).p)
    assert kept == pytest.approx(math.e / (1 + math.e), rel=1e-15)


@pytest.mark.parametrize("make", [BitVectorResponse, UnaryEncoding])
def test_without_noise_the_own_bit_alone_is_set(make):
    assert (make(math.inf, 4).p, make(math.inf, 4).q) == (1, 0)
    assert make(math.inf, 3).randomize([2, 0]).tolist() == [[False, False, True], [True, False, False]]
