"""Budgets that protect next to nothing are said to."""

import json

import pytest

DESIGN = ("design", "public.csv", "--target", "kwh", "--label-bounds", "0:60", "--max-depth", "1", "-o", "task.json")
FIT = (
    "fit", "anova", "private.csv", "--target", "kwh", "--label-bounds", "0:60", "--seed", "0", "-o", "model.json",
    "--feature-bounds", "area=0:200", "--feature-bounds", "people=0:9",
)  # fmt: skip
LABELS = ("labels", "randomize", "private.csv", "--target", "kwh", "--label-bounds", "0:60", "-o", "noisy.csv")


@pytest.mark.parametrize(
    ("command", "budget", "weak"),
    [
        (DESIGN, ("--epsilon", "20"), False),
        (DESIGN, ("--epsilon", "20.5"), True),
        ((*DESIGN, "--private-columns", "area"), ("--epsilon", "25"), True),
        (FIT, ("--epsilon", "25"), True),
        (FIT, ("--epsilon", "1", "--delta", "0.01"), True),
        (FIT, ("--epsilon", "1", "--delta", "0.001"), False),
        ((*LABELS, "--mechanism", "laplace"), ("--epsilon", "25"), True),
        ((*LABELS, "--mechanism", "gaussian"), ("--epsilon", "1", "--delta", "0.02"), True),
    ],
)
def test_a_weak_promise_is_said_to_be_one(shell, command, budget, weak):
    command = [word for word in command if not ("--private-columns" in command and word in ("--max-depth", "1"))]
    code, out, err = shell(*command, *budget)
    assert code == 0, err
    assert ("protects next to nothing" in out, "protects next to nothing" in err) == (weak, weak)


def test_the_models_own_statement_says_it(shell):
    out = json.loads(shell.ok(*FIT, "--epsilon", "25", "--json"))
    assert "which protects next to nothing" in out["statement"]
