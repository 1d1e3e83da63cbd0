"""The page of one prediction: one file, no other site, hostile names as text, numbers as Python writes them."""

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from hedgerow import LPDTRegressor
from hedgerow.cli import main
from hedgerow.digits import plain
from hedgerow.errors import HedgerowError
from hedgerow.explorer import Explorer
from hedgerow.explorer.explorer import MODULES, source
from hedgerow.explorer.program import program_of
from hedgerow.formula import Formula, NumberInput, TextInput
from hedgerow.formula.anatomy import FURTHER, Anatomy, Part
from hedgerow.formula.terms import OPERATIONS, records
from tests.explorer.node import run

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">&amp;{statement}'


def hostile():
    inputs = (
        NumberInput(HOSTILE, 0.0, 1.0, 0.5),
        TextInput("__proto__", (HOSTILE, "constructor", ""), (0, 1, 2), 1, 1),
    )
    value = records().pick([0])
    part = Part(HOSTILE, value, records().pick([1]), (HOSTILE, "b", "c"))
    formula = Formula(inputs, value, facts={"statement": HOSTILE})
    return Anatomy(formula, (part,), target=HOSTILE, unit=HOSTILE, covers=HOSTILE)


class Page(HTMLParser):
    """Tags with attributes, and the data of scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def read(text):
    page = Page()
    page.feed(text)
    return page


@pytest.fixture(scope="module")
def tree():
    X = np.random.default_rng(0).random((400, 2))
    return LPDTRegressor(8.0, label_bounds=(0, 1), max_depth=2, random_state=0).fit(
        X, X[:, 0], X_public=X, y_public=X[:, 0]
    )


def test_names_stay_inside_their_text():
    page = read(Explorer(hostile()).to_html())
    assert [tag for tag, _ in page.tags].count("script") == 2 and not [tag for tag, _ in page.tags if tag == "img"]
    assert not [
        attrs for _, attrs in page.tags if any(name.startswith("on") or name in ("src", "href") for name in attrs)
    ]
    data = json.loads(page.scripts[0])
    assert data["inputs"][0]["name"].startswith("</script>") and data["inputs"][1]["name"] == "__proto__"


def test_what_hides_or_turns_text_around_is_seen():
    formula = Formula((NumberInput("a\u202eb", 0.0, 1.0, 0.5),), records())
    data = program_of(Anatomy(formula, target="c\ud800d"))
    assert data["inputs"][0]["name"] == "a\\u202eb" and data["target"] == "c\\ud800d"
    Explorer(Anatomy(formula, target="c\ud800d")).to_html().encode()


def test_nothing_but_its_own_script_and_style_may_run(tree):
    text = tree.explorer().to_html()
    (policy,) = [attrs["content"] for tag, attrs in read(text).tags if attrs.get("http-equiv")]
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy
    assert not re.search(r"https?:(?!//www\.w3\.org/2000/svg)", text)


def test_one_model_has_one_page(tree):
    assert tree.explorer().to_html() == tree.explorer().to_html() != tree.explorer(0.5).to_html()


def test_every_operation_is_known_to_the_page(tmp_path):
    assert set(run(tmp_path)["operations"]) == (set(OPERATIONS) - {"records"}) | set(FURTHER)


def test_numbers_are_written_as_python_writes_them(tmp_path):
    numbers = [0, 3, 1850, 9999.4, 10170.4, 0.012345, -1234567, 1e6, 99999.96, 0.5, -0.00012, 123.456]
    assert run(tmp_path, numbers=numbers)["words"] == [plain(value) for value in numbers]


def test_the_normal_law(tmp_path):
    deviations = [*np.linspace(-9, 9, 145).tolist(), 2.4999, 2.5001, -37.0, 40.0]
    found = run(tmp_path, deviations=deviations)["below"]
    wanted = [0.5 * math.erfc(-z / math.sqrt(2)) for z in deviations]
    assert found == pytest.approx(wanted, rel=1e-12, abs=0)


def test_modules_are_small_and_import_only_earlier_ones():
    for i, name in enumerate(MODULES):
        assert len(source(name).splitlines()) <= 300
        assert set(re.findall(r'from "\./(\w+\.js)"', source(name))) <= set(MODULES[:i])


def test_files(tree, tmp_path):
    tree.explorer().save(tmp_path / "a.html")
    (tmp_path / "model.json").write_text(tree.model_.to_json())
    assert main(["explain", str(tmp_path / "model.json"), "--explorer", str(tmp_path / "b.html")]) == 0
    assert (tmp_path / "b.html").read_text() == tree.model_.explorer().to_html()
    with pytest.raises(HedgerowError, match=re.escape("ends in .html. Got")):
        tree.explorer().save(tmp_path / "a.txt")


@pytest.mark.parametrize(("name", "said"), [("page.pdf", "ends in .html"), ("none/page.html", "there is no folder")])
def test_what_cannot_be_written_is_refused_before_the_work(tmp_path, capsys, name, said):
    assert main(["explain", str(tmp_path / "no model.json"), "--explorer", str(tmp_path / name)]) == 2
    assert said in capsys.readouterr().err
