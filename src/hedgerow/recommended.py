"""What to use in which trust model: README, documentation and results say this, and tests hold them to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

__all__ = ["RECOMMENDED", "Recommendation"]


@dataclass(frozen=True)
class Recommendation:
    """What to use, by who may see a person's record.

    Attributes
    ----------
    key, model : str
        The trust model, for programs and for people.
    who : str
        Who may see a record.
    use : str
        Estimators in backquotes, the first the one to try first.
    """

    key: str
    model: str
    who: str
    use: str

    @property
    def html(self) -> str:
        """What to use, as HTML."""
        return re.sub("`([^`]+)`", r"<code>\1</code>", escape(self.use))

    @property
    def names(self) -> tuple[str, ...]:
        """The estimators that are named."""
        return tuple(re.findall("`([^`]+)`", self.use))

    def row(self) -> str:
        """Return the start of a row of a table in Markdown."""
        return f"| {self.who} | {self.model} | {self.use} |"


RECOMMENDED = (
    Recommendation(
        "local",
        "local",
        "Nobody, and there is some public data of the same kind.",
        "`AssistedForestRegressor`, `AssistedForestClassifier`; `LPDTRegressor`, `LPDTClassifier` for one readable "
        "tree, or without public labels",
    ),
    Recommendation(
        "aggregate",
        "aggregate",
        "No party alone; two organisations that do not conspire add up, and there is some public data.",
        "`SecureSumRegressor`, `SecureSumClassifier`",
    ),
    Recommendation(
        "semi",
        "semi-feature local",
        "Some features are public; the other features and the label are for nobody.",
        "`HistOfTreeRegressor`, `HistOfTreeClassifier`, on a public model if there is one",
    ),
    Recommendation(
        "label",
        "label",
        "All features are public; the label is for nobody.",
        "`LabelPrivateRegressor`, `LabelPrivateClassifier`, on a public model if there is one",
    ),
    Recommendation(
        "central",
        "central",
        "One trusted curator holds all records; the published model must not give them away.",
        "`PrivateAnovaRegressor`, `PrivateAnovaClassifier`, on a public model if there is one; "
        "`DiPriMeForestRegressor`, `DiPriMeForestClassifier` if delta must be 0, or for a forest",
    ),
)
"""By trust needed, the least first."""
