"""Faults of selections, medians and residuals, whose audits stand in their own files, and of what mechanisms say."""

from __future__ import annotations

from mutants.fault import Fault

_SELECTION = "src/hedgerow/mechanisms/selection.py"
_MEDIAN = "src/hedgerow/mechanisms/median.py"
_CONFORMANCE = "tests/conformance/test_mechanisms.py"

FAULTS = (
    Fault(
        name="selections: noise for 1.1 epsilon",
        path=_SELECTION,
        before="    ratio = dyadic_exp(Fraction(epsilon) / sensitivity)\n",
        after="    ratio = dyadic_exp(Fraction(1.1 * float(epsilon)) / sensitivity)\n",
        caught_by=("audit", "exponential selection"),
    ),
    Fault(
        name="private median: noise for 1.1 epsilon",
        path=_MEDIAN,
        before="dyadic_ratio(self.epsilon, 1)",
        after="dyadic_ratio(1.1 * float(self.epsilon), 1)",
        caught_by=("audit", "private median"),
    ),
    Fault(
        name="exponential selection draws with coins of twice its epsilon",
        path=_SELECTION,
        before="coins = geometric(self.ratio, tried.size, randomness)",
        after="coins = geometric(self.ratio**2 >> 64, tried.size, randomness)",
        caught_by=("audit", "exponential selection"),
    ),
    Fault(
        name="private median draws with twice its epsilon",
        path=_MEDIAN,
        before="law = _component_cdf(median.ratio, counts",
        after="law = _component_cdf(median.ratio**2 >> 64, counts",
        caught_by=("audit", "private median"),
    ),
    Fault(
        name="words name the odds of the truth the wrong way round",
        path="src/hedgerow/mechanisms/one_bit.py",
        before="it is 1 with probability {percent(self.response.q)} at level 0",
        after="it is 1 with probability {percent(self.response.q / 2)} at level 0",
        caught_by=(f"{_CONFORMANCE}::test_words_name_the_true_probabilities",),
    ),
    Fault(
        name="a mechanism that nobody audits",
        path="src/hedgerow/mechanisms/one_bit.py",
        before='AUDITS = (\n    Audit(\n        "one bit",',
        after='_AUDITS = (\n    Audit(\n        "one bit",',
        caught_by=(f"{_CONFORMANCE}::test_every_mechanism_declares_an_audit_in_its_own_file",),
    ),
)
