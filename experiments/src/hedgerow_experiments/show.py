"""An experiment to read: its declaration, how much of it was run, and its tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from hedgerow.compare.scores import Row, Summary, summarise
from hedgerow_experiments.experiment import Experiment, Key, Selection
from hedgerow_experiments.forms import to_csv, to_latex, to_markdown, to_text
from hedgerow_experiments.printed import Printed, namesake
from hedgerow_experiments.tables import Table, tabulate

__all__ = ["completeness", "declaration", "named_tables", "render"]


def declaration(experiment: Experiment) -> str:
    """Return the declaration in words."""
    e = experiment
    lines = [
        f"{e.name}: {e.title}",
        f"paper      {e.paper}",
        f"data sets  {', '.join(e.datasets)}",
        f"methods    {', '.join(e.methods)}",
        f"epsilons   {', '.join(f'{x:g}' for x in e.all_epsilons) or 'within the cells'}",
        *([f"settings   {', '.join(e.settings)}"] if e.settings != ("",) else []),
        f"repeats    {e.repeats}",
        f"split      {e.split}",
        f"metric     {e.metric}, {e.better} is better",
    ]
    for grid in e.grids:
        axes = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in grid.axes)
        lines.append(f"grid       {', '.join(grid.methods)}: {axes} ({len(grid.points())} points)")
    return "\n".join([*lines, *([f"notes      {e.notes}"] if e.notes else [])])


def completeness(experiment: Experiment, done: set[Key]) -> str:
    """Return how many of the cells that a run with the defaults has were computed, and how many beyond."""
    wanted = set(experiment.keys())
    lines = [f"cells      {len(wanted & done)} of {len(wanted)} done, {len(done - wanted)} more"]
    for dataset in experiment.datasets if wanted - done else ():
        keys = set(experiment.keys(Selection(datasets=(dataset,))))
        if keys - done:
            lines.append(f"           {dataset}: {len(keys & done)} of {len(keys)}")
    return "\n".join(lines)


def named_tables(
    experiment: Experiment, rows: list[Row], printed: Iterable[Printed] = ()
) -> Iterator[tuple[str, Table]]:
    """Yield tables with their titles: one for each setting, metric and epsilon; curves have their axis as rows.

    Figures that a paper printed for the same cell stand beside ours (not those of HistOfTree, which are ratios).
    """
    paper = [p for p in printed if p.experiment == experiment.name != "histoftree"]
    found = summarise(rows, experiment.choose)
    free = [s for s in found if s.epsilon is None and s.x is None]
    rest = sorted((s for s in found if s not in free), key=_place)
    if not rest and free:
        yield f"{experiment.name}", _table(experiment, free, paper)
    for (setting, metric, epsilon, axis), group in itertools.groupby(rest, _place):
        chosen = list(group)
        beside = [s for s in free if s.metric == metric and s.setting in (setting, "both")] if not axis else []
        title = ", ".join(filter(None, [experiment.name, setting, f"epsilon {epsilon:g}" if epsilon else "", metric]))
        yield title, _table(experiment, [*chosen, *beside], paper)


def _place(s: Summary) -> tuple[str, str, float, bool]:
    return s.setting, s.metric, s.epsilon or 0.0, s.x is not None


def _table(experiment: Experiment, chosen: list[Summary], printed: list[Printed]) -> Table:
    order = {name: i for i, name in enumerate(experiment.datasets)}
    chosen = sorted(chosen, key=lambda s: (order.get(s.dataset, 0), s.x or 0.0))
    columns = [m for m in experiment.methods if any(s.method == m for s in chosen)]
    columns += sorted({s.method for s in chosen} - set(columns))
    better = "higher" if chosen[0].metric == "accuracy" else experiment.better
    single = len({s.dataset for s in chosen}) == 1
    private = [c for c in columns if any(s.method == c and s.epsilon is not None for s in chosen)]

    def row(s: Summary) -> str:
        return s.dataset if s.x is None else f"{s.x:g}" if single else f"{s.dataset} {s.x:g}"

    known = {(p.setting, p.dataset, p.method, p.epsilon): p.value for p in printed}
    places = ((s, (s.setting, s.dataset, namesake(s.method), s.epsilon)) for s in chosen if s.x is None)
    paper = {(row(s), s.method): known[place] for s, place in places if place in known}
    return tabulate(chosen, row=row, columns=columns, better=better, compete=private, family=_family, paper=paper)


def _family(method: str) -> str:
    """Return the method that a row is a variant of.

    >>> [_family(m) for m in ("LPDT-M+blend", "HistOfTree-ME (9)", "DP-EBM")]
    ['LPDT', 'HistOfTree', 'DP-EBM']
    """
    plain = method.removesuffix(" (9)").split("+")[0]
    return plain.rsplit("-", 1)[0] if plain.rsplit("-", 1)[-1] in ("M", "V", "ME", "CART") else plain


def render(tables: Iterator[tuple[str, Table]], form: str) -> str:
    """Return tables as "text", "md", "csv" or "latex"."""
    forms: dict[str, Any] = {"text": to_text, "md": to_markdown, "csv": to_csv}
    parts = []
    for title, table in tables:
        if form == "latex":
            parts.append(to_latex(table, caption=title))
        else:
            head = {"md": f"### {title}\n\n", "csv": f"# {title}\n"}.get(form, f"{title}\n")
            parts.append(head + forms[form](table))
    return "\n".join(parts)
