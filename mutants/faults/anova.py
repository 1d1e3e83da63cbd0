"""Faults of the ANOVA models, and of what public models are to them."""

from __future__ import annotations

from mutants.fault import Fault, whole_fits

_ANOVA = "src/hedgerow/central/anova"

FAULTS = (
    Fault(
        name="gradients not clipped",
        path=f"{_ANOVA}/rows.py",
        before="        return np.clip(np.rint(levels), -limit, limit)\n",
        after="        return np.rint(levels)\n",
        caught_by=("tests/central/test_anova_rows.py::test_levels_are_bounded_in_integers_for_every_factor",),
    ),
    Fault(
        name="gradients not clipped by the compiled kernel",
        path="csrc/anova.h",
        before="        level[i] = nearest(between(residual * (scale * gain), (double)limits[i]));\n",
        after="        level[i] = nearest(between(residual * (scale * gain), 2.0 * limits[i]));\n",
        caught_by=whole_fits("PrivateAnovaRegressor", "PrivateAnovaRegressor, pure"),
    ),
    Fault(
        name="compiled norms of records cut downwards, one notch too short",
        path="csrc/anova.c",
        before="        int64_t ratio = p->allowed / ((w->norm[i] >> SPARE) + 1);\n",
        after="        int64_t ratio = p->allowed / ((w->norm[i] >> SPARE) + !(w->norm[i] >> SPARE));\n",
        caught_by=("tests/central/test_anova_rows.py::test_the_compiled_bound_is_the_same_to_the_last_notch",),
    ),
    Fault(
        name="compiled levels of several outputs not shortened",
        path="csrc/anova.c",
        before="    const double shorter = norm > limit ? ",
        after="    const double shorter = norm > 2 * limit ? ",
        caught_by=("tests/central/test_anova_rows.py::test_every_path_gives_the_integers_of_the_reference[7]",),
    ),
    Fault(
        name="gradients of several outputs clipped one by one",
        path=f"{_ANOVA}/rows.py",
        before="    if len(levels) == 1:\n",
        after="    if len(levels) > 0:\n",
        caught_by=("tests/central/test_anova_rows.py::test_levels_are_bounded_in_integers_for_every_factor",),
    ),
    Fault(
        name="gradients in twice as many levels as paid for",
        path=f"{_ANOVA}/descent.py",
        before="        sums = rows.gradient(at, Clip(clip, each.weight, purse.order))\n",
        after="        sums = rows.gradient(at, Clip(clip, 2 * each.weight, purse.order))\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="one round without noise",
        path=f"{_ANOVA}/descent.py",
        before="        gradient = each.noisy(sums, randomness) * unit\n",
        after="        gradient = (sums if t == steps.rounds - 1 else each.noisy(sums, randomness)) * unit\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="looks at the residuals without noise",
        path=f"{_ANOVA}/descent.py",
        before="    noisy = release.noisy(release.weight * counts, randomness) / release.weight\n",
        after="    noisy = counts.astype(np.float64)\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="largest eigenvalue without noise",
        path=f"{_ANOVA}/curvature.py",
        before="    noisy = release.noisy(np.array([int(whole)]), randomness)\n",
        after="    noisy = np.array([int(whole)])\n",
        caught_by=whole_fits("PrivateAnovaRegressor, more"),
    ),
    Fault(
        name="largest eigenvalue in units of half a record",
        path=f"{_ANOVA}/rows.py",
        before="MOMENT = NORM**2 >> (2 * SCALE)\n",
        after="MOMENT = NORM**2 >> (2 * SCALE + 1)\n",
        caught_by=(
            "tests/central/test_anova_curvature.py::test_a_record_moves_it_by_its_weight_at_most[1.0-256-0.05]",
        ),
    ),
    Fault(
        name="steps longer than one for functions lighter than the constant",
        path=f"{_ANOVA}/curvature.py",
        before="    return np.asarray(np.minimum(1.0, energy[0] / energy))\n",
        after="    return np.asarray(energy[0] / energy)\n",
        caught_by=(
            "tests/central/test_anova_curvature.py::test_a_record_moves_it_by_its_weight_at_most[1.0-256-0.05]",
        ),
    ),
    Fault(
        name="compiled Gaussian noise from all pairs, also those to be dropped",
        path="csrc/kernels.c",
        before="            kept += keep;\n",
        after="            kept += 1;\n",
        caught_by=("tests/mechanisms/test_rounded_gaussian.py::test_compiled_draws_are_those_of_the_reference[30]",),
    ),
    Fault(
        name="compiled squares of records that are not shortened",
        path="csrc/anova.c",
        before="factor[i] = i < m ? (double)s[i] * 0x1p-30 : 0.0;\n",
        after="factor[i] = i < m ? 0x1p-15 : 0.0;\n",
        caught_by=("tests/central/test_anova_rows.py::test_every_path_gives_the_integers_of_the_reference[5]",),
    ),
    Fault(
        name="long records not shortened",
        path=f"{_ANOVA}/products.py",
        before="        ratio = np.minimum(self.allowed // norms, 1 << (2 * SCALE))\n",
        after="        ratio = np.full(norms.size, 1 << (2 * SCALE))\n",
        caught_by=("tests/central/test_anova_rows.py::test_vectors_are_whole_and_bounded_in_integers[None-inf]",),
    ),
    Fault(
        name="long records not shortened by the compiled kernel",
        path="csrc/anova.c",
        before="        if (ratio > 1 << 2 * SCALE) ratio = 1 << 2 * SCALE;\n",
        after="        ratio = 1 << 2 * SCALE;\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="products of three features left out of a record's norm",
        path=f"{_ANOVA}/products.py",
        before="        squares = [int(w) ** 2 for w in self.units]\n",
        after=(
            "        three = self.factors[:, 0] >= len(self.tables)\n"
            "        three &= self.factors[:, 0] < len(self.tables) + len(self.derived)\n"
            "        squares = [int(w) ** 2 for w in np.where(three, 1, self.units)]\n"
        ),
        caught_by=whole_fits("PrivateAnovaRegressor, triples"),
    ),
    Fault(
        name="number of triples by the true number of records",
        path=f"{_ANOVA}/triples.py",
        before="    fitted = spread / course.size * float((1 - left).sum())\n",
        after="    fitted = spread / course.data.rows.n * float((1 - left).sum())\n",
        caught_by=whole_fits("PrivateAnovaRegressor, triples"),
    ),
    Fault(
        name="length of a descent by the true number of records",
        path=f"{_ANOVA}/recipe.py",
        before="    return max(planned, rules.least(signal, course.size, part, found))\n",
        after="    return max(planned, rules.least(signal, course.size, part, found)) * course.data.rows.n / course.size\n",
        caught_by=whole_fits("PrivateAnovaRegressor, triples"),
    ),
    Fault(
        name="norms of records cut downwards, one notch too short",
        path=f"{_ANOVA}/products.py",
        before="        norms = (self.squares @ (whole * whole) >> _SPARE) + 1\n",
        after="        norms = self.squares @ (whole * whole) >> _SPARE\n",
        caught_by=("tests/central/test_anova_rows.py::test_the_bound_holds_to_the_last_notch",),
    ),
    Fault(
        name="the number of records told for nothing under add/remove",
        path=f"{_ANOVA}/accounting.py",
        before='    replaced = neighbours == "replace"\n',
        after="    replaced = True\n",
        caught_by=(
            "tests/central/test_anova_privacy.py::"
            "test_the_number_of_records_is_paid_for_unless_neighbours_have_as_many",
        ),
    ),
    Fault(
        name="missing values counted and coded as the last cell",
        path=f"{_ANOVA}/quantiles.py",
        before="            return np.where(np.isnan(x), CELLS, found).astype(np.uint8)\n",
        after="            return found.astype(np.uint8)\n",
        caught_by=("tests/central/test_anova_rows.py::test_missing_values_have_a_code_of_their_own",),
    ),
    Fault(
        name="shortened records clipped as if they were whole",
        path=f"{_ANOVA}/rows.py",
        before="    limit = np.floor(clip.levels * scales / (1 << SCALE))\n",
        after="    limit = np.full(scales.size, float(clip.levels))\n",
        caught_by=("tests/central/test_anova_rows.py::test_levels_are_bounded_in_integers_for_every_factor",),
    ),
    Fault(
        name="noise for the first output only",
        path=f"{_ANOVA}/accounting.py",
        before="        return sums + self.purse.noise(self, sums.size, randomness).reshape(sums.shape)\n",
        after=(
            "        noise = self.purse.noise(self, sums.size, randomness).reshape(sums.shape)\n"
            "        noise[..., 1:] //= 2\n"
            "        return sums + noise\n"
        ),
        caught_by=whole_fits("PrivateAnovaClassifier, three classes"),
    ),
    Fault(
        name="outputs share their noise",
        path=f"{_ANOVA}/accounting.py",
        before="        return sums + self.purse.noise(self, sums.size, randomness).reshape(sums.shape)\n",
        after=(
            "        noise = self.purse.noise(self, len(sums), randomness)\n"
            "        return sums + noise.reshape(-1, *[1] * (sums.ndim - 1))\n"
        ),
        caught_by=(
            "tests/audit/test_replay_fits.py::test_noise_of_whole_fits_is_as_wide_as_paid_for_and_not_shared"
            "[PrivateAnovaClassifier, three classes, Gaussian noise]",
            *whole_fits("PrivateAnovaClassifier, three classes"),
        ),
    ),
    Fault(
        name="Gaussian noise of half the width",
        path=f"{_ANOVA}/accounting.py",
        before="else rounded_gaussian(release.bits, n, randomness)\n",
        after="else rounded_gaussian(release.bits - 1, n, randomness)\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="Gaussian noise scaled after it was drawn",
        path=f"{_ANOVA}/accounting.py",
        before="else rounded_gaussian(release.bits, n, randomness)\n",
        after="else rounded_gaussian(release.bits + 8, n, randomness) // 300\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="second purse draws at twice the price",
        path=f"{_ANOVA}/accounting.py",
        before="NoisyCounts(release.cost, release.norm).release(zeros, randomness)\n",
        after="NoisyCounts(2 * release.cost, release.norm).release(zeros, randomness)\n",
        caught_by=whole_fits("PrivateAnovaRegressor, pure"),
    ),
    Fault(
        name="purse for replaced records as full as for added ones",
        path=f"{_ANOVA}/accounting.py",
        before='    factor = 2 if neighbours == "replace" else 1\n',
        after="    factor = 1\n",
        caught_by=whole_fits("PrivateAnovaRegressor, replace", "PrivateAnovaRegressor, pure, replace"),
    ),
    Fault(
        name="quantiles from the true counts",
        path=f"{_ANOVA}/quantiles.py",
        before="    return np.asarray(each.noisy(each.weight * np.stack(raw), randomness) / each.weight)\n",
        after=(
            "    each.noisy(each.weight * np.stack(raw), randomness)\n    return np.stack(raw).astype(np.float64)\n"
        ),
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="number of records not from the noisy counts",
        path=f"{_ANOVA}/quantiles.py",
        before="    total = max(_LEAST, float(n) if purse.known_size else float(counts.sum(axis=1).mean()))\n",
        after="    total = max(_LEAST, float(n))\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="number of records without noise, in pure fits",
        path=f"{_ANOVA}/quantiles.py",
        before="    return max(_LEAST, float(noisy[0]) / release.weight)\n",
        after="    return max(_LEAST, float(n))\n",
        caught_by=whole_fits("PrivateAnovaRegressor, pure"),
    ),
    Fault(
        name="quantiles of d features paid for as one",
        path=f"{_ANOVA}/quantiles.py",
        before="    each = purse.release(share / levels, int(numeric.size), _WEIGHT)\n",
        after="    each = purse.release(share / levels, 1, _WEIGHT)\n",
        caught_by=whole_fits("PrivateAnovaRegressor"),
    ),
    Fault(
        name="quantiles of d features paid for as one, in pure fits",
        path=f"{_ANOVA}/quantiles.py",
        before="        each = purse.release(share / levels, len(columns), _WEIGHT)\n",
        after="        each = purse.release(share / levels, 1, _WEIGHT)\n",
        caught_by=("tests/central/test_anova_pure.py::test_quantiles_are_priced_by_the_number_of_features",),
    ),
    Fault(
        name="look at a correction not paid for",
        path=f"{_ANOVA}/gate.py",
        before="        noisy = release.noisy(sums, randomness) / release.weight\n",
        after="        noisy = sums / release.weight\n",
        caught_by=whole_fits("PrivateAnovaRegressor, public model"),
    ),
    Fault(
        name="look at a correction paid for as one sum of three",
        path=f"{_ANOVA}/gate.py",
        before="        return purse.release(Fraction(1), 6 if purse.order == 2 else 4, _LEVELS)\n",
        after="        return purse.release(Fraction(1), 1, _LEVELS)\n",
        caught_by=("tests/central/test_anova_public.py::test_the_look_is_priced_by_these_bounds",),
    ),
    Fault(
        name="what is left over not clipped in the look",
        path=f"{_ANOVA}/gate.py",
        before="    first = np.clip(np.rint(2 * weight * (product / (size * length))), -2 * weight, 2 * weight)\n",
        after="    first = np.rint(2 * weight * (product / (most * length)))\n",
        caught_by=(
            "tests/central/test_anova_public.py::test_what_a_record_adds_to_the_look_is_bounded_in_whole_numbers",
        ),
    ),
    Fault(
        name="fit beside a public model spends the whole purse, and the look besides",
        path=f"{_ANOVA}/accounting.py",
        before="        parts = (None, None) if self.total is None else ((1 - share) * self.total, share * self.total)\n",
        after="        parts = (None, None) if self.total is None else (self.total, share * self.total)\n",
        caught_by=("tests/central/test_anova_public.py::test_the_fit_and_the_look_spend_what_there_is",),
    ),
    Fault(
        name="features are chosen as if a record moved a cost one way only",
        path=f"{_ANOVA}/pick.py",
        before="MOVES = 2 * LEVELS * FULL**2\n",
        after="MOVES = LEVELS * FULL**2\n",
        caught_by=("tests/central/test_anova_pure.py::test_a_record_moves_no_cost_by_more_than_is_paid_for[1]",),
    ),
    Fault(
        name="every choice of a feature spends the price of all",
        path=f"{_ANOVA}/pick.py",
        before="    cost = share * purse.total / k\n",
        after="    cost = share * purse.total\n",
        caught_by=("tests/central/test_anova_pure.py::test_each_choice_pays_a_kth_of_the_share",),
    ),
    Fault(
        name="choices of features are not charged",
        path=f"{_ANOVA}/pick.py",
        before="        purse.charge(cost)\n        j = int(choice",
        after="        j = int(choice",
        caught_by=(
            "tests/central/test_anova_pure.py::test_choices_are_charged_before_they_are_drawn_and_never_repeat",
        ),
    ),
    Fault(
        name="descents forget what quantiles spent",
        path=f"{_ANOVA}/accounting.py",
        before="        return 1 - planned if self.total is None else 1 - self.spent / self.total\n",
        after="        return 1 - planned if self.total is None else Fraction(1)\n",
        caught_by=("tests/central/test_anova_rules.py::test_descents_spend_what_quantiles_left",),
    ),
    Fault(
        name="public predictions rounded by whoever is beside a record",
        path="src/hedgerow/central/steady.py",
        before="        return _weighted(np.ascontiguousarray(D.T), part.coef)\n",
        after="        return part.predict(D - D.mean(axis=0)) + float(D.mean(axis=0) @ part.coef)\n",
        caught_by=("tests/central/test_steady.py::test_a_record_counts_the_same_whoever_is_beside_it",),
    ),
    Fault(
        name="contrasts measured from the mean of private records",
        path="src/hedgerow/central/contrasts.py",
        before="        return np.asarray(Z[:, i] * a + Z[:, j] * b)\n",
        after="        return np.asarray((Z[:, i] - Z[:, i].mean()) * a + (Z[:, j] - Z[:, j].mean()) * b)\n",
        caught_by=("tests/central/test_contrasts.py::test_a_record_counts_the_same_whoever_is_beside_it",),
    ),
    Fault(
        name="contrasts of what goes together in private records",
        path=f"{_ANOVA}/reading.py",
        before="        base = (values - low) / (high - low)\n        return Encoded(self.public.widen(",
        after="""        base = (values - low) / (high - low)
        from hedgerow.central.contrasts import contrasts_of
        object.__setattr__(self.public, "contrasts", contrasts_of(self.columns, Z) or self.public.contrasts)
        return Encoded(self.public.widen(""",
        caught_by=("tests/central/test_contrasts.py::test_private_records_choose_none_of_it",),
    ),
    Fault(
        name="first clip from private residuals",
        path=f"{_ANOVA}/correct.py",
        before="    clip = known.radius(_QUANTILE, _LEAST * most, most, purse.order)\n",
        after="    clip = max(_LEAST, float(np.quantile(np.abs(records.targets), _QUANTILE)))\n",
        caught_by=whole_fits("PrivateAnovaRegressor, public model"),
    ),
    Fault(
        name="offset of the classes from their frequencies",
        path=f"{_ANOVA}/classifier.py",
        before="        offset = 0.5 if outputs == 1 else 1.0 / k\n",
        after="        offset = float(on[:, 0].mean())\n",
        caught_by=whole_fits("PrivateAnovaClassifier, three classes"),
    ),
)
