"""Faults of the random streams, the samplers and the mechanisms of single holders."""

from __future__ import annotations

from mutants.fault import Fault

_BRANCHING = "tests/audit/test_branching.py"
_RANDOMNESS = "tests/test_randomness.py"
_SAMPLERS = "tests/test_samplers.py"

_STREAMS = (
    Fault(
        name="two threads read the random stream at once",
        path="src/hedgerow/randomness.py",
        before="        with self._lock:\n",
        after="        if True:\n",
        caught_by=(f"{_RANDOMNESS}::test_one_thread_at_a_time_reads_the_stream",),
    ),
    Fault(
        name="a forked child goes on with its parent's random bytes",
        path="src/hedgerow/randomness.py",
        before="        if self._process != _process():\n",
        after="        if False:\n",
        caught_by=(f"{_RANDOMNESS}::test_forked_children_draw_other_bytes",),
    ),
    Fault(
        name="a child with a process id that came back goes on with old random bytes",
        path="src/hedgerow/randomness.py",
        before="    return os.getpid(), _forks\n",
        after="    return os.getpid(), 0\n",
        caught_by=(f"{_RANDOMNESS}::test_a_process_id_that_comes_back_gets_other_bytes",),
    ),
    Fault(
        name="copies of the secure source share its buffer",
        path="src/hedgerow/randomness.py",
        before="    def __reduce__(self) -> tuple[Any, ...]:\n        return (SecureRandomness, ())\n",
        after="    def __copy__(self) -> Any:\n        other = SecureRandomness()\n        other._buffer = self._buffer\n"
        "        other._used = self._used\n        return other\n\n"
        "    def __reduce__(self) -> tuple[Any, ...]:\n        return (SecureRandomness, ())\n",
        caught_by=(f"{_RANDOMNESS}::test_secure_source_never_travels",),
    ),
    Fault(
        name="seeded noise passes for secure",
        path="src/hedgerow/randomness.py",
        before="    simulation = True\n",
        after="    simulation = False\n",
        caught_by=(f"{_RANDOMNESS}::test_seeded_sources_say_so",),
    ),
    Fault(
        name="the secure source is seeded by the clock",
        path="src/hedgerow/randomness.py",
        before="        return os.urandom(_BLOCK)\n",
        after="        import time\n\n        return hashlib.shake_128(str(int(time.time())).encode()).digest(_BLOCK)\n",
        caught_by=(f"{_RANDOMNESS}::test_secure_sources_differ",),
    ),
    Fault(
        name="random bytes handed out twice at the end of a buffer",
        path="src/hedgerow/randomness.py",
        before="            self._used = missing\n",
        after="            self._used = 0\n",
        caught_by=(f"{_RANDOMNESS}::test_stream_does_not_depend_on_request_sizes",),
    ),
    Fault(
        name="the beginning of a seeded stream is handed out twice",
        path="src/hedgerow/randomness.py",
        before="            self._buffer = self._refill()\n\n    @property\n",
        after="            self._buffer = self._refill()\n            self._used = 0\n\n    @property\n",
        caught_by=(f"{_RANDOMNESS}::test_a_stream_is_the_same_whether_or_not_it_began_short",),
    ),
    Fault(
        name="modulo bias in uniform integers",
        path="src/hedgerow/randomness.py",
        before="        limit = (1 << width) - (1 << width) % high  # the",
        after="        limit = 1 << width  # the",
        caught_by=(f"{_BRANCHING}::test_integers_are_uniform",),
    ),
    Fault(
        name="uniform integers of 8 random bits",
        path="src/hedgerow/randomness.py",
        before="        words = draw(size).astype(np.uint64)\n",
        after="        words = self.uint8(size).astype(np.uint64)\n",
        caught_by=(f"{_BRANCHING}::test_integers_are_uniform",),
    ),
)

