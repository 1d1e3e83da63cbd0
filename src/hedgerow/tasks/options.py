"""What may be said about a design or a model, declared by the kind of task: doors offer it, or refuse it by name."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Option", "by_parameter"]


@dataclass(frozen=True)
class Option:
    """One option of a kind of task.

    Attributes
    ----------
    name : str
        What doors call it; on the command line ``max_depth`` is ``--max-depth``.
    help : str
        What it is, in words.
    takes : {"words", "file", "whole", "seed", "number", "share", "names", "flag"}
        What a value is; "whole" and "share" may be "auto", a "flag" has no value.
    choices : tuple of str
        The values that there are, if they are few.
    bare : str
        What the option means without a value, if it may have none.
    parameter : str
        What the kind's own function calls it, if not by its name.
    """

    name: str
    help: str
    takes: str = "words"
    choices: tuple[str, ...] = ()
    bare: str = ""
    parameter: str = ""


def by_parameter(*options: Option) -> dict[str, Option]:
    """Return options by what the kind's function calls them.

    >>> list(by_parameter(Option("seed", "of random splits", "seed", parameter="randomness")))
    ['randomness']
    """
    return {option.parameter or option.name: option for option in options}
