"""The NumPy form: as an estimator of scikit-learn, and as a file that needs neither hedgerow nor scikit-learn."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from hedgerow import DiPriMeForestClassifier, LPDTRegressor
from hedgerow.export import formula_of, to_python, to_sklearn
from hedgerow.export.check import awkward_records

KINDS = ["a", "b", "quote\" and '", '"""\nraise SystemExit(9)\n"""', "\\", "☂"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(0, 10, 400), 'kind """ \\ \n': rng.choice(KINDS, 400)})
    return X, X["age"] + (X.iloc[:, 1] == "a")


@pytest.fixture(scope="module")
def tree(table):
    X, y = table
    return LPDTRegressor(8.0, label_bounds=(0, 12), max_depth=5, random_state=0).fit(X, y, X_public=X, y_public=y)


def frame_of(model):
    formula = formula_of(model)
    frame = pd.DataFrame(awkward_records(formula, 500), columns=[column.name for column in formula.inputs])
    return frame.astype({"age": float})


SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
sys.modules["sklearn"] = sys.modules["hedgerow"] = None
from exported import model
columns = json.loads(sys.stdin.read())
print(json.dumps([model.predict(columns).tolist(), model.facts_["statement"]]))
"""


def test_the_file_needs_numpy_alone_and_runs_nothing_that_a_name_says(tree, tmp_path):
    (tmp_path / "exported.py").write_text(to_python(tree), encoding="utf-8")
    frame = frame_of(tree)
    columns = {name: [None if value != value else value for value in frame[name].tolist()] for name in frame.columns}
    command = [sys.executable, "-I", "-W", "error", "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, input=json.dumps(columns), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    predicted, statement = json.loads(done.stdout)
    assert predicted == tree.predict(frame).tolist() and statement == str(tree.guarantee_)


def test_frames_mappings_and_arrays(tree):
    frame = frame_of(tree)
    wanted = tree.predict(frame)
    copy = to_sklearn(tree)
    for X in (frame, frame[frame.columns[::-1]], frame.assign(more=1.0), frame.to_numpy(), frame.to_numpy().tolist()):
        assert np.array_equal(copy.predict(X), wanted)
    assert copy.predict(frame[:0]).shape == (0,)
    with pytest.raises(ValueError, match=r"X lacks the columns \['age'\]"):
        copy.predict(frame.drop(columns="age"))
    with pytest.raises(ValueError, match="X must have 2 columns"):
        copy.predict(np.zeros((3, 5)))


def test_it_is_an_estimator_of_scikit_learn(tree):
    frame = frame_of(tree)
    wanted = tree.predict(frame)
    copy = to_sklearn(tree)
    for other in (clone(copy), pickle.loads(pickle.dumps(copy))):
        assert np.array_equal(other.predict(frame), wanted)
    assert copy.score(frame, wanted) == 1.0 and copy.n_features_in_ == 2
    pipeline = make_pipeline(FunctionTransformer(), FrozenEstimator(copy)).fit(frame, wanted)
    assert np.array_equal(pipeline.predict(frame), wanted)
    with pytest.raises(ValueError, match="FrozenEstimator"):
        copy.fit(frame, wanted)
    with pytest.raises(ValueError, match="has no program"):
        type(copy)().predict(frame)


def test_classes_keep_their_type(table):
    X, y = table
    options = {"feature_bounds": {"age": (0, 10)}, "categories": {X.columns[1]: KINDS}, "classes": [0, 5, 9]}
    forest = DiPriMeForestClassifier(8.0, **options, n_estimators=3, random_state=0)
    forest.fit(X, np.array([0, 5, 9])[np.digitize(y, [4, 8])])
    copy = to_sklearn(forest)
    frame = frame_of(forest)
    assert copy.classes_.tolist() == [0, 5, 9] and copy.classes_.dtype.kind == "i"
    assert np.array_equal(copy.predict(frame), forest.predict(frame))
    assert np.abs(copy.predict_proba(frame) - forest.predict_proba(frame)).max() < 1e-12