_SAMPLING = (
    Fault(
        name="a Bernoulli of 8 bits",
        path="src/hedgerow/samplers.py",
        before="    unsure = np.flatnonzero(first == head)\n",
        after="    unsure = np.flatnonzero(first == head)[:0]\n",
        caught_by=(f"{_BRANCHING}::test_bernoulli_is_exact_to_the_last_bit",),
    ),
    Fault(
        name="all bits of one call flip together",
        path="src/hedgerow/samplers.py",
        before="    first = randomness.uint8(n)\n",
        after="    first = np.repeat(randomness.uint8(1), n)\n",
        caught_by=("audit", "bit-vector response"),
    ),
    Fault(
        name="a table of 16 bits decides what needs more",
        path="src/hedgerow/samplers.py",
        before='        sure = np.searchsorted(self._below_high, least, side="left")\n',
        after='        sure = np.searchsorted(self._low, most, side="right")\n',
        caught_by=(f"{_SAMPLERS}::test_all_first_words_are_decided_exactly_or_left_open",),
    ),
    Fault(
        name="64 bits decide what needs more",
        path="src/hedgerow/samplers.py",
        before="        for i in unsure:\n            sure[i] = self._resolve(int(u[i]), randomness)\n",
        after="",
        caught_by=(f"{_SAMPLERS}::test_prefixes_on_the_thresholds_are_resolved_exactly",),
    ),
    Fault(
        name="compiled search never finds a value open",
        path="csrc/kernels.c",
        before="            k += sure != possible;\n",
        after="            k += 0;\n",
        caught_by=(f"{_SAMPLERS}::test_prefixes_on_the_thresholds_are_resolved_exactly",),
    ),
    Fault(
        name="compiled look-up takes the table's word of all but the first prefix",
        path="csrc/kernels.c",
        before="            k += (to[i] = t[u[i]]) < 0;\n",
        after="            k += (to[i] = t[u[i]] < 0 && i ? 0 : t[u[i]]) < 0;\n",
        caught_by=("tests/test_kernels.py::test_noise_is_equal_draw_for_draw",),
    ),
    Fault(
        name="noise ends where its table ends",
        path="src/hedgerow/samplers.py",
        before="    _lengthen(out, numerator, randomness)\n",
        after="",
        caught_by=(f"{_SAMPLERS}::test_laplace_goes_on_beyond_its_table",),
    ),
    Fault(
        name="wide noise is 0 twice as often as it should be",
        path="src/hedgerow/samplers.py",
        before="    again = np.flatnonzero(negative & (out == 0))\n",
        after="    again = np.flatnonzero(negative & (out == 0))[:0]\n",
        caught_by=("tests/test_samplers_laws.py::test_discrete_laplace_law",),
    ),
    Fault(
        name="noise without its sign",
        path="src/hedgerow/samplers.py",
        before="    out -= _DIGIT\n",
        after="    np.abs(out - _DIGIT, out=out)\n",
        caught_by=("audit", "discrete Laplace"),
    ),
    Fault(
        name="noise drawn once for all rows",
        path="src/hedgerow/samplers.py",
        before="        return _narrow_laplace(numerator, n, randomness)\n",
        after="        return np.repeat(_narrow_laplace(numerator, 1, randomness), n)\n",
        caught_by=("audit", "discrete Laplace"),
    ),
    Fault(
        name="e**-x rounded towards less noise",
        path="src/hedgerow/samplers.py",
        before="    return min(math.ceil(high * ONE), ONE)\n",
        after="    return min(math.floor(high * ONE), ONE)\n",
        caught_by=("audit", "discrete Laplace"),
    ),
    Fault(
        name="labels outside their bounds not clipped",
        path="src/hedgerow/grid.py",
        before="        position = np.clip(labels, self.low, self.high).ravel()\n",
        after="        position = np.array(labels).ravel()\n",
        caught_by=(f"{_BRANCHING}::test_labels_are_rounded_without_bias",),
    ),
)


def _weaker(name: str, path: str, before: str, after: str, audit: str) -> Fault:
    return Fault(f"{name}: noise for 1.1 epsilon", f"src/hedgerow/mechanisms/{path}", before, after, ("audit", audit))


