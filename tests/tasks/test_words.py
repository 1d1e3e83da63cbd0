"""Rules in words are true of exactly the records of their leaf."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.partition import grow
from hedgerow.portable import PortableModel, Trees
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.rules import PREDICTION, cell_rules, in_words, tree_rules

SPACE = FeatureSpace((NumericFeature("age", 0.0, 80.0), CategoricalFeature("heating", ("coal", "gas", "pump"))))


def holds(rule, record):
    """Read a rule back, as a person would: chains of comparisons and lists."""
    for part in [] if rule == "everything" else rule.split(" and "):
        if " not in {" in part:
            name, listed = part[:-1].split(" not in {")
            if record[name] in listed.split(", "):
                return False
        elif " in {" in part:
            name, listed = part[:-1].split(" in {")
            if record[name] not in listed.split(", "):
                return False
        elif not eval(part.replace(PREDICTION, "prediction"), {}, record):
            return False
    return True


def records(n=300):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(0, 81, n), rng.integers(0, 3, n)]).astype(float)  # whole ages hit the cuts


def as_words(Z):
    return [{"age": age, "heating": ("coal", "gas", "pump")[int(code)]} for age, code in Z]


@pytest.mark.parametrize("depth", [0, 1, 4])
@pytest.mark.parametrize("bins", [1, 4])
def test_one_rule_holds_and_it_is_that_of_the_leaf(depth, bins):
    Z = records()
    tree = grow("cart", SPACE, Z, Z[:, 0] % 17 + 9 * Z[:, 1], max_depth=depth)
    tree = histogram_below(tree, [0, 1], bins)
    rules = cell_rules(tree)
    leaf = tree.apply(Z)
    for i, record in enumerate(as_words(Z)):
        true = [j for j, rule in enumerate(rules) if holds(rule, record)]
        assert true == [leaf[i]]


def test_each_feature_comes_up_once():
    rules = cell_rules(histogram_below(grow("max_edge", SPACE, None, None, max_depth=4), [0], 8))
    assert max(rule.count("age") for rule in rules) == 1


def test_bounds_that_meet_keep_the_sharper_one():
    assert in_words([("x", ">=", 1.0), ("x", ">", 1.0), ("x", "<=", 2.0), ("x", "<", 2.0)]) == "1 < x < 2"
    assert in_words([("x", ">", 1.0), ("x", ">=", 1.0)]) == "x > 1"


def test_trees_over_a_design_speak_of_the_features():
    """A number, an indicator of a category, categories as numbers, and the public prediction."""
    base = PortableModel(2, [0, 1, 1], [-1, 1, -1], 0.0, ())
    feature = [0, 1, 3, -1, -1, 2, -1, -1, -1]  # breadth first
    trees = Trees([9], feature, [40.0, 0.5, 0.25, 0.5], np.zeros(5), single=False)
    rules = tree_rules(trees, base, SPACE)[0]
    Z, prediction = records(), np.random.default_rng(1).choice([0.0, 0.25, 1.0], 300)
    leaf = trees.apply(np.column_stack([base.design(Z), prediction]))[:, 0]
    assert len(set(leaf.tolist())) == 5
    for i, record in enumerate(as_words(Z)):
        assert [j for j, r in enumerate(rules) if holds(r, {**record, "prediction": prediction[i]})] == [leaf[i]]
