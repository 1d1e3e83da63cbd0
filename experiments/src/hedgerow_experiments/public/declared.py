"""What public records are worth, one experiment for each trust model."""

from __future__ import annotations

from typing import Any

from hedgerow_experiments.experiment import Experiment, Group
from hedgerow_experiments.public.sets import DESIGN, KEPT_OUT

__all__ = [
    "AGGREGATE",
    "AGGREGATE_RULES",
    "CENTRAL",
    "EXPERIMENTS",
    "LABEL",
    "MANY",
    "NEVER_WORSE",
    "PUBLIC_MODEL",
    "SAMPLES",
    "SEMI",
    "SHARES",
    "SHIPPED",
    "SIZES",
]

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

MANY = "500 public"
_SHIFTED = ("none", "feature end", "label level", "label spread", "large labels", "small labels", "rare category")
# Sets of fewer than 500 records have nobody left to ask.
_LABEL_SETS = tuple(code for code in (*DESIGN, *KEPT_OUT) if code not in ("AQU", "HOU"))

LABEL = Experiment(
    name="public-label",
    title="Private labels on top of a public model: the gap closed, and harm",
    paper="ours",
    datasets=_LABEL_SETS,
    groups=(
        Group("label", ("public", "ceiling", "label", "no public model"), settings=(MANY,),
              datasets=("GAS", "MET", "CAL", *KEPT_OUT)),
        Group("label", ("public", "ceiling", "label", "no public model"), settings=_SHIFTED),
    ),
    epsilons=(0.5, 1.0, 2.0, 4.0),
    repeats=10,
    settings=(MANY, *_SHIFTED),
    split="a fifth for the test, 500 or (shifts) 400 of the others public, the rest private",
    metric="mse",
    compute="hedgerow_experiments.public.labels:compute",
    tidy="hedgerow_experiments.public.labels:tidy",
    choose="none",
    keep="all",
    page="hedgerow_experiments.public.labels_page:pages",
    notes="Public models and ceilings are kept where $HEDGEROW_BENCH_CACHE names a folder. A quick run: --repeats 1 "
    "--datasets RED --epsilons 1.",
)  # fmt: skip

NEVER_WORSE = Experiment(
    name="never-worse",
    title="The assisted forest beside the public model it starts from, run by run",
    paper="ours",
    datasets=("WHI", "ABA", "CPU", "GAS", "PAR", "RED", "TAX", "CCP", "APP", "MET", "CAL"),
    groups=(Group("assisted forest"),),
    epsilons=(0.5, 1.0, 2.0, 4.0, 6.0, 8.0),
    repeats=1,
    settings=_SHIFTED,
    split="400 public records, a fifth for the test, all others are holders",
    metric="mse",
    compute="hedgerow_experiments.public.never_worse:compute",
    tidy="hedgerow_experiments.tidy:by_metric",
    choose="none",
    keep="all",
    page="hedgerow_experiments.public.never_worse_page:pages",
    notes="A repeat is a split; more of them add to what is there. Committed rows of shifts by feature, label or "
    "category set test records aside before public ones were chosen, as cases no longer do: of RED and ABA holders "
    "differ a little from them. A quick run: --datasets WHI --settings none.",
)

CENTRAL = Experiment(
    name="public-central",
    title="Central models on top of a public model: the gap closed, and never worse than either alone",
    paper="ours",
    datasets=tuple(code for code in (*DESIGN, *KEPT_OUT) if code != "HOU"),
    groups=(Group("ANOVA", ("public", "ceiling", "ANOVA", "ANOVA without")),),
    epsilons=(0.5, 1.0, 10.0),
    repeats=5,
    split="a fifth for the test, 400 of the others public, the rest private",
    metric="mse",
    compute="hedgerow_experiments.public.central:compute",
    tidy="hedgerow_experiments.public.labels:tidy",
    choose="none",
    keep="all",
    page="hedgerow_experiments.public.central_page:pages",
    notes="delta is 1e-6. Public models and ceilings are kept where $HEDGEROW_BENCH_CACHE names a folder. A quick run: "
    "--repeats 1 --datasets RED --epsilons 1.",
)

_SEMI_SETS = ("CCP", "CAL", "WHI", "GAS", "MET")