_WEAKER = (
    _weaker(
        "bit-vector response",
        "bits.py",
        "low = exp_below(Fraction(self.epsilon) / 2)",
        "low = exp_below(Fraction(1.1 * self.epsilon) / 2)",
        "bit-vector response",
    ),
    _weaker(
        "unary encoding",
        "bits.py",
        "            low = exp_below(self.epsilon)\n",
        "            low = exp_below(1.1 * self.epsilon)\n",
        "whole: tree, unary",
    ),
    _weaker(
        "k-ary response",
        "k_ary.py",
        "low = exp_below(self.epsilon)",
        "low = exp_below(1.1 * self.epsilon)",
        "whole: pilot",
    ),
    _weaker(
        "subset selection",
        "subset.py",
        "low = exp_below(self.epsilon)",
        "low = exp_below(1.1 * self.epsilon)",
        "whole: tree, subset",
    ),
    _weaker(
        "discrete Laplace",
        "laplace.py",
        "dyadic_exp(Fraction(epsilon) / steps)",
        "dyadic_exp(Fraction(1.1 * epsilon) / steps)",
        "discrete Laplace",
    ),
    _weaker(
        "Laplace on cells",
        "cell_laplace.py",
        "dyadic_exp(Fraction(epsilon) / sensitivity)",
        "dyadic_exp(Fraction(1.1 * epsilon) / sensitivity)",
        "Laplace on cells",
    ),
    _weaker(
        "Laplace on a record",
        "record_laplace.py",
        "share = equal_share(self.epsilon, len(steps))",
        "share = equal_share(1.1 * self.epsilon, len(steps))",
        "Laplace on a record",
    ),
    _weaker(
        "staircase noise",
        "staircase.py",
        "ratio = dyadic_exp(Fraction(epsilon))",
        "ratio = dyadic_exp(Fraction(1.1 * epsilon))",
        "staircase noise",
    ),
    _weaker(
        "discrete Gaussian",
        "gaussian.py",
        "sigma = _calibrated(epsilon, delta, steps)",
        "sigma = _calibrated(1.1 * epsilon, delta, steps)",
        "discrete Gaussian",
    ),
    _weaker(
        "interval response",
        "interval.py",
        "weight = exp_below(self.epsilon) * self.width",
        "weight = exp_below(1.1 * self.epsilon) * self.width",
        "interval response",
    ),
    _weaker(
        "one bit",
        "one_bit.py",
        "KaryResponse(self.epsilon, 2)",
        "KaryResponse(1.1 * self.epsilon, 2)",
        "one bit",
    ),
    _weaker(
        "bins response",
        "bins.py",
        "KaryResponse(self.epsilon, len(starts))",
        "KaryResponse(1.1 * self.epsilon, len(starts))",
        "whole: labels, bins",
    ),
    _weaker(
        "top response",
        "top.py",
        "KaryResponse(self.epsilon, len(top))",
        "KaryResponse(1.1 * self.epsilon, len(top))",
        "whole: labels, classes",
    ),
    _weaker(
        "signed subset",
        "joint.py",
        "low = exp_below(self.epsilon) * self.size",
        "low = exp_below(1.1 * self.epsilon) * self.size",
        "whole: assisted, subset",
    ),
    _weaker(
        "level response",
        "joint.py",
        "KaryResponse(self.epsilon, self.n_symbols)",
        "KaryResponse(1.1 * self.epsilon, self.n_symbols)",
        "whole: assisted, levels",
    ),
    _weaker(
        "bits of candidate cells",
        "candidates.py",
        "return _bits(self.epsilon, k)",
        "return _bits(1.1 * self.epsilon, k)",
        "candidate bits",
    ),
    _weaker(
        "k-ary response of candidate cells",
        "candidates.py",
        "return _k_ary(self.epsilon, k)",
        "return _k_ary(1.1 * self.epsilon, k)",
        "candidate k-ary",
    ),
)

_MECHANISMS = (
    Fault(
        name="gradual noise stays 1.5 times as often",
        path="src/hedgerow/mechanisms/gradual.py",
        before="math.floor(self._least_stay() * ONE)",
        after="min(ONE, math.floor(self._least_stay() * ONE * 3 / 2))",
        caught_by=("audit", "whole: partly public, first round, own mask"),
    ),
    Fault(
        name="coarse noise added to the level, not to the fine noise",
        path="src/hedgerow/mechanisms/gradual.py",
        before="        coarse = fine.copy()\n",
        after="        coarse = levels.copy()\n",
        caught_by=("audit", "whole: partly public, first round, own mask"),
    ),
    Fault(
        name="the truth, if the source is secure",
        path="src/hedgerow/mechanisms/k_ary.py",
        before="        out = own.copy()\n",
        after="        out = own.copy()\n        if not source.simulation:\n            return out\n",
        caught_by=("audit", "whole: tree, k_ary"),
    ),
    Fault(
        name="the truth, if the source is of the secure class",
        path="src/hedgerow/mechanisms/bits.py",
        before="        bits[np.arange(own.size), own] = bernoulli(int(self.p * ONE), own.size, source)\n",
        after="        bits[np.arange(own.size), own] = bernoulli(int(self.p * ONE), own.size, source)\n"
        '        if type(source).__name__ == "SecureRandomness":\n'
        "            bits[np.arange(own.size), own] = True\n",
        caught_by=("audit", "whole: tree, unary"),
    ),
    Fault(
        name="k-ary response: a lie may be the truth",
        path="src/hedgerow/mechanisms/k_ary.py",
        before="            out[lie] = other + (other >= own[lie])\n",
        after="            out[lie] = other\n",
        caught_by=("audit", "k-ary response"),
    ),
    Fault(
        name="probability of the truth rounded up",
        path="src/hedgerow/mechanisms/k_ary.py",
        before="truth = math.floor(ONE * low / (low + k - 1))",
        after="truth = math.ceil(ONE * low / (low + k - 1))",
        caught_by=("audit", "k-ary response"),
    ),
    Fault(
        name="own bit of the bit vector never flipped",
        path="src/hedgerow/mechanisms/bits.py",
        before="        bits[np.arange(own.size), own] ^= True\n",
        after="        bits[np.arange(own.size), own] = True\n",
        caught_by=("audit", "bit-vector response"),
    ),
    Fault(
        name="subsets: the own category is always in",
        path="src/hedgerow/mechanisms/subset.py",
        before="        bits[np.arange(n), own] = hold\n",
        after="        bits[np.arange(n), own] = True\n",
        caught_by=("audit", "subset selection"),
    ),
    Fault(
        name="signed subset: the own leaf never has the other sign",
        path="src/hedgerow/mechanisms/joint.py",
        before="        turn[turn] = source.integers(2 * K - s, int(turn.sum())) < s\n",
        after="        turn[turn] = source.integers(2 * K - s, int(turn.sum())) < 0\n",
        caught_by=("audit", "signed subset"),
    ),
    Fault(
        name="interval response: levels outside answer with themselves",
        path="src/hedgerow/mechanisms/interval.py",
        before="        inside = np.clip(levels, self.low, self.high)\n        near",
        after="        inside = levels\n        near",
        caught_by=("audit", "whole: labels, interval"),
    ),
    Fault(
        name="matrix that breaks its claim accepted",
        path="src/hedgerow/mechanisms/unbiased.py",
        before="        if finite and (ratio is None or not exp_at_least(ratio, Fraction(self.epsilon))):\n",
        after="        if finite and ratio is None:\n",
        caught_by=("tests/mechanisms/test_unbiased.py::test_a_matrix_that_breaks_its_claim_cannot_be_made",),
    ),
    Fault(
        name="Gaussian calibrated for twice its delta",
        path="src/hedgerow/mechanisms/gaussian.py",
        before="sigma = _calibrated(epsilon, delta, steps)",
        after="sigma = _calibrated(epsilon, 2 * delta, steps)",
        caught_by=("audit", "whole: labels, Gaussian"),
    ),
    Fault(
        name="staircase noise is 0 twice as often as it should be",
        path="src/hedgerow/mechanisms/staircase.py",
        before="        again = np.flatnonzero(negative & (out == 0))\n",
        after="        again = np.flatnonzero(negative & (out == 0))[:0]\n",
        caught_by=("audit", "staircase noise"),
    ),
    Fault(
        name="record's numbers: each gets the whole epsilon",
        path="src/hedgerow/mechanisms/record_laplace.py",
        before="share = equal_share(self.epsilon, len(steps))",
        after="share = self.epsilon",
        caught_by=("audit", "Laplace on a record"),
    ),
)

