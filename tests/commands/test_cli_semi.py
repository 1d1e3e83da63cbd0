"""Two rounds through the command line: the same as through the library, and never a second answer."""

import contextlib
import errno
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from hedgerow import tables
from hedgerow.commands import answer, kept
from hedgerow.tasks.partly_public import CellTask, CorrectedModel, ResidualTask, Secrets, SemiModel, SemiTask
from hedgerow.tasks.reports import Reports

NAMES = ("area", "heating", "people")
PUBLIC = [
    "--feature-bounds",
    "area=20:150",
    "--feature-bounds",
    "people=1:5",
    "--categories",
    "heating=electric,gas,pump",
]
DESIGN = [
    "design",
    "--target",
    "kwh",
    "--epsilon",
    "4",
    "--label-bounds",
    "0:60",
    "--features",
    ",".join(NAMES),
    *PUBLIC,
]
SEED = ["--seed", "7"]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "semi.md"


def frame(columns):
    data = {n: np.asarray(columns[n], dtype=object if n == "heating" else float) for n in NAMES}
    return tables.Frame(data, len(data["area"]))


def design(shell, *mask, output="task.json"):
    shell.ok(*DESIGN, *(mask or ("--private-columns", "area")), "-o", output)


def first(shell, *more, task="task.json", output="first.bin", secrets="secrets.bin"):
    return shell.ok("privatize", task, "private.csv", "-o", output, "--secrets", secrets, *more)


def second(*more, task="cells.json", output="second.bin", secrets="secrets.bin", private="private.csv"):
    return ["privatize", task, private, "-o", output, "--secrets", secrets, *more]


@pytest.fixture
def begun(shell):
    """After the first round and ``grow``."""
    design(shell)
    first(shell)
    shell.ok("grow", "task.json", "first.bin", "-o", "cells.json", "--max-depth", "2", "--n-bins", "2")
    return shell


@pytest.fixture
def answered(begun):
    begun.ok(*second())
    return begun


def personal_mask(n):
    return np.random.default_rng(4).random((n, 3)) < 0.5


def write_mask(mask, path="mask.csv", names=NAMES):
    rows = [",".join(names), *(",".join(str(int(v)) for v in row) for row in mask)]
    Path(path).write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize("mode", ["policy", "personal", "hidden"])
def test_cli_equals_library(shell, homes, mode):
    options = {"policy": ["--private-columns", "area"], "personal": ["--personal"], "hidden": ["--hide-mask"]}
    private, new = homes(2000, 2), homes(50, 3)
    design(shell, *options[mode])
    task = SemiTask.from_json(Path("task.json").read_text())
    assert task.masks == mode and task.space.names == NAMES and task.target == "kwh"

    mask = personal_mask(2000) if mode == "personal" else None
    given = [] if mask is None else ["--mask", "mask.csv"]
    if mask is not None:
        write_mask(mask)
    first(shell, *SEED, *given)
    reports = task.privatize(frame(private), private["kwh"], private=mask, randomness=7)
    secrets = reports.kept
    assert Path("first.bin").read_bytes() == reports.to_bytes()
    assert Path("secrets.bin").read_bytes() == secrets.to_bytes()

    shell.ok("grow", "task.json", "first.bin", "-o", "cells.json", "--rule", "cart", "--n-bins", "2", "--seed", "1")
    cells = task.totals().add(Reports.from_bytes(task, reports.to_bytes())).model(rule="cart", n_bins=2, randomness=1)
    assert CellTask.from_json(Path("cells.json").read_text()) == cells and cells.n_cells > 1

    shell.ok(*second("--seed", "8"))
    replies = cells.privatize(frame(private), kept=secrets, randomness=8)
    assert Path("second.bin").read_bytes() == replies.to_bytes()
    assert Path("secrets.bin").read_bytes() == secrets.to_bytes()  # both marked

    shell.ok("aggregate", "cells.json", "second.bin", "--first", "first.bin", "-o", "model.json")
    model = cells.totals().add(replies).model()
    assert SemiModel.from_json(Path("model.json").read_text()) == model and model.simulation

    shell.ok("predict", "model.json", "new.csv", "-o", "predictions.csv", "--interval", "0.9")
    rows = shell.rows("predictions.csv")
    assert rows[0][-3:] == ["prediction_low", "prediction_high", "prediction"]
    assert [float(r[-1]) for r in rows[1:]] == model.predict(frame(new)).tolist()


