"""What every label mechanism is: bounds and budget in, noisy labels out, with a law that can be enumerated."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from hedgerow.checks import EPSILON, OneOf, Real, Rule, Whole, check_parameters, declared_rules
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid, check_label_bounds, label_numbers, middle
from hedgerow.guarantee import Guarantee, parallel, sequential
from hedgerow.label.estimate import central_prior, decode_prior, prior_budget, scout
from hedgerow.label.prior import Fidelity, LabelPrior, fidelity
from hedgerow.label.release import LabelRelease, Part
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import bernoulli
from hedgerow.tasks.labels.task import NOTES, LabelTask
from hedgerow.tasks.tree.bits import split_epsilon
from hedgerow.types import FloatArray

__all__ = ["LabelMechanism", "PriorMechanism"]

Self = TypeVar("Self", bound="LabelMechanism")
Spends = tuple[tuple[str, Guarantee], ...]
_FINEST = 4096  # grid steps where there is no noise: rounding adds at most 2**-26 of the squared range to a variance
_CURATOR = "the prior is a noisy histogram by a curator who is trusted with all labels"


@dataclass(frozen=True)
class LabelMechanism:
    """Randomise labels once, then train anything on them.

    Labels are clipped to public bounds and rounded (at random, without bias) to a public grid; only then is
    the level randomised, with an exact integer sampler. Nothing is ever read from the labels otherwise.

    Parameters
    ----------
    epsilon : float
        Budget for one label; ``inf`` means no noise, for study.
    label_bounds : (low, high)
        Public range of the label, required.
    n_steps : int, optional
        Steps of the grid; by default fine enough not to matter.
    """

    epsilon: float
    _: KW_ONLY
    label_bounds: tuple[float, float] = None  # type: ignore[assignment]  # required: checked below
    n_steps: int | None = None

    _parameters: ClassVar[dict[str, Rule]] = {"epsilon": EPSILON, "n_steps": Whole() | OneOf(None)}

    def __post_init__(self) -> None:
        check_parameters(vars(self), declared_rules(type(self)), owner=type(self).__name__)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "label_bounds", check_label_bounds(self.label_bounds))

    @property
    def guarantee(self) -> Guarantee:
        """What the noisy labels promise."""
        return self.task.guarantee

    @cached_property
    def task(self) -> LabelTask:
        """What a holder is asked to do, as a public, immutable task."""
        if math.isinf(self.epsilon):
            steps = self.n_steps or _FINEST
            return LabelTask(self._grid(steps), LaplaceNoise(math.inf, steps))
        return self._design()

    def _design(self) -> LabelTask:
        raise NotImplementedError

    def _grid(self, steps: int) -> LabelGrid:
        low, high = self.label_bounds
        return LabelGrid(low, high, steps)

    @property
    def grid(self) -> LabelGrid:
        """The public grid."""
        return self.task.grid

    def law(self, level: int) -> Law:
        """Return the exact law of the output code given a level of :attr:`grid`."""
        return self.task.law(level)

    def fidelity(self, prior: Any) -> Fidelity:
        """Return the closed-form moments of label and output under a prior."""
        return fidelity(self.task.mechanism, self.grid, LabelPrior.of(prior, self.label_bounds))

    def expected_squared_error(self, prior: Any) -> float:
        """Return ``E(noisy label - label)**2`` under a prior, rounding to the grid included; closed form.

        ``prior`` is a :class:`LabelPrior`, "uniform", a histogram ``(heights, nodes)`` or masses of equal bins.
        """
        return self.fidelity(prior).squared_error

    def randomize(self, y: object, randomness: Randomness | int | None = None) -> FloatArray:
        """Return one noisy label for each label; secure randomness unless a source is given."""
        return self.release(y, randomness).labels

    def spends(self, n: int) -> Spends:
        """Return what randomising ``n`` labels will spend, and on what."""
        return (("label randomisation", self.guarantee),)

    def release(
        self, y: object, randomness: Randomness | int | None = None, *, averaging: float | None = None
    ) -> LabelRelease:
        """Randomise labels and say how it was done and what it cost.

        ``averaging`` (a public number) tells mechanisms that have a choice how many labels the learner will
        average over; None asks for the least expected squared error of a single label.
        """
        source = as_randomness(randomness)
        labels = self._labels(y)
        noisy = self.task.randomize(labels, source)
        claim = replace(self.guarantee, simulation=source.simulation)
        return LabelRelease(noisy, (Part(self.task),), self._prior, claim, self.spends(labels.size))

    def _labels(self, y: object) -> FloatArray:
        """Return private labels as numbers; missing ones count as the middle of the range, as on any grid here."""
        low, high = self.label_bounds
        return label_numbers(y, (low, high), middle(low, high, None, "the label")).astype(np.float64)

    @property
    def _prior(self) -> LabelPrior | None:
        return None


@dataclass(frozen=True)
class PriorMechanism(LabelMechanism):
    """A mechanism that is shaped by a prior, which is public or learnt privately from the labels.

    Parameters
    ----------
    prior : optional
        A :class:`LabelPrior`, "uniform", a histogram ``(heights, nodes)`` or masses of equal bins; it must be
        public. None: unknown, and learnt from the labels at a cost.
    prior_share : float or "auto"
        The share of the holders (or of the budget) that goes to the prior; "auto" chooses by n and epsilon.
    prior_from : {"auto", "holders", "budget"}
        "holders": a random share of the holders scouts for the rest, with all of epsilon each; the groups are
        disjoint, so the cost is the maximum. "budget": every label is used twice, the costs add up to epsilon.
        "auto" is "holders", or "budget" with ``trust="central"``.
    trust : {"local", "central"}
        Who may see the labels. "local": nobody; the prior is learnt from what holders randomised themselves.
        "central": a curator who is trusted with all labels publishes a noisy histogram of them (Algorithm 4 of the
        paper), and the guarantee says so; at a small epsilon that is far more accurate. With a public prior the
        mechanism is local anyway.
    averaging : float, optional
        See :meth:`release`.
    """

    _: KW_ONLY
    prior: Any = None
    prior_share: float | str = 0.5
    prior_from: str = "auto"
    trust: str = "local"
    averaging: float | None = None

    _parameters: ClassVar[dict[str, Rule]] = {
        "prior_share": Real(0, 1) | OneOf("auto"),
        "prior_from": OneOf("auto", "holders", "budget"),
        "trust": OneOf("local", "central"),
        "averaging": Real(1, ends="both") | OneOf(None),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is not None:
            object.__setattr__(self, "prior", LabelPrior.of(self.prior, self.label_bounds))
        if self.trust == "central" and self.prior_from == "holders":
            raise HedgerowError(
                "prior_from='holders' asks holders themselves, and trust='central' a curator who sees all labels: "
                "leave one of them out."
            )

    @property
    def _prior(self) -> LabelPrior | None:
        return self.prior  # type: ignore[no-any-return]

    @property
    def _known(self) -> LabelPrior:
        if self.prior is None:
            raise HedgerowError(
                f"{type(self).__name__} has no prior yet: call randomize(y) or release(y), which learn it at a cost, "
                "or pass a public 'prior'."
            )
        return self.prior  # type: ignore[no-any-return]

    @property
    def guarantee(self) -> Guarantee:
        """What the noisy labels promise, the prior included."""
        if self.prior is not None:
            return super().guarantee
        return self._total(self.spends(1))

    @property
    def by_holders(self) -> bool:
        """Whether an unknown prior comes from some of the holders, so that each of them answers once."""
        return self.prior_from == "holders" or (self.prior_from == "auto" and self.trust == "local")

    def _total(self, spends: Spends) -> Guarantee:
        """Return the claim for all spends; the parts were cut so that they add up to at most epsilon."""
        parts = [claim for _, claim in spends]
        joint = parallel(*parts, assignment="independent") if self.by_holders else sequential(*parts)
        notes = tuple(dict.fromkeys(joint.notes))
        return replace(joint, epsilon=max(self.epsilon, joint.epsilon), notes=notes)

    def _split(self, n: int) -> tuple[float, float]:
        if self.by_holders:
            return self.epsilon, self.epsilon
        return split_epsilon(self.epsilon, self._prior_share(n))

    def _prior_share(self, n: int) -> float:
        share = self.prior_share
        return prior_budget(self.epsilon, n, self.trust) if isinstance(share, str) else float(share)

    def spends(self, n: int) -> Spends:
        """Return what randomising ``n`` labels will spend: on the prior, and on the labels."""
        if self.prior is not None:
            return super().spends(n)
        first, second = self._split(n)
        central = self.trust == "central"
        learnt = Guarantee(
            first, protects="label", trust="central" if central else "local", neighbours="label",
            notes=(NOTES[0], _CURATOR) if central else NOTES[:1],
        )  # fmt: skip
        sent = Guarantee(second, protects="label", trust="local", neighbours="label", notes=NOTES)
        return (("label prior", learnt), ("label randomisation", sent))

    def expected_squared_error(self, prior: Any) -> float:
        """Return ``E(noisy label - label)**2`` under a prior, as if that prior had been learnt."""
        if self.prior is not None:
            return super().expected_squared_error(prior)
        known = self.with_prior(prior, self._split(1)[1])
        return known.expected_squared_error(prior)

    def with_prior(self: Self, prior: Any, epsilon: float | None = None) -> Self:
        """Return the same mechanism with a known prior (and what is left of the budget)."""
        return replace(self, prior=prior, epsilon=self.epsilon if epsilon is None else epsilon)  # type: ignore[call-arg]

    def release(
        self, y: object, randomness: Randomness | int | None = None, *, averaging: float | None = None
    ) -> LabelRelease:
        """Learn the prior if it is unknown, randomise the labels, and say what both cost."""
        shaped = self if averaging is None or self.averaging is not None else replace(self, averaging=averaging)
        if self.prior is not None:
            return super(PriorMechanism, shaped).release(y, randomness)
        source = as_randomness(randomness)
        labels = self._labels(y)
        if self.by_holders:
            return shaped._ask_holders(labels, source)
        spends = self.spends(labels.size)
        prior = self._learn(labels, spends[0][1].epsilon, source)
        known = shaped.with_prior(prior, spends[1][1].epsilon)
        noisy = known.task.randomize(labels, source)
        claim = replace(self._total(spends), simulation=source.simulation)
        return LabelRelease(noisy, (Part(known.task),), prior, claim, spends)

    def _learn(self, labels: FloatArray, epsilon: float, source: Randomness) -> LabelPrior:
        if self.trust == "central":
            return central_prior(labels, self.label_bounds, epsilon, source)
        task = LabelTask(*scout(self.label_bounds, epsilon))
        return decode_prior((task, task.codes(labels, source)))

    def _ask_holders(self, labels: FloatArray, source: Randomness) -> LabelRelease:
        """Let a share of the holders, each chosen by its own coin, scout for the others.

        The others' mechanism is shaped by the scouts' reports alone. What is done with the noisy labels afterwards is
        post-processing, and may use the prior that all reports together speak for.
        """
        coin = bernoulli(round(self._prior_share(labels.size) * 2**64), labels.size, source)
        scouts, others = np.flatnonzero(coin), np.flatnonzero(~coin)
        task = LabelTask(*scout(self.label_bounds, self.epsilon))
        first = task.codes(labels[scouts], source)
        known = self.with_prior(decode_prior((task, first)))
        second = known.task.codes(labels[others], source)
        noisy = np.empty(labels.size)
        noisy[scouts], noisy[others] = task.labels(first), known.task.labels(second)
        spends = self.spends(labels.size)
        claim = replace(self._total(spends), simulation=source.simulation)
        prior = decode_prior((task, first), (known.task, second))
        return LabelRelease(noisy, (Part(task, scouts), Part(known.task, others)), prior, claim, spends)
