"""Whether intervals cover what they claim, whatever the bias of public labels."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["BIASES", "COVERAGE", "EXPERIMENTS", "LEVELS", "SHOWN", "SIZES", "setting"]

LEVELS = (0.8, 0.9, 0.95)
SIZES = (500, 2_000, 20_000)
BIASES = (0.0, 0.05, 0.1, 0.2)
SHOWN = 1_000
"""Records that every fit is asked for intervals of."""


def setting(n: int, bias: float) -> str:
    """Return how a cell is called.

    >>> setting(500, 0.05)
    'n=500 bias=0.05'
    """
    return f"n={n} bias={bias:g}"


_ALL = tuple(setting(n, bias) for n in SIZES for bias in BIASES)
_FAIR = tuple(setting(n, 0.0) for n in SIZES)

COVERAGE = Experiment(
    name="coverage",
    title="How often intervals cover what they claim, and how wide they are",
    paper="ours",
    datasets=("made",),
    groups=(
        Group("tree"),
        Group("assisted"),
        Group("semi", settings=_FAIR),
        Group("semi with a public model"),
        Group("label", settings=_FAIR, most=1),
        Group("forest", settings=_FAIR),
        Group("ANOVA", settings=_FAIR, most=1),
    ),
    epsilons=(0.5, 2.0, 8.0),
    repeats=4,
    settings=_ALL,
    split="500 public records, n private ones, and 65,536 points for the truth, of four features and a bounded label",
    metric="cover",
    compute="hedgerow_experiments.coverage.compute:compute",
    tidy="hedgerow_experiments.tidy:by_metric",
    choose="none",
    keep="all",
    bundle=("dataset", "repeat", "setting", "group"),
    page="hedgerow_experiments.coverage.page:pages",
    notes="Public labels are off by a share of the label's range, all in one direction. A quick run: --repeats 1 "
    "--methods tree --epsilons 2.",
)

EXPERIMENTS = (COVERAGE,)