def test_auto_and_summaries(answered):
    found = json.loads(answered.ok("grow", "task.json", "first.bin", "-o", "auto.json", "--json"))
    assert found["n_cells"] > 1 and found["n_reports"] == 2000 and not found["simulation"]
    found = json.loads(answered.ok("aggregate", "cells.json", "second.bin", "-o", "m.json", "--shrink", "0", "--json"))
    assert found["n_reports"] == 2000 and found["labels_checked"] is False and found["guarantee"]["epsilon"] == 4
    assert SemiModel.from_json(Path("m.json").read_text()).shrink == 0
    out = answered.ok("predict", "m.json", "new.csv", "-o", "p.parquet")
    assert out.startswith("50 predictions")


def test_files_of_several_devices(begun):
    first(begun, output="more.bin", secrets="more_secrets.bin")
    begun.ok("grow", "task.json", "first.bin", "more.bin", "-o", "both.json", "--max-depth", "1")
    begun.ok(*second(task="both.json"))
    begun.ok(*second(task="both.json", output="second2.bin", secrets="more_secrets.bin"))
    both = ["--first", "first.bin", "--first", "more.bin"]
    out = begun.ok("aggregate", "both.json", "second.bin", "second2.bin", *both, "-o", "m.json")
    assert out.startswith("4,000 reports") and "labels agree with the first round" in out
    line = begun.fails("aggregate", "both.json", "second.bin", "second2.bin", "--first", "first.bin", "-o", "x.json")
    assert "second2.bin: a report of the second round has no report of the first" in line


def test_ranges_from_public_records(shell):
    shell.ok(
        "design", "public.csv", "--target", "kwh", "--epsilon", "2", "--label-bounds", "0:60", "--personal",
        "--two-rounds", "--feature-bounds", "income=0:9", "-o", "task.json",
    )  # fmt: skip
    space = SemiTask.from_json(Path("task.json").read_text()).space
    assert space.names == ("area", "heating", "people", "income")
    assert space.features[1].categories == ("electric", "gas", "pump") and space.high[3] == 9 and space.low[0] >= 20


def test_public_records_make_one_round(shell):
    """Design, privatize, aggregate and predict, as through the library; private columns stay where they are."""
    out = shell.ok(
        "design", "public.csv", "--target", "kwh", "--epsilon", "4", "--label-bounds", "0:60", "--private-columns",
        "area", "--assisted", "compact", "-o", "task.json",
    )  # fmt: skip
    assert "one round about the error of a public model" in out and "private for everybody: area" in out
    task = ResidualTask.from_json(Path("task.json").read_text())
    assert task.private == ("area",) and task.epsilon == 4
    shell.ok("privatize", "task.json", "private.csv", "-o", "reports.bin", *SEED)
    reports = Reports.from_bytes(task, Path("reports.bin").read_bytes())
    assert not reports.payloads.size % len(reports) and "area" not in task.question().clear
    shell.ok("aggregate", "task.json", "reports.bin", "-o", "model.json")
    model = CorrectedModel.from_json(Path("model.json").read_text())
    assert model == task.totals().add(reports).model()
    shell.ok("predict", "model.json", "private.csv", "-o", "predictions.csv")
    assert "Private: the task says which features are private" in shell.ok("explain", "model.json")


def test_only_the_label_is_private_where_all_features_are_public(shell):
    """The label model with a public model, collected: every feature goes in clear, and the claim is for the label."""
    out = shell.ok(
        "design", "public.csv", "--target", "kwh", "--epsilon", "4", "--label-bounds", "0:60", "--label-only",
        "--assisted", "compact", "-o", "task.json",
    )  # fmt: skip
    assert "only the label is private" in out
    task = ResidualTask.from_json(Path("task.json").read_text())
    assert task.private == () and set(task.question().clear) == set(task.space.inputs)
    assert (task.guarantee.protects, task.guarantee.neighbours, task.guarantee.epsilon) == ("label", "label", 4.0)
    shell.ok("privatize", "task.json", "private.csv", "-o", "reports.bin", *SEED)
    shell.ok("aggregate", "task.json", "reports.bin", "-o", "model.json")
    shell.ok("predict", "model.json", "private.csv", "-o", "predictions.csv")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_secrets_are_for_their_owner(shell):
    before = os.umask(0)
    try:
        design(shell)
        out = first(shell)
        assert mode("secrets.bin") == 0o600 and mode("first.bin") == 0o666
        assert "secrets.bin stays on this device (mode 0600)" in out and "never send it" in out
        shell.ok("grow", "task.json", "first.bin", "-o", "cells.json", "--max-depth", "1")
        os.chmod("secrets.bin", 0o644)
        shell.ok(*second())
        assert mode("secrets.bin") == 0o600
    finally:
        os.umask(before)


