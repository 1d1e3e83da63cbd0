"""Private median splits (DiPriMe): tables 1 and 2, and what a user would pick instead."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["EXPERIMENTS", "PEERS", "TABLE_1", "TABLE_2"]

TABLE_1 = ("PAR", "APP", "MET", "GAS", "FLI")
TABLE_2 = ("BAN", "CRE", "ROB", "HIG", "HAR")
PEERS = ("GAS", "PAR", "ABA", "WHI", "CCP", "CAL", "DIA")
_ALL = ("RF", "ERT", "Median", "DP-DF", "DP-RF", "DP-ERT", "DiPriMe", "DiPriMeExp", "DiPriMeFlip", "paper's scheme")
_SLOW = {"Median": 3, "paper's scheme": 3}  # medians one by one: three repeats at most


def _groups(setting: str, methods: tuple[str, ...], codes: tuple[str, ...], *epsilons: float) -> tuple[Group, ...]:
    return tuple(
        Group(m, settings=(setting,), datasets=codes, epsilons=epsilons, most=_SLOW.get(m),
              needs="interpret.privacy" if m == "DP-EBM" else "")
        for m in methods
    )  # fmt: skip


TABLES = Experiment(
    name="diprime",
    title="Tables 1 and 2 of DiPriMe, and DP-EBM beside it where it is installed",
    paper="DiPriMe",
    datasets=tuple(dict.fromkeys((*TABLE_1, *TABLE_2, *PEERS))),
    groups=(
        *_groups("1", tuple(m for m in _ALL if m != "DP-DF"), TABLE_1, 10.0),
        *_groups("2", _ALL, TABLE_2, 2.0),
        *_groups("peers", ("DP-EBM", "DiPriMeFlip", "paper's scheme"), PEERS, 1.0, 10.0),
    ),
    epsilons=(1.0, 2.0, 10.0),
    repeats=10,
    settings=("1", "2", "peers"),
    split="90 % train, 10 % test; bounds of the whole data set are public; regression targets scaled to [0, 1]",
    metric="mse",
    compute="hedgerow_experiments.diprime.compute:compute",
    tidy="hedgerow_experiments.diprime.compute:tidy",
    choose="none",
    seeds="repeat",
    bundle=("dataset", "repeat"),
    page="hedgerow_experiments.diprime.page:pages",
    notes="Settings: '1' (regression, mse) and '2' (classification, accuracy) are the paper's tables, 'peers' compares "
    "with DP-EBM; a setting that ends in ' fresh' has splits from 100 on, which nothing was chosen on.",
)

EXPERIMENTS = (TABLES,)
