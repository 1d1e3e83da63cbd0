"""Every table and figure of the four papers, as data: which rows make it, and how often the paper ran it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ITEMS", "Item"]

_LPDT = ("ABA", "AIR", "ALG", "AQU", "BUI", "CBM", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI")
_HIST = ("ABA", "AQU", "BUI", "DAK", "FIS", "MUS", "POR", "PYR", "RED", "WHI")
_LABEL = ("Laplace", "Gaussian", "Staircase", "RRonBins", "RPWithPrior", "Unbiased")
_FORESTS = ("RF", "ERT", "Median", "DP-RF", "DP-ERT", "DiPriMe", "DiPriMeExp", "DiPriMeFlip")
_TAXI = "two million taxi trips: not on our machine, which has no network; a sample of 2022 stands in"
_CRITEO = (
    "Criteo's log: not on our machine, which has no network; flight delays (nyc) stand in. Whoever has the file: "
    "`hedgerow bench run label-criteo`"
)
_SIZES = (
    "errors without noise differ because ours scales features and labels and the paper's code does not; with raw ones "
    "they agree (`hedgerow bench run label-noise-free`)"
)


class Item(NamedTuple):
    """A table or figure of a paper.

    Attributes
    ----------
    paper, where : str
        Whose it is, and its name there.
    experiment : str
        What makes it; empty where nothing is measured, and ``note`` says so.
    repeats : int or None
        The paper's; None where it does not say.
    datasets, methods : tuple of str
        What the paper has there: a pair without results is named.
    setting : str or None
        Of the rows; None for any.
    epsilons : tuple of float
        Of the rows; none for any.
    missing : str
        Data of the paper that cannot be had, why, and what stands in for them.
    note : str
        What a reader must know.
    drawn : bool
        It is a picture that is drawn without an experiment.
    """

    paper: str
    where: str
    experiment: str = ""
    repeats: int | None = None
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    setting: str | None = None
    epsilons: tuple[float, ...] = ()
    missing: str = ""
    note: str = ""
    drawn: bool = False


def _lpdt() -> tuple[Item, ...]:
    private = ("LPDT-M", "LPDT-V", "PHIST", "APHIST", "DECONV")
    theory = "complexities in letters: nothing to measure"
    return (
        Item("LPDT", "table 1", note=theory),
        Item("LPDT", "table 2", "lpdt-table2", 50, _LPDT, (*private, "DT"), epsilons=(2.0, 6.0)),
        Item("LPDT", "table 3", "lpdt-table3", None, ("TAX",), ("LPDT-M", "LPDT-V", "PHIST", "APHIST"), missing=_TAXI),
        Item("LPDT", "table 4", note="describes the data sets: `hedgerow bench data`, and the table of data sets"),
        Item("LPDT", "table 5", "lpdt-table2", 50, _LPDT, (*private, "DT"), epsilons=(0.5, 1.0, 4.0, 8.0)),
        Item("LPDT", "table 6", "lpdt-table6", 50, _LPDT, (*private, "DT")),
        Item("LPDT", "table 7", "lpdt-table2", 50, _LPDT, ("DT", "DT-pub")),
        Item(
            "LPDT",
            "figure 1",
            note="one run, as in the paper; ten are behind its claim",
            drawn=True,
        ),
        Item("LPDT", "figure 2(a)", "lpdt-figures", 20, setting="2a"),
        Item("LPDT", "figure 2(b)", "lpdt-figures", 20, setting="2b"),
        Item("LPDT", "figure 2(c)", "lpdt-figures", 50, ("synthetic",), private, setting="2c"),
        Item("LPDT", "figure 3", "lpdt-figures", 20, ("RED",), ("LPDT-M", "LPDT-V", "PHIST"), setting="3"),
        Item("LPDT", "figure 4", missing=_TAXI, note="`hedgerow bench figures lpdt-figure4`", drawn=True),
        Item("LPDT", "figure 5", "lpdt-figures", 20, ("wine", "taxi"), ("LPDT-M",), setting="5", missing=_TAXI),
        Item("LPDT", "figure 6", missing=_TAXI, note="`hedgerow bench figures lpdt-figure6`", drawn=True),
    )


def _histoftree() -> tuple[Item, ...]:
    methods = ("HistOfTree-ME", "HistOfTree-CART", "AdHistOfTree-ME", "AdHistOfTree-CART", "ParDT", "KRR", "Hist")
    tables = (("table 1", 2.0), ("table 2", 1.0), ("table 3", 4.0))
    return (
        Item("HistOfTree", "figure 1", note="a drawing of masks: nothing to measure"),
        *(Item("HistOfTree", f"figure 2({p})", "histoftree-figure2", 50, setting=p) for p in "abcd"),
        *(Item("HistOfTree", where, "histoftree", 50, _HIST, methods, epsilons=(e,)) for where, e in tables),
    )


def _rpwithprior() -> tuple[Item, ...]:
    timed = _LABEL[:-1]
    return (
        Item("RPWithPrior", "table 1", "label", 10, ("crime",), _LABEL, "network"),
        Item("RPWithPrior", "table 2", "label", 10, ("nyc",), _LABEL, "boosting", missing=_CRITEO),
        Item("RPWithPrior", "table 3", "label", 10, ("housing",), _LABEL, "network", note=_SIZES),
        Item("RPWithPrior", "table 4", note="names of attributes: nothing to measure"),
        Item("RPWithPrior", "table 5", note="settings that its authors chose: ours are chosen from n and epsilon"),
        Item("RPWithPrior", "table 6", "label-seconds", None, ("crime", "nyc", "housing"), timed, "6", missing=_CRITEO),
        Item("RPWithPrior", "table 7", "label", 10, ("simulated-linear",), _LABEL, "network", note=_SIZES),
        Item("RPWithPrior", "table 8", "label", 10, ("simulated-nonlinear",), _LABEL, "network", note=_SIZES),
        Item("RPWithPrior", "table 9", "label-seconds", 10, ("housing",), _LABEL, "9"),
        Item("RPWithPrior", "table 10", note="complexities in letters: nothing to measure"),
    )


def _diprime() -> tuple[Item, ...]:
    first = ("PAR", "APP", "MET", "GAS", "FLI")
    second = ("BAN", "CRE", "ROB", "HIG", "HAR")
    sample = "is a smaller sample than the paper's"
    panels = ("1(a)", "1(b)", "1(c)", "2", "3", "4", "5(a)", "5(b)", "5(c)", "6")
    more = tuple(f"{k}({p})" for k in (7, 8) for p in "abcd")
    where = tuple((f"figure {panel}", panel) for panel in (*panels, *more))
    return (
        Item("DiPriMe", "table 1", "diprime", None, first, _FORESTS, "1", note=f"FLI {sample}"),
        Item("DiPriMe", "table 2", "diprime", None, second, (*_FORESTS, "DP-DF"), "2", note=f"HIG {sample}"),
        *(Item("DiPriMe", name, "diprime-figures", setting=panel) for name, panel in where),
    )


ITEMS: tuple[Item, ...] = (*_lpdt(), *_histoftree(), *_rpwithprior(), *_diprime())
"""In the order of the papers."""
