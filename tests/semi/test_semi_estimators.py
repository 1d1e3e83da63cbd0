"""HistOfTree, KRR, ParDT and LabelDT as scikit-learn estimators."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import hedgerow
from hedgerow.baselines import KRRRegressor, LabelTreeRegressor, PartialTreeRegressor
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.record_laplace import equal_share
from hedgerow.semi import HistOfTreeRegressor
from hedgerow.semi.masks import read_mask
from hedgerow.tasks.partly_public.choose import choose, criterion

ALL = [HistOfTreeRegressor, KRRRegressor, PartialTreeRegressor, LabelTreeRegressor]
WIDE = {"label_bounds": (-1000.0, 1000.0), "feature_bounds": (-100.0, 100.0)}
UNIT = {"label_bounds": (0.0, 2.0), "feature_bounds": (0.0, 1.0)}
RNG = np.random.default_rng(0)
X = RNG.random((4000, 4))
Y = np.clip(X[:, 0] + X[:, 3] + RNG.normal(0, 0.1, 4000), 0, 2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        HistOfTreeRegressor(2.0, **WIDE),
        HistOfTreeRegressor(2.0, **WIDE, rule="cart", max_depth="auto", n_bins="auto", response="bits"),
        HistOfTreeRegressor(2.0, **WIDE, hide_mask=True),
        KRRRegressor(2.0, **WIDE),
        PartialTreeRegressor(2.0, **WIDE),
        LabelTreeRegressor(2.0, **WIDE),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ALL)
def test_names_are_public_and_bounds_are_required(cls):
    assert getattr(hedgerow, cls.__name__) is cls
    with pytest.raises(ValueError, match="label_bounds"):
        cls(feature_bounds=(0, 1)).fit(X, Y)
    if cls in (HistOfTreeRegressor, KRRRegressor):
        with pytest.raises(ValueError, match="feature_bounds"):
            cls(label_bounds=(0, 2)).fit(X, Y)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("private", [[True, False, False, False], "personal"])
def test_fit_predict_with_aligned_and_personal_masks(cls, private):
    mask = RNG.random(X.shape) < 0.3 if private == "personal" else private
    tree = cls(8.0, **UNIT, random_state=0).fit(X, Y, private=mask)
    assert ((tree.predict(X) - Y) ** 2).mean() < Y.var()
    assert (tree.predict(X) >= 0).all() and (tree.predict(X) <= 2).all()
    guarantee = tree.guarantee_
    assert guarantee.epsilon == 8.0 and guarantee.trust == "local" and guarantee.simulation
    again = clone(tree).fit(X, Y, private=mask)
    assert (again.predict(X) == tree.predict(X)).all()


def test_guarantees():
    mask = np.zeros(X.shape, dtype=bool)
    mask[:2000, 0] = True
    for cls in ALL[:3]:
        policy, personal = (cls(1.0, **UNIT).fit(X, Y, private=m).guarantee_ for m in ([True] + [False] * 3, mask))
        assert policy.protects == personal.protects == "private features and label"
        assert not policy.simulation
        assert any("fixed in advance" in n for n in policy.notes)
        assert any("must not depend" in n for n in personal.notes)
    assert LabelTreeRegressor(1.0, **UNIT).fit(X, Y).guarantee_.protects == "label"
    hidden = HistOfTreeRegressor(1.0, **UNIT, hide_mask=True).fit(X, Y, private=mask).guarantee_
    assert any("covers the mask" in n for n in hidden.notes)


def test_hide_mask_fit_does_not_read_the_mask():
    one, two = (
        HistOfTreeRegressor(4.0, **UNIT, hide_mask=True, random_state=1).fit(X, Y, private=m)
        for m in (RNG.random(X.shape) < 0.5, [True, False, False, False])
    )
    assert one.aggregate_.to_bytes() == two.aggregate_.to_bytes()


def test_bad_arguments_are_named():
    for arguments, name in (
        ({"rule": "best"}, "rule"),
        ({"response": "loud"}, "response"),
        ({"n_bins": 0}, "n_bins"),
        ({"n_private": 9}, "n_private"),
        ({"max_depth": -1}, "max_depth"),
        ({"label_share": 0.0}, "label_share"),
        ({"n_bins": "many"}, "n_bins"),
        ({"epsilon": -1}, "epsilon"),
    ):
        with pytest.raises(HedgerowError, match=name):
            HistOfTreeRegressor(**{"n_private": 1, **UNIT, **arguments}).fit(X, Y, private=[True] * 2 + [False] * 2)
    with pytest.raises(ValueError, match="private"):
        HistOfTreeRegressor(**UNIT).fit(X, Y, private=[True])


def test_label_bounds_clip_on_the_holders_side():
    tree = HistOfTreeRegressor(np.inf, **UNIT, max_depth=0, n_private=0).fit(X, Y * 100, private=[False] * 4)
    assert tree.predict(X[:1])[0] == pytest.approx(np.clip(Y * 100, 0, 2).mean(), abs=1e-3)


def test_intervals_cover_the_noiseless_cell_means():
    """At level 0.999 over 16 cells; a miss of more than two has probability below 1e-6."""
    options = {**UNIT, "n_private": 1, "max_depth": 3, "rule": "max_edge", "random_state": 3}
    tree = HistOfTreeRegressor(6.0, **options).fit(X, Y, private=[True, False, False, False])
    low, high = tree.predict_interval(X, 0.999)
    leaf, missed = tree.apply(X), 0
    for cell in np.unique(leaf):
        mean, at = Y[leaf == cell].mean(), int(np.flatnonzero(leaf == cell)[0])
        missed += not low[at] <= mean <= high[at]
    assert missed <= 2


def test_krr_divides_epsilon_over_features_and_label():
    for epsilon, parts in ((1.0, 3), (0.7, 7), (2.0, 4)):
        assert parts * Fraction(equal_share(epsilon, parts)) <= Fraction(epsilon)
        assert equal_share(epsilon, parts) == pytest.approx(epsilon / parts)


def test_partial_tree_ignores_private_features():
    mask = [True, True, False, False]
    one = PartialTreeRegressor(2.0, **UNIT, random_state=0).fit(X, Y, private=mask)
    changed = X.copy()
    changed[:, :2] = 1 - changed[:, :2]
    two = PartialTreeRegressor(2.0, **UNIT, random_state=0).fit(changed, Y, private=mask)
    assert (one.predict(X) == two.predict(X)).all()


def test_criterion_is_the_papers():
    """(15) at d = 5, s = 2, written out."""
    W = RNG.random((1000, 5)) < [0.9, 0.8, 0.3, 0.2, 0.1]
    s, p, epsilon, n, d = 2, 4, 2.0, 1000, 5
    delta = np.mean(2.0 ** (W[:, 2:].sum(axis=1) * p / (d - s)))
    exact = 2 ** (p * (d + s) / (d - s)) * np.log(n) / (n * epsilon**2) * delta + 2 ** (-2 * p / (d - s))
    assert criterion(W, epsilon, s, p, 2 ** (p / (d - s))) == pytest.approx(exact)


def test_auto_follows_the_masks():
    W = np.zeros((10_000, 6), dtype=bool)
    W[:, :2] = True
    aligned = choose(W, 4.0)
    assert aligned.n_private == 2 and aligned.max_depth >= 1
    assert choose(np.zeros((10_000, 6), dtype=bool), 4.0).n_private == 0
    assert choose(np.ones((10_000, 6), dtype=bool), 4.0).max_depth == 0
    assert choose(W, 4.0, max_depth=3).max_depth == 3
    assert choose(W, 4.0, n_bins=3).n_bins == 3
    lax, strict = choose(W, 8.0).max_depth, choose(W, 0.5).max_depth
    assert lax >= strict


def test_mask_files(tmp_path):
    path = tmp_path / "mask.csv"
    path.write_text("b,a\n1,0\nfalse,Private\n")
    assert read_mask(path, ("a", "b", "c"), 2).tolist() == [[False, True, True], [True, False, True]]
    for text, word in (
        ("a\n1\n", "one row"),
        ("z\n1\n0\n", "unknown"),
        ("a\n2\n0\n", "expected 0 or 1"),
        ("a,a\n1,0\n1,0\n", "twice"),
        ("a,b\n1\n0,1\n", "entries"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=word):
            read_mask(path, ("a", "b"), 2)


def test_data_frames_and_categories():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"job": np.array(list("abcd"))[(4 * X[:, 0]).astype(int)], "age": X[:, 1], "far": X[:, 3]})
    y = np.where(frame["job"].isin(["a", "c"]), 0.2, 1.8)
    categories = {"job": ["a", "b", "c", "d"]}
    for cls, extra in (
        (HistOfTreeRegressor, {"n_bins": 4, "max_depth": 1}),
        (KRRRegressor, {}),
        (LabelTreeRegressor, {}),
    ):
        tree = cls(9.0, label_bounds=(0, 2), feature_bounds=(0, 1), categories=categories, random_state=0, **extra)
        tree.fit(frame, y, private=[True, False, False])
        assert ((tree.predict(frame) - y) ** 2).mean() < 0.5 * y.var()
    policy = HistOfTreeRegressor(1.0, **UNIT, random_state=0).fit(frame[["age", "far"]], y, private=[False, True])
    assert any("private: far" in note for note in policy.guarantee_.notes)
