"""Every way to learn from the same records, by whom one has to trust: what ``hedgerow compare`` runs.

A contestant is a name, a trust model, what it needs, and a function of a :class:`Case`, epsilon and a seed that returns
predictions for the test records together with the guarantee (None where there is none).
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature
from hedgerow.guarantee import Guarantee
from hedgerow.space import FeatureSpace

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = [
    "CONTESTANTS", "TRUST", "Case", "Contestant", "Outcome", "available", "central_runner", "outcome_of", "semi_runner",
]  # fmt: skip

TRUST = {
    "local": "Nobody sees a record: each holder adds noise to an own report.",
    "aggregate": "Two servers of different organisations add up what neither of them sees; only noisy sums leave.",
    "semi": "Some features are public; the private ones and the label are noisy before they leave the holder.",
    "label": "All features are public; only the label is protected (its guarantee says from whom).",
    "central": "One trusted curator sees all records; what is published is protected.",
    "public": "No private record is used at all.",
    "none": "No protection: not an option, but the end that the others are measured against.",
}
"""Trust models, in the order of a report, and what each means."""


@dataclass(frozen=True, eq=False)
class Case:
    """One split of a user's records, and what is public about them; a schema says all of it, the label too."""

    X: Any
    y: npt.NDArray[Any]
    X_test: Any
    space: FeatureSpace
    feature_bounds: npt.NDArray[np.float64]
    label_bounds: tuple[float, float] | None = None
    classes: tuple[str, ...] | None = None
    categories: dict[str, list[str]] | None = None
    private: tuple[str, ...] = ()
    X_public: Any = None
    y_public: npt.NDArray[Any] | None = None
    schema: Schema | None = None

    @property
    def label(self) -> dict[str, Any]:
        """What every private estimator is told of the label."""
        return {"label_bounds": self.label_bounds} if self.classes is None else {"classes": list(self.classes)}

    @property
    def bounds(self) -> dict[str, Any]:
        """What every private estimator is told beforehand: the schema itself, if there is one."""
        if self.schema is not None:
            return {"schema": self.schema}
        return {"feature_bounds": self.feature_bounds, "categories": self.categories, **self.label}

    @property
    def open_features(self) -> dict[str, Any]:
        """What estimators are told that learn from public features: nothing about these without a schema."""
        return self.label if self.schema is None else self.bounds

    @cached_property
    def public_model(self) -> Any:
        """The model of the public records alone, learnt once for all that start from it.

        Of classes it is to be fitted to the indicator of each, which is done once, too.
        """
        from hedgerow.compare.shared import SharedPublicModel

        known: dict[str, Any] = {"categories": self.categories} if self.schema is None else {"schema": self.schema}
        model = SharedPublicModel(**known, random_state=0)
        return model.fit(self.X_public, self.y_public) if self.classes is None else model

    @property
    def public(self) -> dict[str, Any]:
        """The public records, as ``fit`` takes them."""
        return {"X_public": self.X_public, "y_public": self.y_public}

    def numbers(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        """Return records as numbers, categories as codes."""
        return self.space.encode(X)

    def learnt(self, X: Any) -> Any:
        """Return records as learners of public features get them: a schema reads them itself."""
        return self.numbers(X) if self.schema is None else X


Outcome = tuple[npt.NDArray[Any], Guarantee | None]


class Contestant(NamedTuple):
    """A method: see the module."""

    name: str
    trust: str
    run: Callable[[Case, float, int], Outcome]
    regression: bool = True
    classification: bool = True
    public: bool = False
    private_columns: bool = False
    package: str = ""

    @property
    def free(self) -> bool:
        """Whether epsilon does not matter."""
        return self.trust in ("none", "public")

    def missing(self, *, classify: bool, public: bool, private_columns: bool) -> str:
        """Return in words what keeps it from taking part; empty if nothing does."""
        if classify and not self.classification:
            return "is for numeric labels"
        if not classify and not self.regression:
            return "is for classes"
        if self.public and not public:
            return "needs public records (--public)"
        if self.private_columns and not private_columns:
            return "needs to know which features are private (--private-columns)"
        if self.package and importlib.util.find_spec(self.package) is None:
            return f"needs the package {self.package}"
        return ""


def available(**given: bool) -> tuple[list[Contestant], dict[str, str]]:
    """Return who can take part, and why the others cannot.

    >>> able, left_out = available(classify=True, public=False, private_columns=False)
    >>> left_out["HistOfTree"], left_out["public model"]
    ('needs to know which features are private (--private-columns)', 'needs public records (--public)')
    """
    reasons = {c.name: c.missing(**given) for c in CONTESTANTS}
    return [c for c in CONTESTANTS if not reasons[c.name]], {n: r for n, r in reasons.items() if r}


def outcome_of(model: Any, case: Case) -> Outcome:
    """Return what a fitted model predicts and promises."""
    return np.asarray(model.predict(case.X_test)), model.guarantee_


def _kind(module: str, stem: str, case: Case) -> Any:
    return getattr(importlib.import_module(module), stem + ("Regressor" if case.classes is None else "Classifier"))


def _with_public(module: str, stem: str) -> Callable[[Case, float, int], Outcome]:
    def run(case: Case, epsilon: float, seed: int) -> Outcome:
        kind = _kind(module, stem, case)
        options = case.bounds
        if stem != "LPDT":  # without a schema, ranges are those of the records that its model was learnt from
            options.pop("feature_bounds", None)
            options["public_model"] = case.public_model
        model = kind(epsilon, random_state=seed, **options)
        return outcome_of(model.fit(case.X, case.y, **case.public), case)

    return run


def semi_runner(module: str, stem: str) -> Callable[[Case, float, int], Outcome]:
    """Return what runs an estimator of the semi-feature model, named without its ending."""

    def run(case: Case, epsilon: float, seed: int) -> Outcome:
        kind = _kind(module, stem, case)
        mask = [name in case.private for name in case.space.inputs]
        return outcome_of(kind(epsilon, random_state=seed, **case.bounds).fit(case.X, case.y, private=mask), case)

    return run


def on_public(module: str, stem: str) -> Callable[[Case, float, int], Outcome]:
    """Return what runs an estimator that corrects the public model that all others start from."""

    def run(case: Case, epsilon: float, seed: int) -> Outcome:
        known = case.public
        if module == _SEMI:
            # Asking for groups of private values doubles the time, and changed nothing on five sets (one split each).
            known = {} if case.classes is None else known
            known["private"] = [name in case.private for name in case.space.inputs]
        options = {**case.bounds, "public_model": case.public_model}
        if module == _SEMI and case.schema is None and case.classes is None:
            # ranges and categories are those of the public model
            options = {**case.label, "public_model": case.public_model}
        model = _kind(module, stem, case)(epsilon, random_state=seed, **options)
        return outcome_of(model.fit(case.X, case.y, **known), case)

    return run


def _label(case: Case, epsilon: float, seed: int) -> Outcome:
    model = _kind("hedgerow.label", "LabelPrivate", case)(epsilon=epsilon, random_state=seed, **case.open_features)
    model.fit(case.learnt(case.X), case.y)
    return np.asarray(model.predict(case.learnt(case.X_test))), model.guarantee_


def _label_on_public(case: Case, epsilon: float, seed: int) -> Outcome:
    kind = _kind("hedgerow.label", "LabelPrivate", case)
    if case.classes is None:
        model = kind(epsilon=epsilon, public_model=case.public_model, random_state=seed, **case.open_features)
        return outcome_of(model.fit(case.X, case.y, **case.public), case)
    from sklearn.ensemble import RandomForestClassifier

    # The forest that "public model" is for classes, so that the two can be compared.
    public = RandomForestClassifier(random_state=0)
    model = kind(epsilon=epsilon, public_model=public, random_state=seed, **case.open_features)
    model.fit(case.learnt(case.X), case.y, X_public=case.learnt(case.X_public), y_public=case.y_public)
    return np.asarray(model.predict(case.learnt(case.X_test))), model.guarantee_


def central_runner(module: str, stem: str) -> Callable[[Case, float, int], Outcome]:
    """Return what runs an estimator of the central model, named without its ending."""

    def run(case: Case, epsilon: float, seed: int) -> Outcome:
        model = _kind(module, stem, case)(epsilon, random_state=seed, **case.bounds)
        return outcome_of(model.fit(case.X, case.y), case)

    return run


def _ebm(case: Case, epsilon: float, seed: int) -> Outcome:
    if case.classes is not None and len(case.classes) > 2:
        raise HedgerowError("DP-EBM is for two classes.")
    privacy = importlib.import_module("interpret.privacy")
    ranges: dict[int, tuple[float, float]] = {}
    kinds = []
    for i, feature in enumerate(case.space.features):
        if isinstance(feature, CategoricalFeature):
            ranges[i] = (0.0, float(len(feature.categories) - 1))
            kinds.append("nominal")
        else:
            ranges[i] = (feature.low, feature.high)
            kinds.append("continuous")
    options: dict[str, Any] = {"epsilon": epsilon, "delta": 1e-5, "feature_types": kinds, "privacy_bounds": ranges}
    if case.label_bounds is not None:
        options |= dict(zip(("privacy_target_min", "privacy_target_max"), case.label_bounds, strict=True))
    stem = "DPExplainableBoosting" + ("Regressor" if case.classes is None else "Classifier")
    model = getattr(privacy, stem)(random_state=seed, **options)
    y = case.y if case.label_bounds is None else np.clip(case.y, *case.label_bounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed makes it a simulation: so does ours, and the report says so
        model.fit(case.numbers(case.X), y)
    return np.asarray(model.predict(case.numbers(case.X_test))), None


def _public(case: Case, epsilon: float, seed: int) -> Outcome:
    if case.classes is not None:
        return _end("ensemble:RandomForest", public=True)(case, epsilon, seed)
    return np.asarray(case.public_model.predict(case.X_test)), None


def _end(reference: str, *, public: bool = False, **options: Any) -> Callable[[Case, float, int], Outcome]:
    def run(case: Case, epsilon: float, seed: int) -> Outcome:
        module, stem = reference.split(":")
        model = _kind(f"sklearn.{module}", stem, case)(**options)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        X, y = (case.X_public, case.y_public) if public else (case.X, case.y)
        model.fit(case.numbers(X), y)
        return np.asarray(model.predict(case.numbers(case.X_test))), None

    return run


_CENTRAL = "hedgerow.central"
_LOCAL = "hedgerow.local"
_SEMI = "hedgerow.semi"

CONTESTANTS: Sequence[Contestant] = (
    Contestant("LPDT", "local", _with_public(_LOCAL, "LPDT"), public=True),
    Contestant("AssistedForest", "local", _with_public(_LOCAL, "AssistedForest"), public=True),
    Contestant("SecureSum", "aggregate", _with_public("hedgerow.sums", "SecureSum"), public=True),
    Contestant("HistOfTree", "semi", semi_runner(_SEMI, "HistOfTree"), private_columns=True),
    Contestant(
        "HistOfTree on a public model", "semi", on_public(_SEMI, "HistOfTree"), public=True, private_columns=True
    ),
    Contestant("LabelPrivate", "label", _label),
    Contestant("LabelPrivate on a public model", "label", _label_on_public, public=True),
    Contestant("DiPriMe", "central", central_runner(_CENTRAL, "DiPriMeForest")),
    Contestant("PrivateAnova", "central", central_runner(f"{_CENTRAL}.anova", "PrivateAnova")),
    Contestant(
        "PrivateAnova on a public model", "central", on_public(f"{_CENTRAL}.anova", "PrivateAnova"), public=True
    ),
    Contestant("DP-EBM (interpret)", "central", _ebm, package="interpret"),
    Contestant("public model", "public", _public, public=True),
    Contestant("tree", "none", _end("tree:DecisionTree", min_samples_leaf=20)),
    Contestant("random forest", "none", _end("ensemble:RandomForest", n_estimators=100, min_samples_leaf=3)),
    Contestant("boosting", "none", _end("ensemble:HistGradientBoosting", early_stopping=False)),
    Contestant("one value for all", "none", _end("dummy:Dummy")),
)
"""All methods, in the order of a report."""
