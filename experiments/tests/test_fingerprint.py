"""Results know the code that they were computed by: a change is seen, what changes no result is not."""

import dataclasses
import sys
import textwrap
from pathlib import Path

import pytest

from hedgerow.cli import main
from hedgerow_experiments import fingerprint as module
from hedgerow_experiments.ages import Ages, ages, warning
from hedgerow_experiments.experiment import Experiment, Group, Key, Selection
from hedgerow_experiments.export import committed, export, held_cells, load_rows, open_results, read_rows, write_rows
from hedgerow_experiments.fingerprint import fingerprint, fingerprints, reached
from hedgerow_experiments.library.declared import LIBRARY
from hedgerow_experiments.results import Results
from hedgerow_experiments.runner import missing, outdated, run
from hedgerow_experiments.tidy import in_order

_RESULTS = Path(__file__).parents[1] / "results"
TOY = Experiment("toy", "A toy", "none", ("A", "B"), (Group("m"), Group("n")), (1.0,), 2, "coded_cells:compute",
                 keep="all", choose="none")  # fmt: skip
BEFORE = '''
"""Cells."""
from __future__ import annotations

def compute(key, seed):
    """Return a number."""
    return {key.group: 1.0}  # one
'''


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A module of cells that a test can rewrite, as one does between two runs."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # of the same second and length it would be taken for fresh

    def write(text):
        (tmp_path / "coded_cells.py").write_text(textwrap.dedent(text))
        for cached in (module._digest, module._path, module._read):
            cached.cache_clear()
        sys.modules.pop("coded_cells", None)
        return fingerprint(TOY.compute)

    yield write
    sys.modules.pop("coded_cells", None)


def test_what_a_result_depends_on_is_in_the_digest_and_nothing_else(source):
    first = source(BEFORE)
    assert source(BEFORE.replace("# one", "# the only one").replace("a number", "the number")) == first
    typed = "if TYPE_CHECKING:\n    from hedgerow.label import LabelPrivateRegressor\n\ndef compute"
    assert source(BEFORE.replace("def compute", typed)) == first
    assert source(BEFORE.replace("1.0", "2.0")) != first
    lazily = BEFORE.replace("return {", "from hedgerow.errors import HedgerowError; return {")
    with_import = source(lazily)
    assert with_import != first and "hedgerow.errors" in reached("coded_cells")
    assert "hedgerow.baselines" not in reached("coded_cells")
    source(BEFORE.replace("return {", "name = 'hedgerow.baselines'; return {"))
    assert "hedgerow.baselines" in reached("coded_cells"), "modules are loaded by name, too"
    assert "hedgerow.baselines" not in reached("coded_cells", ("hedgerow.errors",))


def test_a_file_that_is_reached_by_way_of_others_counts(tmp_path, monkeypatch):
    """A change of one module of the library makes the cells of methods that use it other ones, and of no others."""
    before = fingerprints(LIBRARY)
    files = reached("hedgerow_experiments.library.compute", ("hedgerow.sums",))
    changed = files["hedgerow.sums.design"]
    read = module._read

    def other(path):
        return read(path)._replace(digest="changed") if path == changed else read(path)

    monkeypatch.setattr(module, "_read", other)
    module._digest.cache_clear()
    after = fingerprints(LIBRARY)
    module._digest.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"SecureSum"}


def test_every_method_of_the_library_reaches_its_own_code():
    own = {
        "LPDT": "hedgerow.local.lpdt", "AssistedForest": "hedgerow.local.assisted.classifier",
        "HistOfTree on a public model": "hedgerow.semi.learn", "PrivateAnova": "hedgerow.central.anova.descent",
        "LabelPrivate": "hedgerow.label.residual", "DiPriMe": "hedgerow.central.forest",
        "SecureSum": "hedgerow.tasks.sums.learn", "public model": "hedgerow.public.stack",
        "DP-RF": "hedgerow.baselines", "tree": "hedgerow.compare.contestants",
    }  # fmt: skip
    uses = {group.name: group.uses for group in LIBRARY.groups}
    for method, name in own.items():
        found = reached("hedgerow_experiments.library.compute", uses[method])
        assert name in found, (method, name)
        assert not any(".page" in reachable for reachable in found if reachable.startswith("hedgerow_experiments"))


