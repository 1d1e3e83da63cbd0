"""The claims of "Locally Private Estimation with Public Features"."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from hedgerow.compare.scores import Summary
from hedgerow_experiments.claims.base import (
    HOLDS,
    NOT,
    OPEN,
    PARTLY,
    Check,
    Verdict,
    by_share,
    claims_of,
    curve,
    duel,
    geometric,
    ratio,
    trend,
    valley,
)  # fmt: skip
from hedgerow_experiments.claims.privacy import audited
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.ranks import mean_ranks

__all__ = ["CLAIMS"]

_HIST = "histoftree"
_FIGURE = "histoftree-figure2"
_OWN = {"aligned": ("HistOfTree-ME", "HistOfTree-CART"),
        "personal": ("HistOfTree-ME", "HistOfTree-CART", "AdHistOfTree-ME", "AdHistOfTree-CART")}  # fmt: skip
_NAIVE = ("ParDT", "Hist", "KRR")


def _grid(found: Evidence, mask: str, epsilon: float) -> dict[str, dict[str, float]]:
    """Return means by data set and method, over sets where every method was run."""
    cells = found.cells(_HIST, setting=(mask, "both"), method=(*_OWN[mask], *_NAIVE), epsilon=lambda e: e == epsilon)
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for s in cells:
        table[s.dataset][s.method] = s.mean
    return {d: row for d, row in table.items() if len(row) == len(_OWN[mask]) + len(_NAIVE)}


def _rank_sums(mask: str) -> Check:
    def check(found: Evidence) -> Verdict:
        good = 0
        said = []
        for epsilon in (1.0, 2.0, 4.0):
            rows = _grid(found, mask, epsilon)
            if not rows:
                continue
            sums: dict[str, float] = defaultdict(float)
            for row in rows.values():
                for method, rank in zip(row, mean_ranks(list(row.values())), strict=True):
                    sums[method] += rank
            own = max(sums[m] for m in _OWN[mask])
            naive = min(sums[m] for m in _NAIVE)
            good += own < naive
            said.append(f"{own:g} against {naive:g} at epsilon {epsilon:g}")
        told = "largest rank sum of its own against the smallest of the others: " + ", ".join(said)
        return by_share(good, len(said)).told(told)

    return check


def _most_best(found: Evidence) -> Verdict:
    good = total = 0
    for mask in _OWN:
        for epsilon in (1.0, 2.0, 4.0):
            rows = _grid(found, mask, epsilon)
            total += len(rows)
            good += sum(min(row, key=lambda m: row[m]) in _OWN[mask] for row in rows.values())
    return by_share(good, total, most=True).told("best in {} rows")


def _adaptive(found: Evidence) -> Verdict:
    own = found.cells(_HIST, setting="personal", method=("AdHistOfTree-ME", "AdHistOfTree-CART"))
    ratios = ratio(own, found.cells(_HIST, setting="personal", method=_OWN["aligned"]))
    told = f"within 10 % of the best fixed parameters in {{}} cells; geometric mean {geometric(ratios):.3f}"
    return by_share(sum(r <= 1.1 for r in ratios), len(ratios)).told(told)


def _beats_naive(rival: str) -> Check:
    """Return a duel over both kinds of masks; what does not depend on them counts in both."""

    def check(found: Evidence) -> Verdict:
        own: list[Summary] = []
        theirs: list[Summary] = []
        for mask in _OWN:
            for cells, methods in ((own, _OWN["aligned"]), (theirs, (rival,))):
                some = found.cells(_HIST, setting=(mask, "both"), method=methods)
                cells += [s._replace(dataset=f"{s.dataset} {mask}") for s in some]
        return duel(own, theirs)

    return check


def _cart(mask: str, cart_wins: bool) -> Check:
    def check(found: Evidence) -> Verdict:
        cells = [found.cells(_HIST, setting=mask, method=f"HistOfTree-{rule}") for rule in ("CART", "ME")]
        return duel(*(cells if cart_wins else reversed(cells)))

    return check


def _panel(found: Evidence, setting: str) -> dict[str, list[Summary]]:
    """Return the curves of a panel, with the paper's estimator (9)."""
    out: dict[str, list[Summary]] = defaultdict(list)
    for s in found.cells(_FIGURE, setting=setting):
        if s.method.endswith(" (9)"):
            out[s.method.removesuffix(" (9)")].append(s)
    return out


def _falls(setting: str) -> Check:
    def check(found: Evidence) -> Verdict:
        # The paper plots the error with the noise of the labels, whose variance is 1.
        curves = {m: [1 + v for _, v in curve(c)] for m, c in _panel(found, setting).items()}
        curves = {m: v for m, v in curves.items() if len(v) > 1}
        good = sum(trend(v, up=False, slack=0.01) for v in curves.values())
        return by_share(good, len(curves)).told("{} curves fall (bumps below 1 % ignored)")

    return check


def _more_public(found: Evidence) -> Verdict:
    """Return how often the error falls with one more feature that is public, over all epsilons."""
    steps = good = 0
    by_epsilon: dict[float, dict[int, float]] = defaultdict(dict)
    for method, cells in _panel(found, "a").items():
        for s in cells:
            if method.startswith("s="):
                by_epsilon[s.epsilon or 0.0][int(method[2:])] = s.mean
    for row in by_epsilon.values():
        order = [row[k] for k in sorted(row)]
        steps += len(order) - 1
        good += sum(a <= b for a, b in pairwise(order))
    return by_share(good, steps).told("the error is lower after {} steps to one private feature less")


