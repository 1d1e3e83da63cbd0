"""What experiments declare is there, and what is listed loads quickly."""

import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow_experiments
from hedgerow_experiments.experiment import call
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.pages import pages
from hedgerow_experiments.registry import all_experiments


@pytest.mark.parametrize("name", all_experiments())
def test_every_function_that_an_experiment_names_is_there(name):
    experiment = all_experiments()[name]
    for reference in filter(None, (experiment.compute, experiment.tidy, experiment.page)):
        assert callable(call(reference))
    assert len(set(experiment.keys())) == len(list(experiment.keys())) > 0


def test_pages_need_results_except_those_about_all_experiments():
    made = [set(make(Evidence({}))) for make in pages()]
    assert {frozenset(files) for files in made} == {
        frozenset(), frozenset({"claims.md"}), frozenset({"status.md"}), frozenset({"index.html"}),
    }  # fmt: skip
    assert len(made) > 10


def test_declarations_load_neither_numpy_nor_scikit_learn():
    script = "import sys\nfrom hedgerow_experiments import commands, registry\nregistry.all_experiments()\n"
    script += "print(*{name.split('.')[0] for name in sys.modules} & {'numpy', 'sklearn', 'pandas', 'matplotlib'})"
    paths = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=paths)
    assert done.stdout.strip() == ""


def test_no_file_is_a_monster():
    folder = Path(hedgerow_experiments.__file__).parent
    lengths = {path.name: len(path.read_text().splitlines()) for path in folder.rglob("*.py")}
    assert {name: n for name, n in lengths.items() if n > 600} == {}
