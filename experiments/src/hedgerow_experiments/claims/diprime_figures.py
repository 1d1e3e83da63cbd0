"""What the DiPriMe paper says of its figures."""

from __future__ import annotations

from hedgerow.compare.scores import Summary
from hedgerow_experiments.claims.base import HOLDS, NOT, OPEN, PARTLY, Check, Verdict, by_share, claims_of
from hedgerow_experiments.found import Evidence

__all__ = ["CLAIMS"]

_FIGURES = "diprime-figures"
_OURS = ("DiPriMe", "DiPriMeExp", "DiPriMeFlip")
_RIVALS = ("DP-ERT", "DP-RF", "DP-DF")


def _curves(found: Evidence, panel: str, metric: str | None = None) -> dict[str, dict[float, float]]:
    """Return the curves of a panel: means by place on the axis, by method."""
    out: dict[str, dict[float, float]] = {}
    cells: list[Summary] = found.cells(_FIGURES, setting=panel, metric=metric)
    for s in cells:
        out.setdefault(s.method, {})[s.x or 0.0] = s.mean
    return out


def _mostly_better(found: Evidence) -> Verdict:
    """Figure 1: every variant against DP-ERT, at every place of the three panels."""
    good = total = 0
    for panel in ("1(a)", "1(b)", "1(c)"):
        curves = _curves(found, panel)
        for x, rival in curves.get("DP-ERT", {}).items():
            own = [curves[m][x] for m in _OURS if x in curves.get(m, {})]
            if len(own) == len(_OURS):
                total += 1
                good += max(own) < rival
    return by_share(good, total, most=True).told("all three variants are better at {} places")


def _deeper(found: Evidence) -> Verdict:
    """Figure 1(a): the deepest trees against the best depth."""
    curves = _curves(found, "1(a)")
    if not {"RF", *_OURS} <= set(curves):
        return Verdict(OPEN, "no results")
    ratios = {m: curves[m][max(curves[m])] / min(curves[m].values()) for m in ("RF", *_OURS)}
    worse = sum(ratios[m] > 1 for m in _OURS)
    falls = ratios["RF"] == 1
    word = NOT if worse == 0 or not falls else HOLDS if worse == len(_OURS) else PARTLY
    said = ", ".join(f"{m} {r:.2f}" for m, r in ratios.items())
    return Verdict(word, f"error at the largest depth over that at the best one: {said}")


def _flip_at_small_epsilon(found: Evidence) -> Verdict:
    curves = _curves(found, "1(c)")
    if not {"DiPriMeExp", "DiPriMeFlip"} <= set(curves):
        return Verdict(OPEN, "no results")
    x = min(curves["DiPriMeFlip"])
    ratio = curves["DiPriMeFlip"][x] / curves["DiPriMeExp"][x]
    return Verdict(HOLDS if ratio > 1 else NOT, f"its error over that of DiPriMeExp at epsilon {x:g}: {ratio:.2f}")


def _gap_at_large_epsilon(methods: tuple[str, ...], closes: bool) -> Check:
    """Return a check of how far accuracies are from the random forest's at the largest epsilon of figure 2."""

    def check(found: Evidence) -> Verdict:
        curves = _curves(found, "2")
        if not {"RF", *methods} <= set(curves):
            return Verdict(OPEN, "no results")
        x = max(curves["RF"])
        gaps = {m: curves["RF"][x] - curves[m][x] for m in methods}
        good = sum((gap <= 0.05) == closes for gap in gaps.values())
        said = ", ".join(f"{m} {gap:.3f}" for m, gap in gaps.items())
        return by_share(good, len(gaps)).told(f"below the random forest by, at epsilon {x:g}: {said}")

    return check


def _empty_leaves(found: Evidence) -> Verdict:
    """Figure 3: the share of leaves in the lowest bin, those with less than 2 % of the records."""
    curves = _curves(found, "3", "share of leaves")
    if not {*_OURS, *_RIVALS} <= set(curves):
        return Verdict(OPEN, "no results")
    low = {m: c[min(c)] for m, c in curves.items()}
    pairs = [(low[a], low[b]) for a in _OURS for b in _RIVALS]
    said = ", ".join(f"{m} {low[m]:.2f}" for m in (*_OURS, *_RIVALS))
    told = f"lower in {{}} pairs; shares of leaves with less than 2 % of the records: {said}"
    return by_share(sum(a < b for a, b in pairs), len(pairs)).told(told)


def _even_splits(found: Evidence) -> Verdict:
    """Figure 4: the share of splits that send between two and three fifths of the records left."""
    curves = _curves(found, "4", "share of splits")
    if not {"DP-ERT", *_OURS} <= set(curves):
        return Verdict(OPEN, "no results")
    even = {m: sum(v for x, v in c.items() if 0.4 < x < 0.6) for m, c in curves.items()}
    good = sum(even[m] > even["DP-ERT"] for m in _OURS)
    said = ", ".join(f"{m} {even[m]:.2f}" for m in (*_OURS, "DP-ERT"))
    return by_share(good, len(_OURS)).told(f"{{}} variants; shares of splits between 40:60 and 60:40: {said}")


CLAIMS = claims_of(
    "DiPriMe", "diprime_figures.md",
    ("figure 1", "For most settings every variant of DiPriMe outperforms DP-ERT", _mostly_better),
    ("figure 1(a)", "Deeper trees lower the error of random forests and raise that of DiPriMe", _deeper),
    ("figure 1(c)", "At small epsilon DiPriMeFlip is worse than DiPriMeExp", _flip_at_small_epsilon),
    ("figure 2", "As epsilon grows DiPriMe becomes comparable with random forests (read as: within 0.05)",
     _gap_at_large_epsilon(_OURS, True)),
    ("figure 2", "DP-ERT and DP-DF continue to underperform as epsilon grows (read as: by more than 0.05)",
     _gap_at_large_epsilon(("DP-ERT", "DP-DF"), False)),
    ("figure 3", "DiPriMe has fewer leaves that are nearly empty than DP-ERT, DP-RF and DP-DF", _empty_leaves),
    ("figure 4", "Private medians split more evenly than random splits (DP-ERT)", _even_splits),
)  # fmt: skip
