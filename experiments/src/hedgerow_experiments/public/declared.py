"""What public records are worth, one experiment for each trust model."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group
from hedgerow_experiments.public.sets import KEPT_OUT

__all__ = ["EXPERIMENTS", "PUBLIC_MODEL", "SAMPLES", "SHARES"]

SHARES = "1:7:2"
SAMPLES = "400 rows"
_SPLITS = ("ABA", "AIR", "AQU", "CAL", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI")
_SAMPLED = ("CAL", "GAS", "MET", *KEPT_OUT)
_MODELS = ("before", "now", "compact")

PUBLIC_MODEL = Experiment(
    name="public-model",
    title="The public model with a Gaussian process beside the one without",
    paper="ours",
    datasets=tuple(dict.fromkeys((*_SPLITS, *_SAMPLED))),
    groups=(
        Group("models", _MODELS, settings=(SHARES,), datasets=_SPLITS, epsilons=()),
        Group("models", _MODELS, settings=(SAMPLES,), datasets=_SAMPLED, epsilons=()),
        Group("other seed", settings=(SHARES,), datasets=_SPLITS, epsilons=()),
        Group("other seed", settings=(SAMPLES,), datasets=_SAMPLED, epsilons=()),
    ),
    epsilons=(),
    repeats=10,
    settings=(SHARES, SAMPLES),
    split="1:7:2 into public, private and test records, as in frontier.md; or 400 public records, a fifth for the test",
    metric="mse",
    compute="hedgerow_experiments.public.models:compute",
    tidy="hedgerow_experiments.public.models:tidy",
    choose="none",
    keep="all",
    page="hedgerow_experiments.public.models_page:pages",
    notes="A quick run: --repeats 1 --datasets AIR CON. Seconds are of one core.",
)

EXPERIMENTS = (PUBLIC_MODEL,)