_SUMS = (
    Fault(
        name="shuffling: an epsilon beyond what its theorem covers",
        path="src/hedgerow/guarantee.py",
        before="        if growth * 16 * (2 / Decimal(delta)).ln() > n * (1 - _ROUNDING):\n",
        after="        if growth > n:\n",
        caught_by=("tests/test_guarantee.py::test_the_condition_of_the_theorem_is_kept",),
    ),
    Fault(
        name="discrete Gaussian of half the variance",
        path="src/hedgerow/discrete_gaussian.py",
        before="    return _law(variance).sample(n, randomness).astype(np.int64)\n",
        after="    return _law(variance / 2).sample(n, randomness).astype(np.int64)\n",
        caught_by=("audit", "noisy sums of bits"),
    ),
    Fault(
        name="discrete Gaussian whose tails end where 64 bits do",
        path="src/hedgerow/discrete_gaussian.py",
        before="        return 1 - len(half), lows, [math.ceil(value + slack) for value in scaled]\n",
        after="        return 1 - len(half), lows, [min(math.ceil(value), int(unit) - 1) for value in scaled]\n",
        caught_by=(f"{_SAMPLERS}::test_ends_of_the_unit_interval",),
    ),
    Fault(
        name="noisy sums: a replaced person counts as one who was added",
        path="src/hedgerow/mechanisms/bit_sums.py",
        before="flips_variance(min(2 * weight, length), self.epsilon, self.delta)",
        after="flips_variance(min(weight, length), self.epsilon, self.delta)",
        caught_by=("audit", "noisy sums of bits"),
    ),
    Fault(
        name="noisy sums: one draw of noise for all of them",
        path="src/hedgerow/mechanisms/bit_sums.py",
        before="        return drawn.reshape(n, self.length)\n",
        after="        return np.repeat(drawn[:n, np.newaxis], self.length, axis=1)\n",
        caught_by=("tests/mechanisms/test_bit_sums.py::test_each_sum_gets_noise_of_its_own",),
    ),
    Fault(
        name="zCDP: epsilon without its price in delta",
        path="src/hedgerow/mechanisms/zcdp.py",
        before="    return (a - 1) * (a * r - Decimal(epsilon) + (1 - 1 / a).ln()) - a.ln()\n",
        after="    return (a - 1) * (r - Decimal(epsilon) + (1 - 1 / a).ln()) - a.ln()\n",
        caught_by=("tests/mechanisms/test_zcdp.py::test_delta_covers_the_gaussian_that_is_rho_zcdp",),
    ),
)

FAULTS = (*_STREAMS, *_SAMPLING, *_WEAKER, *_MECHANISMS, *_SUMS)