def test_labels_are_drawn_once(begun):
    again = ["privatize", "task.json", "private.csv", "-o", "again.bin", "--secrets", "secrets.bin"]
    assert "--secrets secrets.bin exists: its labels are drawn" in begun.fails(*again)


def test_second_answer_is_refused(answered):
    kept = Path("second.bin").read_bytes()
    for output in ("second.bin", "other.bin", "-"):
        assert "secrets.bin: the second round was answered already" in answered.fails(*second(output=output))
    answered.ok("grow", "task.json", "first.bin", "-o", "other.json", "--max-depth", "1")
    assert "answered already" in answered.fails(*second(task="other.json", output="other.bin"))
    assert Path("second.bin").read_bytes() == kept


class Crash(BaseException):
    """Nothing after this runs, as if the power had gone."""


@pytest.mark.parametrize("at", range(1, 8))
def test_crash_at_any_step_leaves_one_answer_at_most(begun, monkeypatch, at):
    """Stop at each system call that puts something in place: never a report while the secrets are still open."""
    steps = 0

    def counted(real):
        def call(*arguments):
            nonlocal steps
            steps += 1
            if steps == at:
                raise Crash
            return real(*arguments)

        return call

    task = SemiTask.from_json(Path("task.json").read_text())
    seen = []

    class Spy:
        """Looks at the secrets on disk whenever any of the answer is written."""

        def __init__(self, file):
            self.file = file

        def write(self, data):
            if any(data):
                seen.append(Secrets.from_bytes(task, Path("secrets.bin").read_bytes()).answered)
            return self.file.write(data)

        def __getattr__(self, name):
            return getattr(self.file, name)

    real_output = answer.output

    class Watched:
        def __init__(self, path, *more, **options):
            self.inner, self.watch = real_output(path, *more, **options), path == "second.bin"

        def __enter__(self):
            file = self.inner.__enter__()
            return Spy(file) if self.watch else file

        def __exit__(self, *error):
            return self.inner.__exit__(*error)

    with monkeypatch.context() as patch:
        patch.setattr(answer, "output", Watched)
        for name in ("fsync", "replace"):
            patch.setattr(os, name, counted(getattr(os, name)))
        try:
            code = begun(*second())[0]
        except Crash:
            code = None
    marked = Secrets.from_bytes(task, Path("secrets.bin").read_bytes()).answered
    assert (code is None) == (at <= steps) and all(seen)
    assert marked or not Path("second.bin").exists()
    if marked:
        assert "answered already" in begun.fails(*second(output="again.bin"))
    else:
        begun.ok(*second())  # nothing was spent: the round is still open


@pytest.mark.parametrize("number", [1, 2])
def test_full_disk_spends_nothing(begun, monkeypatch, leftovers, number):
    name = {1: "new_first.bin", 2: "second.bin"}[number]
    real = answer.output

    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)

    @contextlib.contextmanager
    def output(path, *more, **options):
        with real(path, *more, **options) as file:
            yield Full() if path == name else file

    command = ["privatize", "task.json", "private.csv", "-o", name, "--secrets", "new.bin"] if number == 1 else second()
    with monkeypatch.context() as patch:
        patch.setattr(answer, "output", output)
        assert f"{name}: No space left on device" in begun.fails(*command)
    assert not Path("new.bin").exists() and leftovers(".") == []
    begun.ok(*command)


def test_two_runs_at_once(begun):
    with kept.locked("secrets.bin", "--secrets secrets.bin"):
        assert "secrets.bin is in use by another run" in begun.fails(*second())
    begun.ok(*second())
    with pytest.raises(ValueError, match="its labels are drawn"), kept.reserved("secrets.bin"):
        pass


def test_nothing_is_spent_by_mistakes(begun, leftovers):
    text = Path("private.csv").read_text()
    Path("short.csv").write_text("\n".join(text.splitlines()[:-1]) + "\n")
    Path("none.csv").write_text(text.splitlines()[0] + "\n")
    for private, message in (
        ("short.csv", "2000 records of the first round. Got 1999"),
        ("none.csv", "none.csv has no records"),
        ("absent.csv", "absent.csv: No such file"),
    ):
        assert message in begun.fails(*second(private=private))
    assert "there is no folder" in begun.fails(*second(output="nowhere/second.bin"))
    begun.ok(*second())
    assert leftovers(".") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("area,colour\n1,0\n", "mask.csv: the header must name features; unknown: ['colour']"),
        ("area,people\n1,0\n", "a mask needs one row a record: 2000. Got 1"),
        ("area,people\n1\n", "mask.csv, line 2: 1 cells where the header has 2"),
        ("area,area\n" + "1,0\n" * 2000, "mask.csv has two columns named 'area'"),
        ("area,people\n" + "1,2\n" * 2000, "row 1, column 'people': expected 0 or 1. Got '2'"),
        ("area,people\n" + "1,\n" * 2000, "row 1, column 'people': expected 0 or 1"),
        ("", "mask.csv is empty"),
    ],
)
def test_wrong_masks(shell, content, message):
    design(shell, "--personal")
    Path("mask.csv").write_text(content)
    options = ["-o", "first.bin", "--secrets", "secrets.bin", "--mask", "mask.csv"]
    assert message in shell.fails("privatize", "task.json", "private.csv", *options)


