"""Private median splits (DiPriMe): tables 1 and 2, figures 1 to 8, and what a user would pick instead."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["EXPERIMENTS", "FIGURES", "PANELS", "PEERS", "TABLE_1", "TABLE_2"]

TABLE_1 = ("PAR", "APP", "MET", "GAS", "FLI")
TABLE_2 = ("BAN", "CRE", "ROB", "HIG", "HAR")
PEERS = ("GAS", "PAR", "ABA", "WHI", "CCP", "CAL", "DIA")
_ALL = ("RF", "ERT", "Median", "DP-DF", "DP-RF", "DP-ERT", "DiPriMe", "DiPriMeExp", "DiPriMeFlip", "paper's scheme")
_SLOW = {"paper's scheme": 3}  # medians one by one: three repeats at most


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
    keep="all",
    page="hedgerow_experiments.diprime.page:pages",
    notes="Settings: '1' (regression, mse) and '2' (classification, accuracy) are the paper's tables, 'peers' compares "
    "with DP-EBM; a setting that ends in ' fresh' has splits from 100 on, which nothing was chosen on.",
)

_CURVES = ("RF", "ERT", "DP-ERT", "DiPriMe", "DiPriMeExp", "DiPriMeFlip")
_WHOLE = ("RF", "ERT", "DP-ERT", "DiPriMe, all records", "DiPriMeExp, all records", "DiPriMeFlip, all records")
_BALANCE = ("DP-DF", "DP-RF", "DP-ERT", "DiPriMe", "DiPriMeExp", "DiPriMeFlip")
_SHARES = ("rho=0.1", "rho=0.5", "rho=0.9")
_COLUMNS = ("K=1", "K=5", "K=10")
PANELS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{f"1({p})": ("APP", _CURVES) for p in "abc"},
    "2": ("BAN", ("DP-DF", "DP-RF", *_CURVES)),
    "3": ("ROB", _BALANCE),
    "4": ("BAN", ("DP-ERT", "DiPriMe", "DiPriMeExp", "DiPriMeFlip")),
    **{f"5({p})": ("APP", _WHOLE) for p in "abc"},
    "6": ("BAN", ("DP-DF", *_WHOLE)),
    **{f"{k}({p})": ("APP", _SHARES if p in "ac" else _COLUMNS) for k in (7, 8) for p in "abcd"},
}
"""Panels of the figures: the data set and the curves."""

FIGURES = Experiment(
    name="diprime-figures",
    title="Figures 1 to 8 of DiPriMe: error against depth, trees, epsilon and rho; how full leaves are",
    paper="DiPriMe",
    datasets=("APP", "BAN", "ROB"),
    groups=tuple(
        Group(name, settings=(panel,), datasets=(code,), epsilons=())
        for panel, (code, names) in PANELS.items()
        for name in names
    ),
    epsilons=(),
    repeats=10,
    settings=tuple(PANELS),
    split=TABLES.split,
    metric="mse",
    compute="hedgerow_experiments.diprime.figures:compute",
    tidy="hedgerow_experiments.diprime.figures:tidy",
    choose="none",
    seeds="repeat",
    bundle=("dataset", "repeat", "setting"),
    keep="all",
    page="hedgerow_experiments.diprime.figures_page:pages",
    notes="A cell is a whole curve. 1 and 5: epsilon 10, ten trees, depth 6 but for the axis; 2 and 6: accuracy, depth "
    "5; 3 and 4: epsilon 2; 7 (DiPriMeExp) and 8 (DiPriMeFlip): depth 8, (a, c) K = 10 and ten trees, (b, d) epsilon "
    "10 and rho 0.5; (c, d), 5 and 6: every tree has all records. DP-DF and DP-RF, which "
    "split into five, have their own depth. Guarantees are strict.",
)

EXPERIMENTS = (TABLES, FIGURES)