def test_cells_of_other_code_are_kept_until_they_are_wanted_fresh(source, tmp_path):
    folder = tmp_path / "results"
    old = source(BEFORE)
    run(TOY, Selection(repeats=1), folder=folder, quiet=True)
    new = source(BEFORE.replace("1.0", "2.0"))
    assert warning(TOY, folder).startswith("toy: 4 cells are kept that were computed by other code")
    results = run(TOY, folder=folder, quiet=True)
    assert {value[key[4]] for key, value in results if key[1] == 0} == {1.0}
    assert {value[key[4]] for key, value in results if key[1] == 1} == {2.0}
    assert len(outdated(TOY, results)) == 4 == len(missing(TOY, results, fresh=True))
    assert ages(TOY, load_rows(TOY, folder)) == Ages(4, {"m": 2, "n": 2}, 0)
    part = run(TOY, Selection(datasets=("A",)), folder=folder, quiet=True, fresh=True)
    assert {(key[0], value[key[4]]) for key, value in part if key[1] == 0} == {("A", 2.0), ("B", 1.0)}
    whole = run(TOY, folder=folder, quiet=True, fresh=True)
    assert {value[key[4]] for key, value in whole} == {2.0} and set(whole.codes.values()) == {new} != {old}
    again = Results(whole.path)
    assert dict(again) == dict(whole) and again.codes == whole.codes
    lines = whole.path.read_bytes()
    assert warning(TOY, folder) == "" and not missing(TOY, whole, fresh=True)
    run(TOY, folder=folder, quiet=True, fresh=True)
    assert whole.path.read_bytes() == lines


def test_cells_of_before_codes_were_kept_are_of_other_code(source, tmp_path):
    source(BEFORE)
    results = open_results(TOY, tmp_path)
    results.add(Key("A", 0, "", 1.0, "m").write(), {"m": 7.0})
    assert outdated(TOY, results) == [Key("A", 0, "", 1.0, "m")] and ages(TOY, load_rows(TOY, tmp_path)).unknown == 1
    run(TOY, folder=tmp_path, quiet=True, fresh=True)
    assert {row.value for row in load_rows(TOY, tmp_path)} == {1.0}


def test_files_of_rows_tell_the_code_and_are_added_to_by_it(source, tmp_path):
    toy = dataclasses.replace(TOY, repeats=1)
    first = source(BEFORE)
    run(toy, folder=tmp_path, quiet=True)
    export(toy, tmp_path)
    (tmp_path / "toy.jsonl").unlink()
    assert {row.code for row in load_rows(toy, tmp_path)} == {first}
    assert len(held_cells(toy, tmp_path)) == len(held_cells(toy, tmp_path, fresh=True)) == 4
    second = source(BEFORE.replace("1.0", "2.0"))
    assert len(held_cells(toy, tmp_path)) == 4 and held_cells(toy, tmp_path, fresh=True) == set()
    assert "4 cells" in warning(toy, tmp_path, adding=True) and warning(toy, tmp_path) == ""
    run(toy, Selection(datasets=("A",)), folder=tmp_path, quiet=True, fresh=True)
    export(toy, tmp_path, adding=True)
    (tmp_path / "toy.jsonl").unlink()
    assert {(row.dataset, row.code) for row in load_rows(toy, tmp_path)} == {("A", second), ("B", first)}


def test_files_without_codes_stay_as_they_are(tmp_path):
    rows = [row._replace(code="") for row in read_rows("library", committed("library", _RESULTS))[:50]]
    write_rows(rows, tmp_path / "a.csv.gz")
    assert read_rows("library", tmp_path / "a.csv.gz") == rows
    write_rows([rows[0], rows[1]._replace(code="ab")], tmp_path / "b.csv.gz")
    assert [row.code for row in read_rows("library", tmp_path / "b.csv.gz")] == ["", "ab"]


def test_the_commands_tell_of_other_code(tmp_path, capsys):
    results = Results(tmp_path / "library.jsonl")
    cells = [Key("DIA", r, "regression", 0.0, m).write() for r in (0, 1) for m in ("tree", "one value for all")]
    for cell in cells:
        results.add(cell, {"mse": 1.0}, code="0123456789ab")
    one = ["--datasets", "DIA", "--methods", "tree", "--repeats", "1", "--out", str(tmp_path), "--quiet"]
    assert main(["bench", "run", "library", *one]) == 0
    assert "1 cells are kept that were computed by other code than this (tree)" in capsys.readouterr().err
    assert main(["bench", "show", "library", "--no-tables", "--out", str(tmp_path)]) == 0
    assert "0 rows of this code; 4 of other code (one value for all 2, tree 2)" in capsys.readouterr().out
    assert main(["bench", "run", "library", "--fresh", *one]) == 0
    assert capsys.readouterr().err == ""
    assert main(["bench", "status", "--out", str(tmp_path)]) == 0
    assert "library: 1 rows of this code; 3 of other code" in capsys.readouterr().out


def test_a_cell_that_failed_before_has_a_score_and_has_not_failed(tmp_path):
    rows = sorted(read_rows("library", committed("library", _RESULTS))[:2], key=in_order)
    path = committed("library", tmp_path)
    path.parent.mkdir()
    write_rows([rows[0]._replace(metric="failed"), rows[1]], path)
    results = open_results(LIBRARY, tmp_path)
    first = rows[0]
    key = Key(first.dataset, first.repeat, first.setting, first.epsilon or 0.0, first.method)
    results.add(key.write(), {first.metric: first.value}, code=first.code)
    export(LIBRARY, tmp_path, adding=True)
    assert read_rows("library", path) == rows
