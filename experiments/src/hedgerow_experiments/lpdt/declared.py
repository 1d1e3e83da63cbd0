"""Decision Tree for Locally Private Estimation with Public Data: tables 2 and 5, figures 1, 2, 3 and 5."""

from __future__ import annotations

import dataclasses

from hedgerow_experiments.experiment import Experiment, Grid, Group

__all__ = ["BANDWIDTHS", "BINS", "DATASETS", "DEPTHS", "EPSILONS", "EXPERIMENTS", "LEAF_SIZES", "RESPONSES", "SHARES",
           "THRESHOLDS"]  # fmt: skip

DATASETS = ("ABA", "AIR", "ALG", "AQU", "BUI", "CBM", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI")
EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
LEAF_SIZES = (2, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160)
DEPTHS = (1, 2, 3, 4)
SHARES = (0.3, 0.5, 0.7)
BINS = (1, 2, 3, 4)
THRESHOLDS = (0.01, 0.05)
BANDWIDTHS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
RESPONSES = ("unary", "k_ary", "subset")
_TREES = tuple(f"LPDT-{rule}{end}" for rule in "MV" for end in ("", "+public", "+blend"))

TABLE_2 = Experiment(
    name="lpdt-table2",
    title="Tables 2 and 5 of LPDT: test error of five private methods on 14 data sets",
    paper="LPDT",
    datasets=DATASETS,
    groups=(
        Group("lpdt", _TREES),
        Group("hist", ("PHIST", "APHIST")),
        Group("deconv", ("DECONV",)),
        Group("dt", ("DT", "DT-pub"), epsilons=()),
    ),
    epsilons=EPSILONS,
    repeats=50,
    split="1:7:2 into public, private and test records; ranges and label bounds from the public ones",
    metric="mse",
    grids=(
        Grid(_TREES, (("leaf", LEAF_SIZES), ("depth", DEPTHS), ("share", SHARES))),
        Grid(("PHIST", "APHIST"), (("bins", BINS), ("threshold", THRESHOLDS))),
        Grid(("DECONV",), (("bandwidth", BANDWIDTHS),)),
        Grid(("DT", "DT-pub"), (("depth", DEPTHS),)),
    ),
    compute="hedgerow_experiments.lpdt.methods:compute",
    bundle=("dataset", "repeat"),
    page="hedgerow_experiments.lpdt.page:pages",
)

REPORTS = dataclasses.replace(
    TABLE_2,
    name="lpdt-ours",
    title="Our reports and defaults on the splits of LPDT's tables: one categorical report, LPDTRegressor on auto",
    paper="ours",
    groups=(Group("cell", ("CELL-M", "CELL-V")), Group("ours")),
    repeats=20,
    grids=(Grid(("CELL-M", "CELL-V"), (("leaf", LEAF_SIZES), ("depth", DEPTHS), ("response", RESPONSES))),
           Grid(("ours",), (("choice", ("auto",)),))),
)  # fmt: skip

FIGURES = Experiment(
    name="lpdt-figures",
    title="Figures 2(a-c), 3 and 5 of LPDT: error against depth, leaf size, epsilon, private records and shift",
    paper="LPDT",
    datasets=("synthetic", "RED", "wine", "taxi"),
    groups=(
        Group("2a", ("LPDT-M",), settings=("2a",), datasets=("synthetic",), epsilons=()),
        Group("2b", ("LPDT-M",), settings=("2b",), datasets=("synthetic",), epsilons=()),
        Group("2c", ("LPDT-M", "LPDT-V", "PHIST", "APHIST", "DECONV"), settings=("2c",), datasets=("synthetic",),
              epsilons=()),
        Group("3", ("LPDT-M", "LPDT-V", "PHIST"), settings=("3",), datasets=("RED",), epsilons=()),
        Group("5", ("LPDT-M",), settings=("5",), datasets=("wine", "taxi"), epsilons=()),
    ),
    epsilons=(),
    repeats=20,
    settings=("2a", "2b", "2c", "3", "5"),
    split="2(a-c): 2,000 public, 6,000 private, 2,000 test records; 3: 100 public, up to 1,100 private; 5: 1,000 "
    "records for the partition, a share of them from another distribution",
    compute="hedgerow_experiments.lpdt.studies:compute",
    tidy="hedgerow_experiments.lpdt.studies:tidy",
    seeds="repeat",
    page="hedgerow_experiments.lpdt.figures:pages",
)  # fmt: skip

TABLE_3 = dataclasses.replace(
    TABLE_2,
    name="lpdt-table3",
    title="Table 3 of LPDT: taxi fares, trips paid by prepaid card public, by credit card private",
    datasets=("TAX",),
    groups=(Group("lpdt", _TREES), Group("hist", ("PHIST", "APHIST")), Group("dt", ("DT", "DT-pub"), epsilons=())),
    repeats=20,
    split="3,504 public trips; 14,142 others 8:2 into private and test",
    compute="hedgerow_experiments.lpdt.trips_and_seconds:taxi",
    page="",
    notes="TAX is a sample of 2022 that stands in for the paper's two million trips: figures are not comparable.",
)

TABLE_6 = Experiment(
    name="lpdt-table6",
    title="Table 6 of LPDT: seconds of one fit and its predictions",
    paper="LPDT",
    datasets=DATASETS,
    groups=(
        Group("DT", epsilons=()),
        *(Group(m) for m in ("LPDT-M", "LPDT-V", "PHIST", "APHIST", "DECONV")),
    ),
    epsilons=(2.0,),
    repeats=3,
    split=TABLE_2.split,
    metric="seconds",
    compute="hedgerow_experiments.lpdt.trips_and_seconds:seconds",
    choose="none",
    bundle=("dataset", "repeat"),
    keep="all",
    page="hedgerow_experiments.seconds_page:pages",
    notes="Processor time; depth 4, smallest leaf 20, two bins a feature, bandwidth 0.2. Holders are simulated.",
)

EXPERIMENTS = (TABLE_2, REPORTS, TABLE_3, TABLE_6, FIGURES)
