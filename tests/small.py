"""Smaller learners inside estimators, for tests of what carries them and not of how good they are."""

_TREES = 8


def _few(learner):
    sizes = {"n_estimators", "max_iter"} & set(learner.get_params())
    learner.set_params(**dict.fromkeys(sizes, _TREES))


def few_public_trees(patch):
    """Let public models be stacks of few trees, weighted by one deal of records to folds, until the patch is undone."""
    from hedgerow.public import distil, evidence, stack

    members = stack.members
    partitions = stack.partitions

    def few(n, seed):
        found = members(n, seed)
        for name in {"extra trees", "boosting"} & set(found):
            _few(found[name])
        return found

    patch.setattr(stack, "members", few)
    patch.setattr(stack, "partitions", lambda n, seed: partitions(n, seed)[:1])
    patch.setattr(evidence, "STEPS", 4)
    patch.setattr(distil, "_ROWS", 1_200)
    patch.setattr(distil, "_TREE_BYTES", 11_000)


def few_corrections(patch):
    """Let corrections of a public model be looked for in few trees, until the patch is undone."""
    from hedgerow.label import residual, whole
    from hedgerow.semi import errors, symbols

    learners_for = residual.learners_for

    def few(n, noise):
        found = learners_for(n, noise)
        for learner in found:
            _few(learner)
        return found

    patch.setattr(errors, "_PAIRS", 2)  # of halves of public records, by which groups are chosen
    patch.setattr(residual, "learners_for", few)
    patch.setattr(whole, "TREES", _TREES)
    patch.setattr(symbols, "learners_for", few)


def few_sums(patch):
    """Let corrections by secure sums be looked for in few trees grown on few rows, until the patch is undone."""
    from hedgerow.sums import design, rows
    from hedgerow.sums.rules import Rules

    patch.setattr(design, "RULES", Rules(forest=(32,) * 8, draws=2))
    patch.setattr(rows, "GROWN", 150)
    patch.setattr(rows, "ROWS", 150)
