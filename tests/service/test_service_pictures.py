"""Trees on the dashboard: large ones are folded, and nothing is lost."""

from hedgerow.service.dashboard.pages import _templates
from hedgerow.service.dashboard.pictures import Branch, folded
from hedgerow.service.dashboard.views import TaskView


def tree(values, shares=None):
    """Return a balanced tree over these leaves."""
    shares = shares or [1 / len(values)] * len(values)
    nodes = [Branch("leaf", row={"share": p, "mean": v}) for p, v in zip(shares, values, strict=True)]
    while len(nodes) > 1:
        nodes = [Branch("node", tuple(nodes[i : i + 2])) for i in range(0, len(nodes), 2)]
    return nodes[0]


def ends(node):
    """Return the folds and the leaves that are seen at first."""
    if node.more or node.row is not None:
        return [node]
    return [end for child in node.children for end in ends(child)]


def test_a_tree_of_128_leaves_is_folded_and_whole():
    whole = tree([float(i % 7) for i in range(128)])
    found = folded(whole, "mean")
    seen = ends(found)
    assert len(seen) == 16 and sum(max(end.more, 1) for end in seen) == 128
    assert found.rows() == whole.rows()


def test_small_trees_are_as_they_were():
    whole = tree([1.0, 2.0, 3.0, 4.0])
    assert folded(whole, "mean") == whole


def test_what_differs_for_many_people_is_open():
    values = [0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0]
    assert [end.more for end in ends(folded(tree(values), "mean", most=4))] == [0, 0, 2, 4]
    shares = [0.01, 0.01, 0.1, 0.1, 0.1, 0.1, 0.29, 0.29]
    assert [end.more for end in ends(folded(tree(values, shares), "mean", most=4))] == [4, 2, 0, 0]


def test_classes_and_noisy_shares_are_folded_too():
    whole = tree([{"a": 0.5}] * 64, [-0.01] * 32 + [0.05] * 32)
    assert len(ends(folded(whole, "classes"))) == 16


def page(live):
    whole = tree([float(i % 7) for i in range(64)])
    for row in whole.rows():
        row |= {"strip": None, "classes": {"<b>": 1.0}}
    view = TaskView("id", "", "", "open", "open", 1, 1, "", "", live, False, trees=(folded(whole, "mean"),))
    return _templates().get_template("live.html").render(task=view, live=live)


def test_folds_can_be_opened_unless_the_page_is_drawn_again():
    still = page(live=False)
    moving = page(live=True)
    assert still.count('class="share"') == 64 and still.count("<details>") == still.count(" more leaves</summary>") > 0
    assert "<details>" not in moving and moving.count("more leaves; the download has all") == still.count("<details>")
    assert moving.count('class="share"') + still.count("<details>") == 16
    assert "<b>" not in still and "{#" not in still
