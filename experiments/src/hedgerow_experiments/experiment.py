"""What an experiment is: a value that says which cells there are, how one is computed, and what its rows mean."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hedgerow.errors import HedgerowError

__all__ = ["Experiment", "Files", "Grid", "Group", "Key", "Selection", "call"]


Files = dict[str, bytes]
"""What a page consists of: contents by the names of files."""


class Key(NamedTuple):
    """What one cell of work is about.

    ``epsilon`` is 0 where there is none, ``setting`` is empty where there is one only, ``group`` names what is computed
    together. On disk an infinite epsilon is the text ``"inf"``.

    >>> Key.read(["ABA", 0, "", "inf", "DT"])
    Key(dataset='ABA', repeat=0, setting='', epsilon=inf, group='DT')
    """

    dataset: str
    repeat: int
    setting: str
    epsilon: float
    group: str

    @classmethod
    def read(cls, items: Sequence[Any]) -> Key:
        """Return the key that a line of results holds."""
        dataset, repeat, setting, epsilon, group = items
        return cls(str(dataset), int(repeat), str(setting), float(epsilon), str(group))

    def write(self) -> tuple[str | int | float, ...]:
        """Return the key as it stands on disk."""
        return (self.dataset, self.repeat, self.setting, "inf" if self.epsilon == float("inf") else self.epsilon,
                self.group)  # fmt: skip


class Grid(NamedTuple):
    """The parameter grid of some methods: named axes, the last one running fastest.

    >>> Grid(("PHIST",), (("bins", (1, 2)), ("threshold", (0.01,)))).points()
    ['bins=1 threshold=0.01', 'bins=2 threshold=0.01']
    """

    methods: tuple[str, ...]
    axes: tuple[tuple[str, tuple[Any, ...]], ...]

    def points(self) -> list[str]:
        """Return all points as text."""
        names = [name for name, _ in self.axes]
        return [
            " ".join(f"{name}={value}" for name, value in zip(names, point, strict=True))
            for point in itertools.product(*(values for _, values in self.axes))
        ]


@dataclass(frozen=True)
class Group:
    """What is computed in one cell: its name, the methods that come out, and where it differs from the experiment.

    Attributes
    ----------
    name : str
        Last part of the key.
    methods : tuple of str
        Rows of the tables that this group gives; by default its own name.
    settings, datasets, epsilons : tuple or None
        None means those of the experiment; no epsilons means that epsilon does not matter.
    most : int or None
        At most so many repeats, where they are slow.
    needs : str
        A package without which the group is left out.
    uses : tuple of str
        Modules that it rests on, where the code of a cell depends on its group: see
        :mod:`hedgerow_experiments.fingerprint`. By default all that the experiment can reach.
    """

    name: str
    methods: tuple[str, ...] = ()
    settings: tuple[str, ...] | None = None
    datasets: tuple[str, ...] | None = None
    epsilons: tuple[float, ...] | None = None
    most: int | None = None
    needs: str = ""
    uses: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """Names in tables."""
        return self.methods or (self.name,)


class Selection(NamedTuple):
    """Which part of an experiment is wanted; None means all of it."""

    repeats: int | None = None
    first: int | None = None
    datasets: tuple[str, ...] | None = None
    epsilons: tuple[float, ...] | None = None
    methods: tuple[str, ...] | None = None
    settings: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Experiment:
    """One table or figure (or a few that share their runs), declared as data.

    Attributes
    ----------
    name, title, paper : str
        How it is called, what it shows, whose it is.
    datasets, groups, epsilons, settings : tuple
        The cells are their product, repeat by repeat, as far as each :class:`Group` takes part.
    repeats : int
        How many by default.
    split, metric : str
        In words: how records are split, what is measured.
    compute : str
        ``"module:function"``, called with a :class:`Key` and a seed; returns ``{method: value}`` where a value is a
        number, a list over the method's grid, or ``{parameter: number}``.
    grids : tuple of Grid
        Parameter grids by method.
    tidy : str
        ``"module:function"`` that turns a key and a value into rows, if they are not as above.
    choose : {"lowest", "highest", "none"}
        How one parameter is chosen from a grid: in hindsight, by the mean over repeats, as the papers do.
    better : {"lower", "higher"}
        Which values are good.
    seeds : {"key", "repeat"}
        A cell's seed: a hash of its key, or its repeat (the function then keys its streams itself).
    bundle : tuple of str
        Parts of the key that cells handed to one worker together have in common, so that they can share work.
    page : str
        ``"module:function"`` that makes pages: called with the committed results, it returns :data:`Files`.
    keep : {"best", "all"}
        Whether the committed file holds the chosen parameters or the whole grid.
    notes : str
        What a reader must know: what differs from the paper, what was chosen while looking at test errors.

    Examples
    --------
    >>> toy = Experiment("toy", "A toy", "none", ("A", "B"), (Group("m"), Group("free", epsilons=())), (1.0, 2.0), 2,
    ...                  compute="math:fsum")
    >>> len(list(toy.keys())), len(list(toy.keys(Selection(repeats=1, datasets=("A",), methods=("m",)))))
    (12, 2)
    >>> next(toy.keys())
    Key(dataset='A', repeat=0, setting='', epsilon=1.0, group='m')
    """

    name: str
    title: str
    paper: str
    datasets: tuple[str, ...]
    groups: tuple[Group, ...]
    epsilons: tuple[float, ...]
    repeats: int
    compute: str
    settings: tuple[str, ...] = ("",)
    first: int = 0
    split: str = ""
    metric: str = "mse"
    grids: tuple[Grid, ...] = ()
    tidy: str = "hedgerow_experiments.tidy:standard"
    choose: str = "lowest"
    better: str = "lower"
    seeds: str = "key"
    bundle: tuple[str, ...] = ("dataset", "repeat", "setting", "group")
    page: str = ""
    keep: str = "best"
    notes: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods, in the order of their groups."""
        return tuple(dict.fromkeys(m for g in self.groups for m in g.shown))

    def grid(self, method: str) -> Grid | None:
        """Return the parameter grid of a method, if it has one."""
        return next((g for g in self.grids if method in g.methods), None)

    def seed(self, key: Key) -> int:
        """Return the seed of a cell, which depends on its key alone."""
        if self.seeds == "repeat":
            return key.repeat
        text = json.dumps([self.name, *key.write()])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")

    def check(self, wanted: Selection) -> None:
        """Refuse what the experiment does not have."""
        known = {
            "datasets": self.datasets, "epsilons": self.all_epsilons, "settings": self.settings,
            "methods": (*self.methods, *(g.name for g in self.groups)),
        }  # fmt: skip
        for name, values in known.items():
            for value in getattr(wanted, name) or ():
                if value not in values:
                    raise HedgerowError(
                        f"--{name} of {self.name} must be among {', '.join(map(str, values))}. Got {value!r} instead."
                    )

    @property
    def all_epsilons(self) -> tuple[float, ...]:
        """Every epsilon that any group is run at."""
        return tuple(dict.fromkeys(e for es in (self.epsilons, *(g.epsilons or () for g in self.groups)) for e in es))

    def keys(self, wanted: Selection | None = None) -> Iterator[Key]:
        """Yield the cells, whole repeats first, so that a run cut short has some of everything."""
        wanted = wanted or Selection()
        self.check(wanted)
        first = self.first if wanted.first is None else wanted.first
        repeats = self.repeats if wanted.repeats is None else wanted.repeats
        for repeat in range(first, first + repeats):
            for dataset in self.datasets:
                if wanted.datasets is not None and dataset not in wanted.datasets:
                    continue
                for group in self.groups:
                    if group.most is None or repeat - first < group.most:
                        yield from self._of_group(group, dataset, repeat, wanted)

    def _of_group(self, group: Group, dataset: str, repeat: int, wanted: Selection) -> Iterator[Key]:
        if group.datasets is not None and dataset not in group.datasets:
            return
        if wanted.methods is not None and not {group.name, *group.shown} & set(wanted.methods):
            return
        for setting in self.settings if group.settings is None else group.settings:
            if wanted.settings is not None and setting not in wanted.settings:
                continue
            epsilons = self.epsilons if group.epsilons is None else group.epsilons
            for epsilon in epsilons or (0.0,):
                if epsilon == 0.0 or wanted.epsilons is None or epsilon in wanted.epsilons:
                    yield Key(dataset, repeat, setting, epsilon, group.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, for printing."""
        return dataclasses.asdict(self)


def call(reference: str) -> Callable[..., Any]:
    """Return the function that ``"module:function"`` names.

    >>> call("math:fsum")([1.0, 2.0])
    3.0
    """
    module, _, name = reference.partition(":")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise HedgerowError(f"experiments need more packages ({error}): pip install hedgerow-experiments.") from None
    return found
