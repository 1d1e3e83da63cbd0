"""Faults of tasks and of reading records: what makes some holders silent, or their reports unlike the others'."""

from __future__ import annotations

from mutants.fault import Fault

_TOTAL = "tests/conformance/test_total.py"
_STRICT = "tests/conformance/test_strict.py"
_MISMATCH = "tests/tasks/test_assisted_mismatch.py"
_COPIES = "tests/tasks/test_copies.py"
_REPORTED = f"{_TOTAL}::test_every_record_is_reported_with_one_length"
_UNFORESEEN = f"{_TOTAL}::test_an_unforeseen_failure_is_the_report_of_the_fixed_record"

FAULTS = (
    Fault(
        name="alarms: a bit alone is allowed a notch too small a share of its neighbours",
        path="src/hedgerow/tasks/copies.py",
        before="    alone = 1 / (1 + (k - 1) * odds)\n",
        after="    alone = 1 / (1 + k * odds)\n",
        caught_by=(f"{_COPIES}::test_bounds_of_bits_are_those_of_the_exact_law",),
    ),
    Fault(
        name="alarms: a class of copies is bounded for the last record only",
        path="src/hedgerow/tasks/copies.py",
        before="        high = np.maximum(high, law)\n",
        after="        high = law\n",
        caught_by=(f"{_COPIES}::test_bounds_of_sets_are_those_of_the_exact_law",),
    ),
    Fault(
        name="alarms: an event among others is counted against those of another detector",
        path="src/hedgerow/tasks/alarms.py",
        before="replace(event, among=before + event.among)",
        after="replace(event, among=event.among)",
        caught_by=("tests/tasks/test_alarms.py::test_the_bounds_are_those_of_the_exact_law",),
    ),
    Fault(
        name="one round: errors beyond the radius are sent as they are",
        path="src/hedgerow/tasks/partly_public/residual.py",
        before="        return Drawn(self.encoding.write(cast(\"IntArray\", codes), mask, Z))\n",
        after="        known = np.abs(error) > 0.99 * self.assist.radius\n"
        "        codes = np.where(known, (error > 0) * (self.mechanism.n_inputs - 1), codes)\n"
        "        return Drawn(self.encoding.write(cast(\"IntArray\", codes), mask, Z))\n",
        caught_by=("audit", "whole: partly public, one round"),
    ),
    Fault(
        name="one round: the mechanism may have a larger budget than the task",
        path="src/hedgerow/tasks/partly_public/residual.py",
        before="        if self.mechanism.epsilon != self.epsilon or self.mechanism.guarantee.delta:\n",
        after="        if self.mechanism.guarantee.delta:\n",
        caught_by=("tests/semi/test_residual_task.py::test_what_does_not_fit_is_refused",),
    ),
    Fault(
        name="one round: a policy is said to protect the label, whatever is private",
        path="src/hedgerow/tasks/partly_public/residual.py",
        before="        if self.masks == \"policy\" and not self.private:\n",
        after="        if self.masks == \"policy\":\n",
        caught_by=("tests/semi/test_residual_task.py::test_the_claim_is_for_the_label_alone_where_nothing_else_is_private",),
    ),
    Fault(
        name="one round: what a holder marks as private is sent in clear",
        path="src/hedgerow/tasks/partly_public/clear.py",
        before="    sent = np.where(private, 0.0, Z)[:, _sent(task)] + 0.0  # no -0.0\n",
        after="    sent = Z[:, _sent(task)] + 0.0  # no -0.0\n",
        caught_by=("tests/semi/test_residual_task.py::test_what_a_holder_marks_is_not_sent",),
    ),
    Fault(
        name="one round: the group of private values is told as it is",
        path="src/hedgerow/tasks/partly_public/residual.py",
        before="        codes = self.mechanism.randomize(symbols, source)\n",
        after="        codes = self.mechanism.randomize(symbols, source)\n"
        "        if self.cells is not None:\n"
        "            levels = self.grid.n_steps + 1\n"
        "            codes = symbols // levels * levels + codes % levels\n",
        caught_by=("audit", "whole: partly public, one round, symbols"),
    ),
    Fault(
        name="one round: shares of groups are forgotten where the gain is estimated",
        path="src/hedgerow/semi/symbols.py",
        before="        B = own**2 - q * self.n_levels * (f**2).sum(axis=1)\n",
        after="        B = own**2\n",
        caught_by=("tests/semi/test_symbols.py::test_sums_over_symbols_are_without_bias",),
    ),
    Fault(
        name="one round: corrections read features that all holders hide",
        path="src/hedgerow/semi/learn.py",
        before="    shown = np.asarray(~private.all(axis=0))\n",
        after="    shown = np.ones(private.shape[1], dtype=bool)\n",
        caught_by=("tests/semi/test_learn.py::test_what_nobody_shows_is_not_read",),
    ),
    Fault(
        name="the class that is asked about depends on the record",
        path="src/hedgerow/tasks/assisted/class_task.py",
        before="        return Drawn(self.encoding.draw(len(Z), source, answer))\n",
        after="        drawn = self.encoding.draw(len(Z), source, answer)\n"
        "        own = np.asarray(y).astype(np.int64) % len(self.parts)\n"
        "        drawn[:, 0] = own if len(self.parts) > 2 else drawn[:, 0]\n"
        "        return Drawn(drawn)\n",
        caught_by=("audit", "whole: assisted, three classes"),
    ),
    Fault(
        name="each class is answered with the noise of a larger budget",
        path="src/hedgerow/tasks/assisted/class_task.py",
        before="        return AssistedTask(epsilon=epsilon, label_bounds",
        after="        return AssistedTask(epsilon=1.1 * epsilon, label_bounds",
        caught_by=("audit", "whole: assisted, two classes"),
    ),
    Fault(
        name="an unknown class is an error, and so silence",
        path="src/hedgerow/tasks/assisted/class_task.py",
        before="        known = CategoricalFeature(self.target, self.classes, self.missing)\n"
        "        return known.codes(label_column(y, name, n))\n",
        after="        return np.array([self.classes.index(c) for c in label_column(y, name, n)], dtype=np.float64)\n",
        caught_by=(f"{_REPORTED}[assisted, two classes]",),
    ),
    Fault(
        name="messages about a class are not padded to one length with zeros",
        path="src/hedgerow/tasks/assisted/classes.py",
        before="        rows = np.zeros((n, self.width), dtype=np.uint8)\n",
        after="        rows = source.uint8(n * self.width).reshape(n, self.width)\n",
        caught_by=("tests/service/test_service_kinds.py", "tests/holder/test_holder_vectors.py",),
    ),
    Fault(
        name="a label range of no width is accepted",
        path="src/hedgerow/grid.py",
        before="    if high - low < SMALLEST:\n",
        after="    if high - low < 0:\n",
        caught_by=(f"{_STRICT}::test_a_grid_of_no_width_is_refused_in_every_task",),
    ),
    Fault(
        name="a label range beyond what is finite is accepted",
        path="src/hedgerow/grid.py",
        before="    if max(-low, high, high - low) > LARGEST:\n",
        after="    if max(-low, high, high - low) > 1e308:\n",
        caught_by=("tests/test_grid.py::test_a_grid_on_which_a_number_would_not_be_finite_is_refused",),
    ),
    Fault(
        name="a missing label raises again",
        path="src/hedgerow/grid.py",
        before="        array = np.clip(np.where(np.isnan(array), missing, array), *bounds)\n",
        after="        raise BoundsError('a label is no number')\n",
        caught_by=("tests/test_grid.py::test_private_labels_are_absorbed",),
    ),
    Fault(
        name="labels are not clipped",
        path="src/hedgerow/grid.py",
        before="        position = np.clip(labels, self.low, self.high).ravel()\n",
        after="        position = labels.astype(np.float64).ravel()\n",
        caught_by=("tests/test_grid.py::test_levels_are_integers_of_the_grid_and_labels_clip",),
    ),
    Fault(
        name="a missing label counts as the highest",
        path="src/hedgerow/grid.py",
        before="            position[np.isnan(position)] = self.missing\n",
        after="            position[np.isnan(position)] = self.high\n",
        caught_by=("tests/test_grid.py::test_private_labels_are_absorbed",),
    ),
    Fault(
        name="features beyond their range are sent as they are",
        path="src/hedgerow/features.py",
        before="        return self.missing if math.isnan(x) else min(max(x, self.low), self.high)\n",
        after="        return self.missing if math.isnan(x) else x\n",
        caught_by=("tests/test_space.py::test_records_as_mappings_and_rows", f"{_TOTAL}",),
    ),
    Fault(
        name="missing features are left as they are",
        path="src/hedgerow/space.py",
        before="                part = np.where(np.isnan(part), self.missing.astype(Z.dtype), part)\n",
        after="                part = np.array(part)\n",
        caught_by=("tests/test_space.py::test_missing_and_infinite_numbers",),
    ),
    Fault(
        name="a field that a record lacks is an error",
        path="src/hedgerow/values.py",
        before="        return [field(record, name) for name in names]\n",
        after="        return [record[name] for name in names]\n",
        caught_by=("tests/test_space.py::test_records_as_mappings_and_rows",),
    ),
    Fault(
        name="a value whose methods fail makes its holder silent",
        path="src/hedgerow/values.py",
        before="    except Exception:  # a value whose own methods fail is no number, and must not keep its record from reporting\n",
        after="    except ZeroDivisionError:\n",
        caught_by=("tests/test_values.py",),
    ),
    Fault(
        name="a number beyond all floats is an error",
        path="src/hedgerow/values.py",
        before="    except OverflowError:\n        return math.inf if value > 0 else -math.inf\n",
        after="    except OverflowError:\n        raise SystemExit from None\n",
        caught_by=("tests/test_values.py",),
    ),
    Fault(
        name="an unforeseen failure to read a record is raised",
        path="src/hedgerow/tasks/records.py",
        before="    except Exception:\n        return fixed(task)\n",
        after="    except ZeroDivisionError:\n        return fixed(task)\n",
        caught_by=(_UNFORESEEN,),
    ),
    Fault(
        name="an unforeseen failure to work out a report is raised",
        path="src/hedgerow/tasks/records.py",
        before="    try:\n        return inputs(Z, y)\n    except Exception:\n        return instead\n",
        after="    return inputs(Z, y)\n",
        caught_by=(_UNFORESEEN,),
    ),
    Fault(
        name="what overflows for some records is an error with -W error",
        path="src/hedgerow/tasks/records.py",
        before='    with np.errstate(all="ignore"):\n',
        after='    with np.errstate(all="raise"):\n',
        caught_by=(_REPORTED,),
    ),
    Fault(
        name="a task that fails in a new way is not refused as malformed",
        path="src/hedgerow/content.py",
        before="        except Exception as error:  # who writes a task may be an enemy of who reads it\n",
        after="        except TypeError as error:\n",
        caught_by=("tests/test_content.py::test_whatever_goes_wrong_while_a_content_is_made_is_a_format_error",),
    ),
    Fault(
        name="a second round without a budget for cells",
        path="src/hedgerow/tasks/partly_public/cells.py",
        before="        if self._hides:\n            self._check_budget()\n",
        after="",
        caught_by=(f"{_STRICT}::test_a_second_round_that_some_could_not_answer_is_refused",),
    ),
    Fault(
        name="codes of labels beyond 32 bits",
        path="src/hedgerow/tasks/labels/task.py",
        before="    if not -_FARTHEST <= low <= high < _FARTHEST or",
        after="    if",
        caught_by=(f"{_STRICT}::test_noise_that_does_not_fit_a_report_is_refused",),
    ),
    Fault(
        name="private cells of a file are refused",
        path="src/hedgerow/tables.py",
        before="        return _floats(column) if numeric else _objects(_cells(column))\n",
        after="        return self.numbers(name) if numeric else self.texts(name)\n",
        caught_by=("tests/commands/test_cli_errors.py::test_privatize_reports_every_record_whatever_is_in_its_cells",),
    ),
    Fault(
        name="a field that a task does not ask for makes a device silent",
        path="src/hedgerow/commands/join.py",
        before="        # No error: who has a field that others lack must not be silent.\n",
        after="        raise HedgerowError('the task does not ask for this')\n",
        caught_by=("tests/holder/test_holder_words.py::test_whatever_is_in_a_record_it_is_sent",),
    ),
    Fault(
        name="a second round answers with features that have changed since",
        path="src/hedgerow/tasks/partly_public/task.py",
        before="        return self.kept_from_bytes(kept), {**record, **clear}\n",
        after="        return self.kept_from_bytes(kept), {**clear, **record}\n",
        caught_by=("tests/holder/test_holder_device.py::test_two_rounds_cost_once_and_use_one_label",),
    ),
    Fault(
        name="simulated labels have less noise than those of devices",
        path="src/hedgerow/tasks/tree/simulate.py",
        before="    noise, low = encoding.label.ratio, -encoding.label.reach\n",
        after="    noise, low = encoding.label.ratio // 2, -encoding.label.reach\n",
        caught_by=("tests/conformance/test_tasks.py::test_simulated_totals_have_the_law_of_reports[tree, bits]",),
    ),
    Fault(
        name="a correction is kept without regard to how well its gain is known",
        path="src/hedgerow/tasks/gate.py",
        before="    least = product - NormalDist().inv_cdf(1 - chance) * sd\n",
        after="    least = product\n",
        caught_by=("tests/tasks/test_gate.py::test_a_level_found_by_reports_harms_as_seldom_as_said",),
    ),
    Fault(
        name="a large harm is as likely as a small one",
        path="src/hedgerow/tasks/gate.py",
        before="    return min(_within(found, slack * mean_square, chance / sides) for slack, chance in LIMITS)\n",
        after="    return _within(found, LIMITS[0][0] * mean_square, LIMITS[0][1] / sides)\n",
        caught_by=(
            "tests/tasks/test_gate.py::test_the_bound_of_the_change_is_the_slack_at_most_for_every_limit",
        ),
    ),
    Fault(
        name="leaf shares are decoded as if errors were as large as public ones",
        path="src/hedgerow/tasks/assisted/shrink.py",
        before="    factor = busyness(task, sums)\n",
        after="    factor = 1.0\n",
        caught_by=(
            "tests/local/test_assisted_shift.py::test_errors_of_another_size_do_not_pass_for_other_shares[levels-0.3]",
        ),
    ),
    Fault(
        name="corrections of leaves are judged by the noise that they were learnt from",
        path="src/hedgerow/tasks/assisted/mismatch.py",
        before="    product = float(weighted @ z - np.trace(taken))\n",
        after="    product = float(weighted @ z)\n",
        caught_by=(f"{_MISMATCH}::test_the_gain_of_pooled_corrections_is_estimated_without_bias",),
    ),
    Fault(
        name="reports may name all leaves, so that private shares are not seen",
        path="src/hedgerow/tasks/assisted/choose.py",
        before='[("subset", k) for k in SIZES if k <= max(1, K // 2)]',
        after='[("subset", k) for k in SIZES if k <= K]',
        caught_by=(
            f"{_MISMATCH}::test_subsets_leave_half_of_the_leaves_out_and_most_errors_are_within_the_radius",
        ),
    ),
    Fault(
        name="trimmed totals claim to be of all reports",
        path="src/hedgerow/tasks/trimmed.py",
        before="    n = math.floor(even / cost(len(parts), dropped))\n",
        after="    n = sum(sizes)\n",
        caught_by=("tests/tasks/test_trimmed.py::test_forged_groups_move_plain_totals_and_not_trimmed_ones",),
    ),
)  # fmt: skip