SEMI = Experiment(
    name="public-semi",
    title="The label and one feature private, on top of a public model: one round",
    paper="ours",
    datasets=_SEMI_SETS,
    groups=(
        Group("one round", ("public", "ceiling", "one round")),
        Group("label"),
        Group("assisted"),
        Group("no noise", epsilons=(), most=1),
    ),
    epsilons=(1.0, 4.0),
    repeats=10,
    settings=("none",),
    split="a fifth for the test, 400 of the others public, the rest private; private is the number column that goes "
    "with the label most in public records",
    metric="mse",
    compute="hedgerow_experiments.public.semi:compute",
    tidy="hedgerow_experiments.public.semi:tidy",
    choose="none",
    keep="all",
    page="hedgerow_experiments.public.semi_page:pages",
    notes="Public models and ceilings are kept where $HEDGEROW_BENCH_CACHE names a folder. A quick run: --repeats 1 "
    "--datasets CCP.",
)

_MANY_HOLDERS = "1e5 holders"
_SUMS = ("public", "ceiling", "sums")
_BIG = ("GAS", "CAL", "MET")

AGGREGATE = Experiment(
    name="aggregate",
    title="Sums of two servers on top of a public model: the gap closed, and harm",
    paper="ours",
    datasets=tuple(code for code in (*DESIGN, *KEPT_OUT) if code not in ("AQU", "HOU")),
    groups=(
        Group("sums", _SUMS, settings=_SHIFTED),
        Group("sums", _SUMS, settings=(_MANY_HOLDERS,), datasets=_BIG),
    ),
    epsilons=(1.0, 4.0),
    repeats=5,
    settings=(*_SHIFTED, _MANY_HOLDERS),
    split="a fifth for the test, 400 of the others public, the rest are holders",
    metric="mse",
    compute="hedgerow_experiments.public.aggregate:compute",
    tidy="hedgerow_experiments.public.labels:tidy",
    choose="none",
    keep="all",
    page="hedgerow_experiments.public.aggregate_page:pages",
    notes="delta is 1e-6. Public models and ceilings are kept where $HEDGEROW_BENCH_CACHE names a folder. A quick run: "
    "--repeats 1 --datasets RED --settings none --epsilons 1.",
)

SHIPPED = "shipped"
SIZES: dict[str, dict[str, Any]] = {
    "asked 32 x 8": {"asked": (32,) * 8},
    "asked 8 x 32": {"asked": (8,) * 32},
    "asked 8 x 16": {"asked": (8,) * 16},
    "asked 32 x 16": {"asked": (32,) * 16},
    "forest of 32": {"forest": (32, 32, 8) * 10},
    "forest of large trees": {"forest": (32,) * 96},
    "forest of small trees": {"forest": (8,) * 96},
    "draws 1": {"draws": 1},
    "draws 4": {"draws": 4},
    "draws 16": {"draws": 16},
    "per group 700": {"per_group": 700.0},
    "per group 2800": {"per_group": 2800.0},
    "per group 5600": {"per_group": 5600.0},
    "per group 2800 and enough 1500": {"per_group": 2800.0, "enough": 1500},
    "per group 2800 and enough 1500 and draws 16": {"per_group": 2800.0, "enough": 1500, "draws": 16},
    "check .05": {"check": 0.05},
    "check .2": {"check": 0.2},
    "enough 1500": {"enough": 1500},
    "enough 5000": {"enough": 5000},
}
"""Which sizes of sums differ, by name."""

AGGREGATE_RULES = Experiment(
    name="aggregate-rules",
    title="Sizes of what two servers add up, each set held out in turn",
    paper="ours",
    datasets=tuple(code for code in DESIGN if code not in ("AQU", "HOU")),
    groups=(Group(SHIPPED, ("public", SHIPPED)), *map(Group, SIZES)),
    epsilons=(1.0, 4.0),
    repeats=2,
    split="a fifth for the test, 400 of the others public, the rest are holders",
    metric="mse",
    compute="hedgerow_experiments.public.aggregate_rules:compute",
    tidy="hedgerow_experiments.public.labels:tidy",
    choose="none",
    keep="all",
    seeds="repeat",
    page="hedgerow_experiments.public.aggregate_rules_page:pages",
    notes="delta is 1e-6. Public models are kept where $HEDGEROW_BENCH_CACHE names a folder. A quick run: --repeats 1 "
    "--datasets RED --epsilons 1.",
)

EXPERIMENTS = (PUBLIC_MODEL, LABEL, NEVER_WORSE, CENTRAL, SEMI, AGGREGATE, AGGREGATE_RULES)
