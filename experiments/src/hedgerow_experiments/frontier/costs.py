"""What privacy costs: the page ``costs.md``, and what it needs beyond the simulations of ``advise``.

One figure a data set: test error against epsilon under four trust models, beside the public model alone and boosting
without privacy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from hedgerow.central.anova import PrivateAnovaRegressor
from hedgerow.compare.scores import Row
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split
from hedgerow_experiments.experiment import Experiment, Files, Key
from hedgerow_experiments.figures import drawn, pyplot
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.frontier.declared import ADVISE, ADVISE_EPSILONS, COSTS
from hedgerow_experiments.tidy import row_of

__all__ = ["Errors", "compute", "figure", "gather", "page", "pages", "tidy"]

LINES = {"local": "C0", "semi-feature": "C1", "label": "C2", "central": "C3"}


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors of central privacy by epsilon, or of boosting without privacy, on all but the test records.

    Public records are part of the training records in both: a curator who is trusted may use them.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    s = split(load_dataset(key.dataset), key.repeat)
    Z = np.vstack([s.public.Z, s.private.Z])
    y = np.concatenate([s.public.y, s.private.y])
    if key.group == "not private":
        free = HistGradientBoostingRegressor(max_iter=300, learning_rate=0.05, min_samples_leaf=5, random_state=0)
        return {"": _mse(free.fit(Z, y).predict(s.test.Z), s.test.y)}
    known: dict[str, Any] = {"label_bounds": s.label_bounds, "feature_bounds": s.space.ranges}
    options = {**known, "random_state": key.repeat}
    models = {f"{e:g}": PrivateAnovaRegressor(epsilon=e, **options).fit(Z, y) for e in ADVISE_EPSILONS}
    return {e: _mse(model.predict(s.test.Z), s.test.y) for e, model in models.items()}


def _mse(f: Any, y: Any) -> float:
    return float(np.mean((f - y) ** 2))


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield errors by epsilon."""
    for epsilon, error in value.items():
        yield row_of(experiment, key, error, epsilon=float(epsilon) if epsilon else None)


class Errors(NamedTuple):
    """Means over so many splits: by trust model and epsilon, of the public model, and without privacy."""

    splits: int
    errors: dict[str, dict[str, float]]
    public: float
    free: float


def gather(found: Evidence) -> dict[str, Errors]:
    """Return the errors of each data set, over the splits on which everything was run."""
    rows = [r for r in found.rows(ADVISE.name) if r.method == "simulated"]
    named = [(r, r.setting) for r in rows] + [(r, r.method) for r in found.rows(COSTS.name)]
    lines: dict[str, dict[tuple[str, str], dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for r, name in named:
        lines[r.dataset][name, "" if r.epsilon is None else f"{r.epsilon:g}"][r.repeat] = r.value
    epsilons = [f"{e:g}" for e in ADVISE_EPSILONS]
    out = {}
    for code in COSTS.datasets:
        own = lines[code]
        wanted = [*((name, e) for name in (*LINES, "public only") for e in epsilons), ("not private", "")]
        common = set.intersection(*(set(own.get(place, {})) for place in wanted))
        if common:
            means = {place: float(np.mean([own[place][r] for r in sorted(common)])) for place in wanted}
            errors = {name: {e: means[name, e] for e in epsilons} for name in LINES}
            out[code] = Errors(len(common), errors, means["public only", epsilons[0]], means["not private", ""])
    return out


def pages(found: Evidence) -> Files:
    """Return ``costs.md`` and its figures."""
    if not found.makes("costs.md", ADVISE.name, COSTS.name):
        return {}
    means = gather(found)
    files = {f"costs_{code}.svg": drawn(figure(code, *own[1:]))[".svg"] for code, own in means.items()}
    return {**files, "costs.md": page(means).encode()}


def figure(code: str, errors: dict[str, dict[str, float]], public: float, free: float) -> Any:
    """Return the figure of one data set."""
    drawing, axes = pyplot({}).subplots(figsize=(4.5, 3.2), layout="constrained")
    for name, colour in LINES.items():
        axes.plot([float(e) for e in errors[name]], list(errors[name].values()), "o-", color=colour, label=name)
    axes.axhline(public, color="0.4", linestyle="--", label="public only")
    axes.axhline(free, color="0.7", linestyle=":", label="not private")
    # The central model can be far off at small epsilon: the axis shows the others, and the table has all figures.
    top = max(public, *(v for name in ("local", "semi-feature", "label") for v in errors[name].values()))
    axes.set(xscale="log", xlabel="epsilon", ylabel="test error (MSE)", title=code, ylim=(0, 1.6 * top))
    axes.set_xticks([float(e) for e in errors["label"]], list(errors["label"]))
    axes.legend(fontsize=7)
    return drawing


def page(found: Mapping[str, Errors]) -> str:
    """Return the page."""
    lines = [
        "# What privacy costs",
        "",
        "The same records under four trust models: a tenth of them public, seven tenths of holders, two tenths to test",
        "on. Three of them start from the best public model, and use private reports for what it gets wrong:",
        "",
        "- **local**: features and label are private, nobody is trusted (`AssistedForestRegressor`);",
        "- **semi-feature**: the label and half of the columns, the first, are private (`HistOfTreeRegressor`);",
        "- **label**: only the label is private (`LabelPrivateRegressor`);",
        "- **central**: a curator sees all records and releases a private model (`PrivateAnovaRegressor`, delta 1e-5),",
        "  without a public model to start from;",
        "- **public only** (`PublicModel` on the public tenth) and **not private** (boosting on public and private).",
        "",
        "`hedgerow advise` says what to expect of your own case ([how good its forecasts are](advise.md)).",
        "",
        "Written by `hedgerow bench run costs` (and `advise`).",
        "",
    ]
    for code, (splits, errors, public, free) in found.items():
        rows = [
            [e, *(f"{errors[name][e]:.4g}" for name in LINES), f"{public:.4g}", f"{free:.4g}"] for e in errors["label"]
        ]
        lines += [f"## {code}", "", f"![Error against epsilon on {code}](costs_{code}.svg)", ""]
        lines += pipes(["epsilon", *LINES, "public only", "not private"], rows)
        lines += ["", f"Test MSE, mean over splits ({splits}), one draw of the noise in each.", ""]
    return "\n".join(lines)
