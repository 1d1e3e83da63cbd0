import re
from html.parser import HTMLParser

import numpy as np
import pytest

from hedgerow import Guarantee, LocalTask, simulate_aggregate
from hedgerow.summary import Summary, SummaryTable
from hedgerow.tasks.examples import examples
from hedgerow.tasks.models import Model
from tests.conformance.collected import reports

HOSTILE = "<script>alert(1)</script>|`x`\n\u202e" + "long " * 99
PROMISE = Guarantee(1.0, protects="label", trust="local", neighbours="label")


class Tags(HTMLParser):
    """Which tags there are."""

    def __init__(self, html):
        super().__init__()
        self.found = set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.found.add(tag)


def test_hostile_names_stay_text():
    table = SummaryTable("t", ("a", "if"), (("1", HOSTILE),))
    found = Summary(HOSTILE, PROMISE, [("people", HOSTILE)], [table], [HOSTILE])
    assert Tags(found._repr_html_()).found == {"h3", "table", "tr", "th", "td", "p", "b", "caption"}
    assert not re.search(r"(?<!\\)<script", found.to_markdown())
    assert "\u202e" not in str(found).splitlines()[0] and len(str(found).splitlines()[0]) <= 60


def test_leaves_with_reports_and_prediction_side_by_side():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 1))
    y = 40_000 * (X[:, 0] > 0.5) + rng.normal(20_000, 500, len(X))
    task = LocalTask.design(X[:400], y[:400], epsilon=4, label_bounds=(0, 80_000), max_depth=1)
    model = simulate_aggregate(task, X[400:], y[400:], randomness=1).model()
    found = model.summary()
    (table,) = found.tables
    assert table.columns == ("share of people", "reports alone", "mean", "if")
    for row, known in zip(table.rows, model.table(), strict=True):
        value, low, high = (float(n.replace(",", "")) for n in re.findall(r"[\d,.]+(?=[\[\],\s]|$)", row[2])[:3])
        assert low <= value <= high and value == pytest.approx(known["mean"], rel=0.01)
        assert "e+" not in "".join(row)
    said = " ".join(found.remarks)
    assert "leaves disagree" in said and "With 19,600 more reports" in said
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.summary(1.0)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_kind_of_model_and_task(example, small_learners):
    task = example.build(4.0)
    made = task.totals().add(reports(example, task)).model()
    assert "<table>" in task._repr_html_() and str(task.guarantee)[:40] in task._repr_html_()
    if isinstance(made, Model) and made.table():
        text = str(made.summary())
        assert "people" in text and str(made.n_reports) in text
        assert made._repr_html_() == made.summary()._repr_html_()