def _faster_with_few(found: Evidence) -> Verdict:
    """Compare the fall of the error from the fewest to the most records, from each s to the next."""
    curves = {m: [v for _, v in curve(c)] for m, c in _panel(found, "b").items()}  # the error beyond the labels' noise
    falls = {m: v[0] / v[-1] for m, v in sorted(curves.items()) if len(v) > 1}
    if len(falls) < 2:
        return Verdict(OPEN, "no results")
    steps = [a >= b for a, b in pairwise(falls.values())]
    said = ", ".join(f"{m} {r:.3f}" for m, r in falls.items())
    return by_share(sum(steps), len(steps)).told(
        f"{{}} steps; excess error with the fewest records over the most: {said}"
    )


def _fixed(found: Evidence) -> dict[str, dict[float, float]]:
    """Return the curves of figure 2(d) with a fixed s."""
    return {m: dict(curve(c)) for m, c in _panel(found, "d").items() if m.startswith("s=")}


def _thinner_tails(found: Evidence) -> Verdict:
    curves = {m: [1 + v for _, v in sorted(c.items())] for m, c in _fixed(found).items()}
    good = sum(trend(v, up=False, slack=0.01) for v in curves.values())
    return by_share(good, len(curves)).told("{} curves fall with gamma (bumps below 1 % ignored)")


def _no_best(found: Evidence) -> Verdict:
    curves = _fixed(found)
    if not curves:
        return Verdict(OPEN, "no results")
    places = sorted(set.intersection(*(set(c) for c in curves.values())))
    winners = {g: min(curves, key=lambda m, at=g: curves[m][at]) for g in places}  # type: ignore[misc]
    said = ", ".join(f"{m} at gamma {g:g}" for g, m in winners.items())
    return Verdict(HOLDS if len(set(winners.values())) > 1 else NOT, f"best is {said}")


def _bins(found: Evidence) -> Verdict:
    panel = {m: c for m, c in _panel(found, "c").items() if len(c) > 2}
    curves = {m: [(x, 1 + v) for x, v in curve(c)] for m, c in panel.items()}
    if not curves:
        return Verdict(OPEN, "no results")
    u = sum(valley(c, slack=0.01) for c in curves.values())
    least = {m: min(v for _, v in c) for m, c in curves.items()}
    depth = {m: min(c, key=lambda p: p[1])[0] for m, c in curves.items()}
    winner = min(least, key=lambda m: least[m])
    parts = [u == len(curves), winner == "t=2", trend([depth[m] for m in sorted(depth)], up=True)]
    word = HOLDS if all(parts) else PARTLY if any(parts) else NOT
    said = f"{u} of {len(curves)} curves are U-shaped; best is {winner}; best depth " + ", ".join(
        f"{x:g} for {m}" for m, x in sorted(depth.items())
    )
    return Verdict(word, said)


def _tails(found: Evidence) -> Verdict:
    panel = {m: dict(curve(c)) for m, c in _panel(found, "d").items()}
    fixed = {m: c for m, c in panel.items() if m.startswith("s=")}
    auto = [c for m, c in panel.items() if m.startswith("auto")]
    if not fixed or not auto:
        return Verdict(OPEN, "no results")
    gammas = sorted(set.intersection(*(set(c) for c in (*fixed.values(), *auto))))
    excess = [(1 + min(c[g] for c in auto)) / (1 + min(c[g] for c in fixed.values())) for g in gammas]
    winners = [min(fixed, key=lambda m, at=g: fixed[m][at]) for g in gammas]  # type: ignore[misc]
    verdict = by_share(sum(r <= 1.05 for r in excess), len(excess))
    said = ", ".join(f"{r:.2f} at gamma {g:g} (best {w})" for r, g, w in zip(excess, gammas, winners, strict=True))
    return Verdict(verdict.word, f"error of the chosen s over that of the best fixed one (at most 1.05 counts): {said}")


CLAIMS = claims_of(
    "HistOfTree", "histoftree.md",
    ("tables 1-3", "Aligned masks: HistOfTree has the lowest rank sums at every epsilon", _rank_sums("aligned")),
    ("tables 1-3", "Personalised masks: HistOfTree and AdHistOfTree have the lowest rank sums", _rank_sums("personal")),
    ("tables 1-3", "The proposed methods achieve most of the best results", _most_best),
    ("tables 1-3", "Parameters chosen from the masks alone (AdHistOfTree) are as good as the best", _adaptive),
    ("proposition 3.2", "What a person sends, over both rounds, is epsilon-private", audited("two-round protocol")),
    ("tables 1-3", "HistOfTree beats Hist, which protects every feature", _beats_naive("Hist")),
    ("tables 1-3", "HistOfTree beats ParDT, which leaves private features out", _beats_naive("ParDT")),
    ("tables 1-3", "HistOfTree beats KRR, which perturbs each private feature", _beats_naive("KRR")),
    ("section 5.2", "Aligned masks: CART splits are better than max-edge splits", _cart("aligned", True)),
    ("section 5.2", "Personalised masks: max-edge splits are better than CART splits", _cart("personal", False)),
    ("figure 2(a)", "Error falls as epsilon grows, whatever the number of private features", _falls("a")),
    ("figure 2(a)", "Error falls steadily with every feature that is public", _more_public),
    ("figure 2(b)", "Error falls as the number of records grows", _falls("b")),
    ("figure 2(b)", "Error falls faster with the records the fewer features are private", _faster_with_few),
    ("figure 2(c)", "Error is U-shaped in depth; two bins are best; the best depth grows with the bins", _bins),
    ("figure 2(d)", "Error falls as fewer people protect their features", _thinner_tails),
    ("figure 2(d)", "No number of histogram features is best however many people protect theirs", _no_best),
    ("figure 2(d)", "The chosen number of histogram features is about as good as the best fixed one", _tails),
)  # fmt: skip
