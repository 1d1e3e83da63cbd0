"""Every sentence of the papers' abstracts and conclusions: which claims test it, or why nothing can."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SENTENCES", "Sentence"]


class Sentence(NamedTuple):
    """What a sentence says, in short; the texts of the claims that test it, or a reason why none does."""

    paper: str
    where: str
    says: str
    claims: tuple[str, ...] = ()
    why: str = ""


_ABOUT = "says what the paper is about"
_METHOD = "describes the method"
_RATE = "a theorem about rates: no number of runs shows or refutes it"


def _lpdt() -> tuple[Sentence, ...]:
    large = "LPDT significantly outperforms PHIST, APHIST and DECONV (epsilon 4, 6, 8)"
    small = "The same at epsilon 0.5, 1, 2, with the paper's estimator alone"
    every = "LPDT beats PHIST and APHIST at every epsilon"
    public = "500 public records lower the error, even with 1,000 private ones fewer"
    fewer = "With 100 public records LPDT needs far fewer private ones than PHIST"
    alone = "At epsilon 6 a tree on public data alone is worse than LPDT on most sets"
    quick = "LPDT takes less time than PHIST and APHIST (which draw their cells lazily here)"
    deconv = "LPDT is much faster than DECONV"
    taxi = "Taxi, on our sample: LPDT-M at epsilon 2 beats PHIST and APHIST at epsilon 8"
    trips = "Taxi, on our sample: LPDT-M at epsilon 4, 6, 8 beats the tree on public trips"
    made = "LPDT's error falls much faster with epsilon than that of PHIST and APHIST"
    high = "The error of PHIST and APHIST remains high even at a large epsilon"
    return (
        Sentence("LPDT", "abstract", "A little public data enhances private estimation", (public, fewer, alone)),
        Sentence("LPDT", "abstract", "LPDT is an efficient algorithm", (quick, deconv)),
        Sentence("LPDT", "abstract", "A tree is grown on public data, then fitted privately", why=_METHOD),
        Sentence("LPDT", "abstract", "LPDT is epsilon-LDP", ("LPDT is epsilon-locally private",)),
        Sentence("LPDT", "abstract", "Its rate is optimal, and strictly slower without public data", (public,), _RATE),
        Sentence("LPDT", "abstract", "It is superior on synthetic and real data", (large, small, every, made, high)),
        Sentence("LPDT", "abstract", "It remains effective despite disparities", (taxi, trips)),
        Sentence("LPDT", "conclusion", "The paper addresses regression with public and private data", why=_ABOUT),
        Sentence("LPDT", "conclusion", "LPDT is accurate, efficient and interpretable", (large, small, quick, deconv),
                 "interpretable is not measured"),
        Sentence("LPDT", "conclusion", "Privacy and the optimal rate are established",
                 ("LPDT is epsilon-locally private",), _RATE),
        Sentence("LPDT", "conclusion", "It is superior whatever the disparities",
                 (taxi, trips, "The same on wine (red for white)")),
    )  # fmt: skip


def _histoftree() -> tuple[Sentence, ...]:
    naive = tuple(
        f"HistOfTree beats {rival}"
        for rival in (
            "Hist, which protects every feature",
            "ParDT, which leaves private features out",
            "KRR, which perturbs each private feature",
        )
    )
    public = "Error falls steadily with every feature that is public"
    aligned = "Aligned masks: HistOfTree has the lowest rank sums at every epsilon"
    personal = "Personalised masks: HistOfTree and AdHistOfTree have the lowest rank sums"
    private = "What a person sends, over both rounds, is epsilon-private"
    falls = "Error falls as epsilon grows, whatever the number of private features"
    return (
        Sentence("HistOfTree", "abstract", "The study of local privacy with public features is begun", why=_ABOUT),
        Sentence("HistOfTree", "abstract", "Semi-feature LDP protects the other features and the label", (private,)),
        Sentence("HistOfTree", "abstract", "The optimal rate is far better than under LDP", (public,), _RATE),
        Sentence("HistOfTree", "abstract", "HistOfTree fully leverages public and private features", naive),
        Sentence("HistOfTree", "abstract", "It reaches the optimal rate", why=_RATE),
        Sentence("HistOfTree", "abstract", "It is superior on synthetic and real data",
                 (aligned, "The proposed methods achieve most of the best results", falls)),
        Sentence("HistOfTree", "abstract", "People may choose what to protect", why=_ABOUT),
        Sentence("HistOfTree", "abstract", "Parameters tuned from the masks give analogous results",
                 (personal, "Parameters chosen from the masks alone (AdHistOfTree) are as good as the best",
                  "The chosen number of histogram features is about as good as the best fixed one")),
        Sentence("HistOfTree", "conclusion", "There is none; the limitations speak of open theory", why=_ABOUT),
    )  # fmt: skip


def _rpwithprior() -> tuple[Sentence, ...]:
    private = "RPWithPrior is epsilon-label private, given the prior"
    better = "RPWithPrior performs better than the five others on crime, housing and simulated data"
    criteo = "Criteo: RPWithPrior and Unbiased outperform the others (flight delays stand in, with boosting)"
    crime = "Crime: RPWithPrior is at least level with the best at every budget"
    housing = "Housing: RPWithPrior is at least level with the best at every budget"
    return (
        Sentence("RPWithPrior", "abstract", "Privacy matters, and should cost little accuracy", why=_ABOUT),
        Sentence("RPWithPrior", "abstract", "Earlier methods round labels to integers and respond in bins", why=_ABOUT),
        Sentence("RPWithPrior", "abstract", "That does not suit the real world", why="an opinion; RRonBins is among "
                 "the rivals, and needs no integers here"),
        Sentence("RPWithPrior", "abstract", "Labels and responses are continuous, without discretisation",
                 why="describes the method; every computer rounds, and ours states its grid"),
        Sentence("RPWithPrior", "abstract", "An optimal interval is estimated, with or without a prior", why=_METHOD),
        Sentence("RPWithPrior", "abstract", "RPWithPrior is epsilon-label private", (private,)),
        Sentence("RPWithPrior", "abstract", "It performs better than five others on three data sets and simulations",
                 (better, criteo, "Its error has a smaller deviation than theirs across budgets (crime, housing)")),
        Sentence("RPWithPrior", "conclusion", "RPWithPrior is introduced for a known prior", why=_METHOD),
        Sentence("RPWithPrior", "conclusion", "A histogram estimates an unknown prior", why=_METHOD),
        Sentence("RPWithPrior", "conclusion", "Both algorithms are epsilon-label private", (private,)),
        Sentence("RPWithPrior", "conclusion", "Experiments evaluate its effectiveness", (crime, housing, better)),
    )  # fmt: skip


def _diprime() -> tuple[Sentence, ...]:
    scheme = "K candidate medians cost no more than one, so that the scheme is epsilon-private"
    regression = "DiPriMeExp and DiPriMeFlip clearly outperform DP-ERT and DP-RF (regression)"
    classes = "DiPriMe and its variants far exceed DP-ERT, DP-RF and DP-DF (classification)"
    leaves = "DiPriMe has fewer leaves that are nearly empty than DP-ERT, DP-RF and DP-DF"
    splits = "Private medians split more evenly than random splits (DP-ERT)"
    deep = "Deeper trees lower the error of random forests and raise that of DiPriMe"
    return (
        Sentence("DiPriMe", "abstract", "Random forests are popular and versatile", why=_ABOUT),
        Sentence("DiPriMe", "abstract", "They need many queries on small subsets", why=_ABOUT),
        Sentence("DiPriMe", "abstract", "Noise on small subsets costs much utility", (deep,)),
        Sentence("DiPriMe", "abstract", "DiPriMe does regression and classification, with numbers and categories",
                 (regression, classes)),
        Sentence("DiPriMe", "abstract", "A private median encourages balanced leaves", (leaves, splits)),
        Sentence("DiPriMe", "abstract", "Without nearly empty leaves noise stays small beside the signal", (leaves,)),
        Sentence("DiPriMe", "abstract", "It has high utility while it is differentially private",
                 (regression, classes, scheme)),
        Sentence("DiPriMe", "conclusion", "DiPriMe is a new tree method", why=_ABOUT),
        Sentence("DiPriMe", "conclusion", "It aims at balanced leaves: noise drowns small ones", (leaves, splits)),
        Sentence("DiPriMe", "conclusion", "Utility is impressive at the same level of privacy",
                 (regression, classes, scheme)),
    )  # fmt: skip


SENTENCES: tuple[Sentence, ...] = (*_lpdt(), *_histoftree(), *_rpwithprior(), *_diprime())
"""In the order of the papers."""
