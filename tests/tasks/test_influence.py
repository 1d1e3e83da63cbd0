"""The most one forged report can do, against every message that passes the checks, and in closed form."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from hedgerow import LPDTRegressor
from hedgerow.errors import FormatError
from hedgerow.tasks.tree.bits import BitsEncoding
from hedgerow.tasks.tree.cells import KaryEncoding, SubsetEncoding, UnaryCellEncoding

KINDS = {e.response: e for e in (BitsEncoding, UnaryCellEncoding, KaryEncoding, SubsetEncoding)}


def messages(encoding):
    """All valid messages of a small encoding: bytes are tried, and :meth:`validate` has the say."""
    if encoding.response == "bits":  # of labels the ends, the middle, and one step too far either way
        top = encoding.n_columns - 1
        heads = [int(v).to_bytes(encoding._label_bytes, "little") for v in (0, top // 2, top, top + 1)]
    else:
        heads = [b""]
    tails = range(256) if encoding.response != "k_ary" else range(encoding.n_cells + 2)
    size = encoding.width - len(heads[0])
    for head, tail in itertools.product(heads, tails):
        row = np.frombuffer(head + int(tail).to_bytes(size, "little"), dtype=np.uint8)[None]
        try:
            encoding.validate(row)
        except FormatError:
            continue
        yield row


def moved(encoding, row):
    """By how much one message changes D and N of the first leaf (both are linear in messages)."""
    found = encoding.moments(encoding.sums(row), 1)
    return float(found.denominator[0]), float(found.numerator[0])


@pytest.mark.parametrize("response", KINDS)
@pytest.mark.parametrize(("leaves", "steps"), [(1, 1), (2, 1), (2, 2), (4, 1), (2, 3), (8, 1)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_message_does_more_and_one_does_as_much(response, leaves, steps, epsilon):
    if response in ("unary", "subset") and leaves * (steps + 1) > 8:
        leaves = 3
        steps = 1
    encoding = KINDS[response](epsilon, leaves, steps)
    changes = np.array([moved(encoding, row) for row in messages(encoding)])
    influence = encoding.largest_influence
    assert influence.count == pytest.approx(np.abs(changes[:, 0]).max(), rel=1e-9)
    assert influence.label_sum == pytest.approx(np.abs(changes[:, 1]).max() / steps, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("leaves", [2, 16, 64])
def test_closed_forms_of_the_page(epsilon, leaves):
    e, K = math.exp(epsilon), 2 * leaves
    unary = UnaryCellEncoding(epsilon, leaves, 1).largest_influence
    assert unary.label_sum == pytest.approx(2 * e / (e - 1), rel=1e-9) and unary.count == 2 * unary.label_sum
    named = KaryEncoding(epsilon, leaves, 1).largest_influence
    assert named.label_sum == pytest.approx((e + K - 2) / (e - 1), rel=1e-9)
    for share in (0.3, 0.5):
        bits = BitsEncoding(epsilon, leaves, 64, share)
        one = 1 / (1 - math.exp(-share * epsilon / 2))
        assert bits.largest_influence.count == pytest.approx(one, rel=1e-9)
        # The reach is rounded up to whole levels.
        exact = one * (1 + 40 / ((1 - share) * epsilon))
        assert exact <= bits.largest_influence.label_sum * (1 + 1e-9) <= exact + one / 64 + 1e-6


def test_without_noise_a_report_counts_as_what_it_says():
    assert BitsEncoding(math.inf, 3, 4).largest_influence.label_sum == 1
    assert KaryEncoding(math.inf, 3, 4).largest_influence.count == 1


def test_figures_in_the_documentation():
    page = (Path(__file__).resolve().parents[2] / "docs" / "concepts" / "report.md").read_text()
    found = {}
    for response, kind in KINDS.items():
        small, large = (kind(2.0, leaves, 1).largest_influence for leaves in (8, 64))
        found[response] = small.label_sum
        row = next(
            line for line in page.split("## What one false")[1].splitlines() if line.startswith(f"| `{response}`")
        )
        cells = [cell.strip() for cell in row.split("|")[3:6]]
        assert cells == [f"{v:.3g}" for v in (small.label_sum, large.label_sum, small.count)]
    assert round(found["bits"] / found["unary"]) == 45 and "45 times what `unary` allows at epsilon 2" in page
    text = LPDTRegressor.__doc__
    assert f"{found['unary']:.1f} label ranges" in text and f'by {found["bits"]:.0f} with "bits" (45 times' in text
