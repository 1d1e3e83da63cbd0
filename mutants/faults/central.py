"""Faults of the central forests and their baselines."""

from __future__ import annotations

from mutants.fault import Fault, whole_fits

_FOREST = "src/hedgerow/central/forest.py"

FAULTS = (
    Fault(
        name="leaf sensitivity halved",
        path="src/hedgerow/central/scores.py",
        before="        self.unit = n_steps\n",
        after="        self.unit = n_steps // 2\n",
        caught_by=whole_fits("DPExtraTreesRegressor, depth 1"),
    ),
    Fault(
        name="leaf counts without noise",
        path=_FOREST,
        before="    noisy = counts.release(target.counts(tree.apply(Z), tree.n_leaves), source)\n",
        after="    noisy = target.counts(tree.apply(Z), tree.n_leaves)\n",
        caught_by=whole_fits("DPExtraTreesClassifier, depth 1"),
    ),
    Fault(
        name="empty leaves get no noise",
        path=_FOREST,
        before="    noisy = counts.release(target.counts(tree.apply(Z), tree.n_leaves), source)\n",
        after=(
            "    true = target.counts(tree.apply(Z), tree.n_leaves)\n"
            "    noisy = np.where(true.sum(axis=1, keepdims=True) > 0, counts.release(true, source), 0)\n"
        ),
        caught_by=whole_fits("DPExtraTreesRegressor, depth 1"),
    ),
    Fault(
        name="leaves release the count beside both label sums",
        path="src/hedgerow/central/scores.py",
        before="        return np.stack([n - high, high], axis=-1)\n",
        after="        return np.stack([n, high], axis=-1)\n",
        caught_by=whole_fits("DPExtraTreesRegressor, depth 1"),
    ),
    Fault(
        name="leaf weights from the true counts",
        path=_FOREST,
        before="    return ForestTree(tree, values, np.sqrt(size + 1), noise)\n",
        after=(
            "    true = target.counts(tree.apply(Z), tree.n_leaves).sum(axis=1) / target.unit\n"
            "    return ForestTree(tree, values, np.sqrt(true + 1), noise)\n"
        ),
        caught_by=whole_fits("DPExtraTreesRegressor, depth 1"),
    ),
    Fault(
        name="every tree sees all records",
        path=_FOREST,
        before="            rows = slice(None) if group is None else np.flatnonzero(group == t)\n",
        after="            rows = slice(None)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="records dealt to trees in turn, not by coins",
        path=_FOREST,
        before='source.child("assignment").integers(recipe.n_trees, len(Z)) if recipe.partition',
        after="np.arange(len(Z)) % recipe.n_trees if recipe.partition",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="records assigned to trees by their label",
        path=_FOREST,
        before='source.child("assignment").integers(recipe.n_trees, len(Z)) if recipe.partition',
        after="np.argsort(np.argsort(problem.y)) % recipe.n_trees if recipe.partition",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="histogram of the labels not charged",
        path=_FOREST,
        before="    return shares * Fraction(histogram) + trees * Fraction(budget.total)\n",
        after="    return trees * Fraction(budget.total)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 0"),
    ),
    Fault(
        name="histogram of the labels drawn with the whole budget",
        path=_FOREST,
        before='cells = _histogram(problem, values[seen], histogram, source.child("histogram", 0))',
        after='cells = _histogram(problem, values[seen], recipe.epsilon, source.child("histogram", 0))',
        caught_by=whole_fits("DiPriMeForestRegressor, depth 0"),
    ),
    Fault(
        name="second histogram not charged where all trees see all records",
        path=_FOREST,
        before="    shares = 1 if recipe.partition else n_stages\n",
        after="    shares = 1\n",
        caught_by=whole_fits("DiPriMeForestRegressor, all records in all trees, two stages"),
    ),
    Fault(
        name="trees that share records counted once",
        path=_FOREST,
        before="    trees = 1 if recipe.partition else recipe.n_trees\n    return shares",
        after="    trees = 1\n    return shares",
        caught_by=whole_fits("DPExtraTreesRegressor, depth 1"),
    ),
    Fault(
        name="depth from the true number of records",
        path=_FOREST,
        before="    n_tree = _records_a_tree(recipe, cells, first)\n",
        after="    n_tree = len(Z) / (first if recipe.partition else 1)\n",
        caught_by=whole_fits("DPExtraTreesRegressor", "DiPriMeForestRegressor"),
    ),
    Fault(
        name="window of the second stage read off the leftovers",
        path=_FOREST,
        before="        around = replace(problem, low=-width, high=width)\n",
        after="        around = replace(problem, low=float(left.min()) - 1e-3, high=float(left.max()) + 1e-3)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, two stages"),
    ),
    Fault(
        name="split score sensitivity halved",
        path=_FOREST,
        before="    each = selection(recipe.selection, budget.level, target.weights.sensitivity)\n",
        after="    each = selection(recipe.selection, budget.level, target.weights.sensitivity // 2)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="balance left out of the split score's sensitivity",
        path="src/hedgerow/central/scores.py",
        before="        return self.squared + self.margin + self.balance\n",
        after="        return max(self.squared + self.margin, self.balance)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="squared error scaled to half of its range",
        path="src/hedgerow/central/scores.py",
        before="    whole = np.maximum(n, 1) * (n_steps * n_steps)\n",
        after="    whole = np.maximum(n, 1) * (n_steps * n_steps // 2)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="best split taken without noise",
        path="src/hedgerow/central/splits.py",
        before="        chosen = self.levels.pop(0).choose(costs.reshape(flat), valid.reshape(flat), self.randomness)",
        after=(
            "        self.levels.pop(0).choose(costs.reshape(flat), valid.reshape(flat), self.randomness)\n"
            "        chosen = np.where(valid.reshape(flat), costs.reshape(flat), 1 << 40).argmin(axis=1)"
        ),
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="only cuts with records on both sides are offered",
        path="src/hedgerow/central/splits.py",
        before="        return _Offer(j, members, self.target.costs(left[:, :-1], left[:, -1:]), valid)\n",
        after=(
            "        full = (left[:, :-1, 0] > 0) & (left[:, :-1, 0] < left[:, -1:, 0])\n"
            "        return _Offer(j, members, self.target.costs(left[:, :-1], left[:, -1:]), valid & full)\n"
        ),
        caught_by=whole_fits("DiPriMeForestRegressor, depth 1"),
    ),
    Fault(
        name="leaves without records pruned",
        path="src/hedgerow/central/splits.py",
        before="    return grow_levels(space, rule, Z, max_depth=depth, min_samples_leaf=0)\n",
        after="    return grow_levels(space, rule, Z, max_depth=depth, min_samples_leaf=1)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, depth 2"),
    ),
    Fault(
        name="medians of the paper's scheme counted once",
        path="src/hedgerow/central/accounting.py",
        before="self.depth * (self.n_medians * Fraction(self.median) + Fraction(self.level))",
        after="self.depth * (Fraction(self.median) + Fraction(self.level))",
        caught_by=whole_fits("DiPriMeForestRegressor, paper"),
    ),
    Fault(
        name="true median as the cut",
        path="src/hedgerow/central/medians.py",
        before="            cut = cut if low < cut < high else low / 2 + high / 2\n",
        after="            cut = float(np.median(x)) if len(x) and low < np.median(x) < high else low / 2 + high / 2\n",
        caught_by=whole_fits("DiPriMeForestRegressor, random"),
    ),
    Fault(
        name="bins of DP-RF chosen without noise",
        path="src/hedgerow/central/kary.py",
        before="            j = offered[int(choice.choose(np.array([costs]), randomness=randomness)[0])]\n",
        after="            j = offered[int(np.argmin(costs))]\n",
        caught_by=whole_fits("DPRandomForestRegressor, depth 1"),
    ),
    Fault(
        name="winning class of a leaf told outright",
        path=_FOREST,
        before='    winner = selection("exponential", epsilon, 1).choose(costs, randomness=source)\n',
        after="    winner = costs.argmin(axis=1)\n",
        caught_by=whole_fits("DPDecisionForestClassifier"),
    ),
    Fault(
        name="winning class drawn at twice the budget",
        path=_FOREST,
        before='    winner = selection("exponential", epsilon, 1).choose(costs, randomness=source)\n',
        after='    winner = selection("exponential", 2 * epsilon, 1).choose(costs, randomness=source)\n',
        caught_by=whole_fits("DPDecisionForestClassifier"),
    ),
    Fault(
        name="replaced records stated at the cost of added ones",
        path="src/hedgerow/central/accounting.py",
        before='        neighbours="add/remove",\n        simulation',
        after="        neighbours=neighbours,\n        simulation",
        caught_by=whole_fits("DPExtraTreesRegressor, depth 1, replace"),
    ),
    Fault(
        name="private feature bounds: every column has the whole share",
        path="src/hedgerow/central/schema.py",
        before='    each: Amount = epsilon if epsilon == float("inf") else Fraction(epsilon) / d\n',
        after="    each: Amount = epsilon\n",
        caught_by=whole_fits("DiPriMeForestRegressor, private bounds"),
    ),
    Fault(
        name="private feature bounds not charged",
        path="src/hedgerow/central/base.py",
        before="        total = math.inf if math.isinf(budget) else Fraction(fitted.total) + Fraction(cost)\n",
        after="        total = math.inf if math.isinf(budget) else Fraction(fitted.total)\n",
        caught_by=whole_fits("DiPriMeForestRegressor, private bounds"),
    ),
    Fault(
        name="number of records in the guarantee's notes",
        path="src/hedgerow/central/base.py",
        before="            notes=conditions + notes + self._remarks(fitted, whole),\n",
        after='            notes=[*conditions, *notes, *self._remarks(fitted, whole), f"{len(X)} records"],\n',
        caught_by=whole_fits("DPExtraTreesRegressor, depth 1"),
    ),
    Fault(
        name="categories in the order of their frequency",
        path="src/hedgerow/central/base.py",
        before="        categorical = self._declared_categories(X)\n",
        after=(
            "        categorical = self._declared_categories(X)\n"
            "        at = {name: np.asarray(X)[:, names.index(name)].tolist() for name in categorical}\n"
            "        categorical = {k: sorted(v, key=lambda c: at[k].count(float(c))) for k, v in categorical.items()}\n"
        ),
        caught_by=whole_fits("DiPriMeForestRegressor, categories"),
    ),
    Fault(
        name="classes in the order of their frequency",
        path="src/hedgerow/estimators/records.py",
        before="    classes = np.unique(declared) if ordered else declared\n",
        after=(
            "    counts = np.bincount(class_codes(np.unique(declared), column), minlength=len(declared))\n"
            "    classes = np.unique(declared)[np.argsort(-counts, kind='stable')]\n"
        ),
        caught_by=whole_fits("DPExtraTreesClassifier, depth 1"),
    ),
    Fault(
        name="a label of no listed class stops the fit",
        path="src/hedgerow/estimators/records.py",
        before="    classes = np.unique(declared) if ordered else declared\n",
        after=(
            "    classes = np.unique(declared) if ordered else declared\n"
            "    if not np.isin(column, classes).all():\n"
            "        raise BoundsError(f\"'y' has labels outside the public 'classes': {column}\")\n"
        ),
        caught_by=whole_fits("DiPriMeForestClassifier, odd records"),
    ),
    Fault(
        name="composition with delta forgets the levels of all trees but one",
        path="src/hedgerow/central/accounting.py",
        before="        parts.append((float(budget.level), n_trees * depth))\n",
        after="        parts.append((float(budget.level) / 4, depth))\n",
        caught_by=whole_fits("DiPriMeForestRegressor, all records in all trees, delta"),
    ),
)
