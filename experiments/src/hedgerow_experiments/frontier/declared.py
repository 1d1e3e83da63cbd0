"""What private reports, or private labels, add to public models."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = [
    "ADVISE", "ADVISE_DATASETS", "ADVISE_EPSILONS", "COSTS", "DESIGN", "DRAWS", "EPSILONS", "EXPERIMENTS", "FRONTIER",
    "HOLDERS", "LABEL_EPSILONS", "ROUNDS", "ROUNDS_EPSILONS", "SIMULATED", "STEPS",
]  # fmt: skip

EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
LABEL_EPSILONS = (0.5, 1.0, 2.0, 4.0)
DRAWS = 2
"""How often the noise is drawn for one split."""
DESIGN = ("ABA", "AIR", "CCP", "CON", "RED", "WHI")
"""Sets on which constants were set; the others were kept out of all decisions."""
_SPLITS = ("ABA", "AIR", "AQU", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI", "CAL")
_SHIFTS = ("RED->WHI", "WHI->RED", "prepaid->credit", "TAX13->TAX")
_LABELLED = ("CAL", "GAS", "MET")
_ASSISTED = ("public model", "AssistedForest", *(f"AssistedForest, draw {i}" for i in range(DRAWS)))

FRONTIER = Experiment(
    name="frontier",
    title="What one private report a record, or its private label, adds to the best public model",
    paper="ours",
    datasets=tuple(dict.fromkeys((*_SPLITS, *_SHIFTS, *_LABELLED))),
    groups=(
        Group("assisted", _ASSISTED, settings=("",), datasets=_SPLITS, epsilons=()),
        Group("assisted", _ASSISTED, settings=("shift",), datasets=_SHIFTS, epsilons=(), most=5),
        Group("labels", ("public model", "private labels", "no privacy"), settings=("labels",), datasets=_LABELLED,
              epsilons=(), most=3),
    ),
    epsilons=(),
    repeats=10,
    settings=("", "shift", "labels"),
    split="1:7:2 into public, private and test records, two draws of the noise a split; under 'shift' public records "
    "come from elsewhere; for 'labels' 500 public records and all features public",
    metric="mse",
    compute="hedgerow_experiments.frontier.compute:compute",
    tidy="hedgerow_experiments.frontier.compute:tidy",
    choose="none",
    seeds="repeat",
    page="hedgerow_experiments.frontier.page:pages",
    notes="With HEDGEROW_BENCH_CACHE set to a folder of yours, public models are fitted once.",
)  # fmt: skip

ADVISE_DATASETS = ("ABA", "AIR", "CON", "RED", "AQU", "CCP", "CPU", "FIS", "HOU", "WHI")
ADVISE_EPSILONS = (0.5, 2.0, 8.0)
SIMULATED = ("public only", "local", "semi-feature", "label")

ADVISE = Experiment(
    name="advise",
    title="The guide's forecasts from public records (hedgerow advise) beside simulated errors",
    paper="ours",
    datasets=ADVISE_DATASETS,
    groups=(
        Group("facts", ("forecast", "own", "fresh"), epsilons=()),
        *(Group(name, ("simulated",), epsilons=()) for name in SIMULATED),
    ),
    epsilons=(),
    repeats=8,
    split=FRONTIER.split.split(";")[0].split(",")[0],
    compute="hedgerow_experiments.frontier.advise:compute",
    tidy="hedgerow_experiments.frontier.advise:tidy",
    choose="none",
    seeds="repeat",
    bundle=("dataset", "repeat"),
    page="hedgerow_experiments.frontier.advise_page:pages",
    notes="Kept are what is measured on public records, and simulated errors; forecasts are made again from the former "
    "whenever rows are written.",
)  # fmt: skip

COSTS = Experiment(
    name="costs",
    title="What privacy costs: central privacy and none, beside the trust models of 'advise'",
    paper="ours",
    datasets=("ABA", "AIR", "CON", "RED", "AQU", "FIS", "HOU"),
    groups=(Group("central", epsilons=()), Group("not private", epsilons=())),
    epsilons=(),
    repeats=5,
    split=ADVISE.split,
    compute="hedgerow_experiments.frontier.costs:compute",
    tidy="hedgerow_experiments.frontier.costs:tidy",
    choose="none",
    seeds="repeat",
    page="hedgerow_experiments.frontier.costs:pages",
)

ROUNDS_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
STEPS = (1, 4, 16)
"""Numbers of rounds."""
HOLDERS = 100_000
_STARTS = ("public model", "process")

ROUNDS = Experiment(
    name="rounds",
    title="Many rounds of fresh holders beside one message each",
    paper="ours",
    datasets=("Friedman", "MET", "GAS", "CAL"),
    groups=(
        Group("rounds", (*_STARTS, "not private", "assisted", *(f"{n} from {s}" for s in _STARTS for n in STEPS)),
              epsilons=()),
    ),
    epsilons=(),
    repeats=1,
    split=f"500 public records, {HOLDERS:,} holders, drawn with replacement where there are fewer",
    compute="hedgerow_experiments.frontier.rounds:compute",
    tidy="hedgerow_experiments.frontier.rounds:tidy",
    choose="none",
    seeds="repeat",
    page="hedgerow_experiments.frontier.rounds_page:pages",
)  # fmt: skip

EXPERIMENTS = (FRONTIER, ADVISE, COSTS, ROUNDS)
