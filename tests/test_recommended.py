"""README, documentation, results and comparisons recommend the same things."""

import re
from pathlib import Path

import pytest

import hedgerow
from hedgerow.compare.contestants import CONTESTANTS, TRUST
from hedgerow.recommended import RECOMMENDED

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("page", ["README.md", "docs/concepts/trust.md"])
def test_tables_say_what_is_recommended(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    row = re.compile(r"\| [^|]+ \| (local|aggregate|semi-feature local|label|central) \|")
    table = [line for line in text.splitlines() if row.match(line)]
    assert len(table) == len(RECOMMENDED)
    for line, one in zip(table, RECOMMENDED, strict=True):
        assert line.startswith(one.row())


def test_the_page_of_results_says_the_same():
    index = pytest.importorskip("hedgerow_experiments.page.index")
    assert {(s.key, s.question, s.use) for s in index.SECTIONS} == {(r.key, r.who, r.html) for r in RECOMMENDED}


def test_everything_recommended_exists_and_takes_part_in_comparisons():
    compared = {contestant.name.split()[0] for contestant in CONTESTANTS}
    for one in RECOMMENDED:
        assert one.key in TRUST
        for name in one.names:
            assert name in hedgerow.__all__
            assert any(name.startswith(other) for other in compared), name