def test_masks_and_tasks(shell):
    design(shell)
    design(shell, "--personal", output="personal.json")
    options = ["private.csv", "-o", "first.bin", "--secrets", "secrets.bin"]
    assert "lets each holder choose what is private; give --mask" in shell.fails("privatize", "personal.json", *options)
    line = shell.fails("privatize", "task.json", *options, "--mask", "mask.csv")
    assert "--mask is for tasks in which holders choose what is private" in line
    write_mask(np.ones((2000, 1)), names=["area"])
    code, _, err = shell("privatize", "personal.json", *options, "--mask", "mask.csv")
    assert code == 0 and "warning: mask.csv leaves out heating, people: private in every record" in err


def test_mixed_tasks(answered):
    design(answered, "--private-columns", "people", output="task2.json")
    first(answered, task="task2.json", output="first2.bin", secrets="secrets2.bin")
    answered.ok("grow", "task2.json", "first2.bin", "-o", "cells2.json", "--max-depth", "1")
    fails = answered.fails
    assert "secrets2.bin: these secrets belong to another task" in fails(*second(output="x", secrets="secrets2.bin"))
    for paths in (["first2.bin"], ["first.bin", "first2.bin"], ["second.bin"], ["secrets.bin"], ["task.json"]):
        line = fails("grow", "task.json", *paths, "-o", "x")
        assert f"{paths[-1]}: this is not a batch" in line or f"{paths[-1]}: this report was made for another" in line
    for paths in (["first.bin"], ["second.bin", "first2.bin"], ["secrets.bin"]):
        assert f"hedgerow aggregate: {paths[-1]}: " in fails("aggregate", "cells.json", *paths, "-o", "x")
    assert "second.bin: " in fails("aggregate", "cells2.json", "second.bin", "-o", "x")
    assert "first2.bin: " in fails("aggregate", "cells.json", "second.bin", "--first", "first2.bin", "-o", "x")
    assert "cells.json is not the first task" in fails("grow", "cells.json", "first.bin", "-o", "x")
    refuse = ["--copies", "refuse", "-o", "x"]
    assert "in first.bin and again in first.bin" in fails("grow", "task.json", "first.bin", "first.bin", *refuse)
    twice = ["aggregate", "cells.json", "second.bin", "second.bin", "-o", "x"]
    assert "reports are there twice" in fails(*twice, "--copies", "refuse")
    assert "2,000 copies of reports were left out" in answered.ok(*twice)
    assert "first.bin: these are not the secrets" in fails(*second(output="x", secrets="first.bin"))
    assert "task.json: this is not a model" in fails("predict", "task.json", "new.csv", "-o", "x")


def test_a_label_drawn_twice_is_caught(begun):
    """A device that ignores its secrets and begins again, with the tokens of the first time."""
    task, cells = SemiTask.from_json(Path("task.json").read_text()), CellTask.from_json(Path("cells.json").read_text())
    secrets = Secrets.from_bytes(task, Path("secrets.bin").read_bytes())
    secrets.coarse = secrets.coarse + 1 - 2 * (secrets.coarse > 0)
    table = tables.Table("private.csv")
    records = next(table.blocks()).frame(task.space)
    Path("second.bin").write_bytes(cells.privatize(records, kept=secrets).to_bytes())
    begun.ok("aggregate", "cells.json", "second.bin", "-o", "m.json")
    line = begun.fails("aggregate", "cells.json", "second.bin", "--first", "first.bin", "-o", "n.json")
    assert "second.bin: a holder sent the label level" in line and "drawn a second time" in line


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--private-columns", "area", "--personal"], "exclude each other; give one of them"),
        (["--label-only", "--personal"], "public records are needed"),
        (["--private-columns", "colour"], "an unknown column 'colour'"),
        (
            ["--personal", "--max-depth", "2"],
            "--max-depth is for what is made of the reports; give it to 'hedgerow agg",
        ),
        (
            ["--personal", "--n-holders", "9"],
            "--n-holders of two rounds is for the label's share where --private-columns fixes the mask",
        ),
        (["--personal", "--features", "area,floor,heating,people"], "'floor' needs --feature-bounds floor=LOW:HIGH"),
        (["--personal", "--features", "area,heating"], "--feature-bounds names 'people', which is not a feature"),
        (["--personal", "--categories", "area=a,b"], "'area' is categorical and has no range"),
        (["--personal", "--categories", "heating"], "expected COLUMN=A,B such as sex=F,M"),
        (["--personal", "--target", "area"], "at least one column other than the target"),
        (["--personal", "--label-share", "2"], "'label_share' parameter must be in (0, 1]"),
        ([], "public records are needed"),
    ],
)
def test_design_refuses(shell, more, message):
    assert message in shell.fails(*DESIGN, "-o", "task.json", *more)


