"""A made-up survey of homes to try things on: twelve columns, seven of them text, with gaps and surprises.

Nobody's records are in it, so it may be looked at, printed and plotted. It has what real tables have: categories that
the public records do not show, answers left out (by older homes more often), and columns that do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.schema import CategoryColumn, Column, NumberColumn, Schema, WholeNumberColumn, YesNoColumn

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Homes", "draw_homes", "homes_schema", "load_homes"]

TARGET = "kwh"
_HEATING = ("gas", "oil", "district", "electric", "heat pump", "pellets")
_WINDOWS = ("single", "double", "triple")
_INCOME = ("below 20,000", "20,000 to 40,000", "40,000 to 70,000", "above 70,000")
_KINDS = ("flat", "terraced", "detached")
_REGIONS = ("coast", "hills", "north", "plain", "river", "south")

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Homes:
    """Public and private homes, and new ones to predict for, as pandas frames; and what is publicly known of them.

    The frames ``public`` and ``private`` hold the label, ``kwh``; ``new`` does too, to compare predictions with.
    """

    public: pd.DataFrame
    private: pd.DataFrame
    new: pd.DataFrame
    schema: Schema
    target: str = TARGET

    @staticmethod
    def split(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
        """Return features and label of some homes."""
        return frame.drop(columns=TARGET), frame[TARGET]


def load_homes(n_private: int = 20_000, *, n_public: int = 400, n_new: int = 2_000, random_state: int = 5) -> Homes:
    """Return made-up homes, always the same ones for the same numbers.

    Examples
    --------
    >>> homes = load_homes(1_000)
    >>> X, y = homes.split(homes.private)
    >>> X.shape, int(X["windows"].isna().sum()) > 0, set(X["heating"]) > set(homes.public["heating"])
    ((1000, 12), True, True)
    """
    try:
        import pandas as pd
    except ImportError:
        raise HedgerowError("'load_homes' returns pandas frames: pip install pandas, or use draw_homes().") from None
    rng = np.random.default_rng(random_state)
    frames = []
    for n, surprises in ((n_public, False), (n_private, True), (n_new, True)):
        frames.append(pd.DataFrame(draw_homes(n, rng, surprises=surprises)))
    return Homes(frames[0], frames[1], frames[2], homes_schema())


def draw_homes(n: int, rng: np.random.Generator, *, surprises: bool = True) -> Columns:
    """Return columns of ``n`` made-up homes, the label last; a gap is None, or NaN among numbers.

    With ``surprises`` there are homes heated by pellets, which the public records do not show, and absurd floor areas.
    """
    kind = rng.choice(_KINDS, n, p=[0.5, 0.25, 0.25])
    people = 1 + rng.binomial(6, np.where(kind == "detached", 0.35, 0.2))
    area = (rng.gamma(9, 4 + 1.1 * (people + 3 * (kind == "detached"))) + 15).round(0)
    built = (2025 - rng.gamma(2, 25, n)).clip(1850, 2025).round(0)
    shares = [0.42, 0.15, 0.13, 0.1, 0.2, 0.0]
    if surprises:
        shares = [0.4, 0.15, 0.13, 0.1, 0.19, 0.03]
    heating = rng.choice(_HEATING, n, p=shares)
    windows = np.array(_WINDOWS)[np.digitize(built + rng.normal(0, 15, n), [1960, 2000])]
    rooms = (area / 28 + rng.normal(0, 0.7, n)).clip(1, 12).round(0)
    columns: Columns = {
        "area": area,
        "people": people,
        "built": built,
        "heating": heating,
        "windows": windows.astype(object),
        "kind": kind,
        "rooms": rooms,
        "electric_car": np.where(rng.random(n) < 0.12, "yes", "no").astype(object),
        "days_at_home": rng.integers(0, 8, n),
        "income": rng.choice(_INCOME, n, p=[0.2, 0.35, 0.3, 0.15]).astype(object),
        "region": rng.choice(_REGIONS, n),
        "owner": np.where(rng.random(n) < 0.3 + 0.4 * (kind == "detached"), "yes", "no"),
    }
    columns[TARGET] = _usage(columns, rng)
    _leave_gaps(columns, rng)
    if surprises:
        area[rng.random(n) < 0.002] = 9_999
    return columns


def _usage(columns: Columns, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return electricity of a winter's day, in kWh."""
    heat = np.select([columns["heating"] == "electric", columns["heating"] == "heat pump"], [0.3, 0.11], 0.015)
    loss = np.select([columns["windows"] == "single", columns["windows"] == "double"], [1.35, 1.0], 0.75)
    cold = np.select([columns["region"] == "hills", columns["region"] == "coast"], [1.15, 0.9], 1.0)
    heated = heat * loss * cold * columns["area"]
    daily = 2 + 1.6 * columns["people"] + 0.25 * columns["days_at_home"] + 7 * (columns["electric_car"] == "yes")
    noise = rng.normal(0, 1.5, len(heated))
    usage: npt.NDArray[np.float64] = (heated + daily + noise).clip(0, 100).round(1)
    return usage


