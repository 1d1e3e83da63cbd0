"""Draw the pictures of the documentation: ``python docs/images/make_images.py``. The SVG files are committed."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hedgerow import LocalTask, privatize
from hedgerow.tasks.tree.encoding import unpack

INK, GREEN, ORANGE, GREY = "#333333", "#2e7d32", "#e07b00", "#9e9e9e"


def epsilon() -> Figure:
    """Draw how sure someone can become about A or B after one report, by what they believed before."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    eps = np.linspace(0, 6, 200)
    for prior, colour in ((0.5, GREEN), (0.1, ORANGE), (0.01, GREY)):
        odds = prior / (1 - prior) * np.exp(eps)
        ax.plot(eps, odds / (1 + odds), color=colour, lw=2.5, label=f"{prior:.0%} sure before")
    for e in (0.5, 1, 2, 4):
        sure = 1 / (1 + np.exp(-e))
        ax.plot(e, sure, "o", color=GREEN)
        text = f"{np.ceil(1000 * sure) / 10:.1f} %"  # a bound is never rounded down
        ax.annotate(text, (e, sure), (6, -14), textcoords="offset points")
    ax.set(xlabel="epsilon of the report", ylabel="how sure they can be after it, at most", ylim=(0, 1.02), xlim=(0, 6))
    ax.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
    ax.legend(title="someone who was", loc="lower right", frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def _table(ax: Axes, filled: np.ndarray, title: str, colour: str) -> None:
    """Draw a table of leaves by label ends."""
    n = len(filled)
    for leaf in range(n):
        for end in range(2):
            face = colour if filled[leaf, end] else "white"
            ax.add_patch(mpl.patches.Rectangle((leaf, end), 1, 1, facecolor=face, edgecolor=GREY))
    ax.set(xlim=(-0.1, n + 0.1), ylim=(-0.1, 2.1), aspect="equal", title=title)
    ax.set_xticks(np.arange(n) + 0.5, [str(j) for j in range(n)])
    ax.set_yticks([0.5, 1.5], ["label: low end", "label: high end"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def report() -> Figure:
    """Draw the truth of one holder, and three reports that its device might send."""
    task = LocalTask.design(
        epsilon=2.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1), max_depth=3, response="unary"
    )
    figure = Figure(figsize=(7, 7.5), layout="constrained")
    panels = figure.subplots(4, 1)
    truth = np.zeros((8, 2), dtype=bool)
    truth[5, 1] = True
    _table(panels[0], truth, "The truth: leaf 5, label at the high end. It stays on the device.", GREEN)
    for i, ax in enumerate(panels[1:]):
        sent = privatize(task, [5.5 / 8], 1.0, randomness=21 + i).payload
        bits = unpack(np.frombuffer(sent, dtype=np.uint8)[None, :], 16)[0].astype(bool).reshape(8, 2)
        word = "A report that it might send" if i == 0 else "Another" if i == 1 else "And another"
        _table(ax, bits, f"{word}. The true cell is {'' if bits[5, 1] else 'not '}named.", ORANGE)
    panels[-1].set_xlabel("leaf of the tree")
    return figure


def grid() -> Figure:
    """Draw outputs of noise in floating point against noise on a grid, for two labels."""
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    top, bottom = figure.subplots(2, 1)
    uniform = (np.arange(2**11) + 0.5) / 2**11  # a toy generator with 11 bits
    laplace = np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 - 2 * uniform))
    for label, height, colour in ((0.0, 1.0, GREEN), (1.0, 0.0, ORANGE)):
        values = (label + laplace)[(label + laplace > 0.40) & (label + laplace < 0.46)]
        top.vlines(values, height + 0.1, height + 0.9, color=colour, lw=1)
        bottom.vlines(np.arange(-6, 8) / 4, height + 0.1, height + 0.9, color=colour, lw=1)
    top.set(xlim=(0.40, 0.46), title="Floating point: most outputs are possible for one label only")
    bottom.set(xlim=(-1.6, 1.85), title="Grid: every output is possible for both, with probabilities we can write down")
    bottom.set_xlabel("noisy label")
    for ax in (top, bottom):
        ax.set_yticks([1.5, 0.5], ["label 0", "label 1"])
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def trust() -> Figure:
    """Draw who sees what in the four trust models."""
    rows = ["local", "semi-feature local", "label", "central"]
    columns = ["sensitive features", "other features", "label"]
    seen = [
        ["report", "report", "report"],
        ["report", "as it is", "report"],
        ["as it is", "as it is", "report"],
        ["as it is", "as it is", "as it is"],
    ]
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    ax = figure.subplots()
    for i, row in enumerate(seen):
        for j, cell in enumerate(row):
            colour = "#c8e6c9" if cell == "report" else "#ffe0b2"
            ax.add_patch(mpl.patches.Rectangle((j, -i), 1, 1, facecolor=colour, edgecolor="white", lw=3))
            text = "noisy report" if cell == "report" else cell
            ax.text(j + 0.5, -i + 0.5, text, ha="center", va="center", color=INK)
    ax.set(xlim=(0, 3), ylim=(-3, 1), title="What the curator sees of one person")
    ax.set_xticks([0.5, 1.5, 2.5], columns)
    ax.set_yticks([0.5 - i for i in range(4)], rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return figure


def advice() -> Figure:
    """Draw what ``hedgerow advise --plot`` draws, for some made-up public records."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    from hedgerow import PublicModel
    from hedgerow.local.advise import advise
    from hedgerow.local.advise.plot import plot_advice

    rng = np.random.default_rng(0)
    X = rng.random((200, 4))
    y = 8 * X[:, 0] * X[:, 1] + 4 * np.sin(5 * X[:, 2]) + rng.normal(0, 0.7, 200)
    learner = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=10, random_state=0)
    model = PublicModel(learner, random_state=0).fit(X, y)
    options = {"n_holders": 50_000, "epsilon": 1.0, "private_columns": [0], "label_bounds": (-5, 13)}
    return plot_advice(advise(X, y, public_model=model, **options))


def main(folder: Path) -> None:
    """Write all pictures."""
    mpl.rcParams.update({"svg.hashsalt": "hedgerow", "svg.fonttype": "none", "font.size": 10})
    for draw in (epsilon, report, grid, trust, advice):
        draw().savefig(folder / f"{draw.__name__}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