def test_options_of_the_other_kind(made):
    local = ["privatize", "task.json", "private.csv", "-o", "x"]
    assert "--secrets is for tasks of two rounds" in made.fails(*local, "--secrets", "s.bin")
    assert "--mask is for tasks in which holders choose" in made.fails(*local, "--mask", "mask.csv")
    assert "--first is for second rounds" in made.fails(
        "aggregate", "task.json", "reports.bin", "--first", "f", "-o", "x"
    )
    assert "task.json is not the first task of two rounds" in made.fails("grow", "task.json", "reports.bin", "-o", "x")
    line = made.fails(*["design", "public.csv", "--target", "kwh", "--epsilon", "2"], "--label-bounds", "0:60",
                      "--label-share", "0.5", "-o", "x")  # fmt: skip
    assert "--label-share is for semi-first tasks; this is a local task: leave it out." in line


def test_privatize_refuses(begun):
    fresh = ["privatize", "task.json", "private.csv"]
    assert "--secrets FILE is needed" in begun.fails(*fresh, "-o", "x")
    assert "-o and --secrets name the same file" in begun.fails(*fresh, "-o", "x", "--secrets", "./x")
    assert "must be a file on this device" in begun.fails(*fresh, "-o", "x", "--secrets", "-")
    assert "--secrets private.csv is an input" in begun.fails(*fresh, "-o", "x", "--secrets", "private.csv")
    assert "absent.bin: No such file" in begun.fails(*second(secrets="absent.bin"))
    assert "--mask is for tasks in which holders choose" in begun.fails(*second("--mask", "mask.csv"))
    assert "--fallback is for" in begun.fails("aggregate", "cells.json", "first.bin", "--fallback", "none", "-o", "x")
    text = Path("secrets.bin").read_bytes()
    Path("cut.bin").write_bytes(text[:-1])
    Path("private.csv").write_text("area,heating,people\n1,gas,2\n")
    assert "cut.bin: these secrets are damaged" in begun.fails(*second(secrets="cut.bin"))


def test_whatever_is_in_the_cells_both_rounds_report_with_one_length(begun):
    lengths = set()
    for i, line in enumerate(("1,gas,2,3", ",,,", "x,coal,inf,nan", "1e999,gas,-1e999,1_0")):
        Path("odd.csv").write_text(f"area,heating,people,kwh\n{line}\n")
        begun.ok("privatize", "task.json", "odd.csv", "-o", f"one{i}.bin", "--secrets", f"s{i}.bin")
        begun.ok(*second(private="odd.csv", secrets=f"s{i}.bin", output=f"two{i}.bin"))
        lengths.add((Path(f"one{i}.bin").stat().st_size, Path(f"two{i}.bin").stat().st_size))
    assert len(lengths) == 1


def test_explain_says_what_the_model_says(answered):
    answered.ok("aggregate", "cells.json", "second.bin", "-o", "model.json")
    model = SemiModel.from_json(Path("model.json").read_text())
    assert answered.ok("explain", "model.json", "--plot", "cells.svg") == str(model.explain()) + "\n"
    assert "<svg" in Path("cells.svg").read_text()
    found = json.loads(answered.ok("explain", "model.json", "--json"))
    assert found["leaves"] == model.table() and found["task"] == model.task.id and found["plot"] is None
    assert found["masks"] == "policy" and found["private"] == ["area"] and found["label_bounds"] == [0, 60]
    assert found["n_reports"] == 2000 and not found["simulation"] and found["statement"] == str(model.guarantee)
    for option in (["--shift"], ["--plot-shift", "s.svg"]):
        line = answered.fails("explain", "model.json", *option)
        assert "nothing to compare with" in line and f"leave out {option[0]}" in line