def _leave_gaps(columns: Columns, rng: np.random.Generator) -> None:
    """Leave answers out, as people do: in old homes they know less about it, and some keep their income back."""
    n = len(columns["built"])
    old = columns["built"] < 1950
    columns["built"] = np.where(rng.random(n) < 0.05 + 0.25 * old, np.nan, columns["built"])
    columns["windows"][rng.random(n) < 0.03 + 0.2 * old] = None
    columns["income"][rng.random(n) < 0.2] = None
    columns["electric_car"][rng.random(n) < 0.04] = None
    columns["rooms"] = np.where(rng.random(n) < 0.03, np.nan, columns["rooms"])


def homes_schema() -> Schema:
    """Return what everybody knows of homes, said once: ranges, categories, units, and the questions in words.

    Examples
    --------
    >>> homes_schema()["area"].ask("de")
    'Wie groß ist Ihre Wohnung?'
    """
    columns: list[Column] = [
        NumberColumn("area", 10, 400, 90, unit="m²"),
        WholeNumberColumn("people", 1, 10, 2),
        WholeNumberColumn("built", 1850, 2030, 1965),
        CategoryColumn("heating", (*_HEATING[:-1], "other"), "other"),
        CategoryColumn("windows", (*_WINDOWS, "not known"), "not known"),
        CategoryColumn("kind", (*_KINDS, "other"), "other"),
        WholeNumberColumn("rooms", 1, 12, 3),
        YesNoColumn("electric_car", "no", "yes", "no"),
        WholeNumberColumn("days_at_home", 0, 7, 3),
        CategoryColumn("income", (*_INCOME, "not said"), "not said"),
        CategoryColumn("region", (*_REGIONS, "other"), "other"),
        YesNoColumn("owner", "no", "yes", "no"),
    ]
    schema = Schema(tuple(columns), NumberColumn(TARGET, 0, 100, unit="kWh a day"))
    for name, asked in _QUESTIONS.items():
        schema = schema.with_question(name, dict(zip(("en", "de", "fr"), asked, strict=True)))
    return schema


_QUESTIONS = {
    "area": ("How large is your home?", "Wie groß ist Ihre Wohnung?", "Quelle est la surface de votre logement ?"),
    "people": ("How many people live there?", "Wie viele Menschen wohnen dort?", "Combien de personnes y vivent ?"),
    "built": ("When was it built?", "Wann wurde sie gebaut?", "De quand date-t-il ?"),
    "heating": ("How is it heated?", "Wie wird geheizt?", "Comment est-il chauffé ?"),
    "windows": ("How many panes do most windows have?", "Wie sind die Fenster verglast?", "Quel vitrage a-t-il ?"),
    "kind": ("What kind of home is it?", "Was für eine Wohnung ist es?", "Quel type de logement est-ce ?"),
    "rooms": ("How many rooms does it have?", "Wie viele Zimmer hat sie?", "Combien de pièces a-t-il ?"),
    "electric_car": ("Is an electric car charged there?", "Wird dort ein Elektroauto geladen?",
                     "Y recharge-t-on une voiture électrique ?"),
    "days_at_home": ("On how many days a week is somebody at home?",
                     "An wie vielen Tagen der Woche ist jemand zu Hause?",
                     "Combien de jours par semaine quelqu'un est-il présent ?"),
    "income": ("What does the household earn in a year?", "Was verdient der Haushalt im Jahr?",
               "Quel est le revenu annuel du foyer ?"),
    "region": ("In which region is it?", "In welcher Gegend liegt sie?", "Dans quelle région est-il ?"),
    "owner": ("Do you own it?", "Gehört sie Ihnen?", "En êtes-vous propriétaire ?"),
    "kwh": ("How much electricity do you use on a winter's day?", "Wie viel Strom brauchen Sie an einem Wintertag?",
            "Combien d'électricité utilisez-vous un jour d'hiver ?"),
}  # fmt: skip
