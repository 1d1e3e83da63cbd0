"""Faults of the holder's page: what it reads, what it keeps, what it draws, what it books."""

from __future__ import annotations

from mutants.fault import Fault

_WEB = "src/hedgerow/holder/web"
_DEVICE = "tests/holder/test_holder_browser.py"
_REFUSALS = ("tests/holder/test_holder_refusals.py::test_node_judges_as_python_does",)
_VECTORS = ("tests/holder/test_holder_vectors.py::test_node_makes_the_same_bytes",)
_VALUES = ("tests/holder/test_holder_values.py",)

FAULTS = (
    Fault(
        name="page: the columns of a public model's process are not bent",
        path=f"{_WEB}/portable.js",
        before="u[j] += bends[k] * Math.max(row[j] - edges[k], 0)",
        after="u[j] += 0 * bends[k]",
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: a number that can be read in two ways is guessed at",
        path=f"{_WEB}/typed.js",
        before="mark !== decimal && thousands ? null",
        after="false ? null",
        caught_by=("tests/holder/test_holder_asking.py::test_the_page_reads_them_alike",),
    ),
    Fault(
        name="page: the picture shows better odds than the law",
        path=f"{_WEB}/picture.js",
        before="sum + share * p + (1 - share) * q",
        after="sum + share * p * 0.9",
        caught_by=("tests/holder/test_holder_picture.py",),
    ),
    Fault(
        name="page: words of a task without limits",
        path=f"{_WEB}/wording.js",
        before="[...found].length <= most && ",
        after="",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: the digest of a first round is taken as stated",
        path=f"{_WEB}/second_round.js",
        before="const digest = await innerDigest(found.first);",
        after='const digest = fromHex(found.first.get("id"));',
        caught_by=(f"{_DEVICE}::test_a_second_round_with_another_first_round_under_the_same_id_is_refused",),
    ),
    Fault(
        name="page: a second round at another epsilon than was agreed to",
        path=f"{_WEB}/second_round.js",
        before="require(same, ",
        after="require(true, ",
        caught_by=(f"{_DEVICE}::test_a_first_round_that_differs_from_what_was_kept_is_refused",),
    ),
    Fault(
        name="page: two tabs answer a second round each",
        path=f"{_WEB}/device.js",
        before="memory.alone(task.first ?? task.id, ",
        after="memory.alone(task.id, ",
        caught_by=(f"{_DEVICE}::test_an_honest_second_round_uses_what_was_kept_and_the_lock_of_the_first",),
    ),
    Fault(
        name="page: a first round takes any number of second rounds",
        path=f"{_WEB}/device.js",
        before="!secrets.second || secrets.second === task.id",
        after="true",
        caught_by=(f"{_DEVICE}::test_a_first_round_takes_one_second_round_and_its_own_curator",),
    ),
    Fault(
        name="page: a report is drawn anew on every visit",
        path=f"{_WEB}/device.js",
        before="if (keptReport(task.id)) return null;",
        after="",
        caught_by=(f"{_DEVICE}::test_a_first_round_takes_one_second_round_and_its_own_curator",),
    ),
    Fault(
        name="page: no total over all keys",
        path=f"{_WEB}/budget.js",
        before='if (!known) refuse(cost, spentInAll(), LIMITS.total, "all curators together");',
        after="",
        caught_by=(f"{_DEVICE}::test_there_is_a_total_over_all_keys",),
    ),
    Fault(
        name="page: delta is not booked",
        path=f"{_WEB}/budget.js",
        before=" && spent.delta + cost.delta <= limit.delta",
        after="",
        caught_by=(f"{_DEVICE}::test_there_is_a_total_over_all_keys",),
    ),
    Fault(
        name="page: costs are rounded down",
        path=f"{_WEB}/budget.js",
        before=" + (whole % 10n ** BigInt(-shift) > 0n ? 1n : 0n)",
        after="",
        caught_by=(f"{_DEVICE}::test_costs_are_those_of_python",),
    ),
    Fault(
        name="page: bins of a label that start above 0",
        path=f"{_WEB}/label_mechanisms.js",
        before="starts[0] === 0 && ",
        after="",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: a table with too few rows",
        path=f"{_WEB}/label_mechanisms.js",
        before="rows.length === steps + 1 && ",
        after="",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: a table that breaks its own claim",
        path=f"{_WEB}/label_mechanisms.js",
        before="require(holds, ",
        after="require(true, ",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: Gaussian noise that breaks its own claim",
        path=f"{_WEB}/label_mechanisms.js",
        before="require(deltaHolds(weights, steps, epsilon, delta), ",
        after="require(true, ",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: half a step, and bounds as text",
        path=f"{_WEB}/reader.js",
        before=r"value instanceof Numeral && /^(?:0|-?[1-9][0-9]*)$/.test(value.text) && value.text.length < 4300",
        after="true",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: numbers in any spelling",
        path=f"{_WEB}/reader.js",
        before=" && floatText(found) === /** @type {Numeral} */ (value).text",
        after="",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: fields that nobody knows",
        path=f"{_WEB}/reader.js",
        before="value.size === names.length && ",
        after="",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: a range of labels so narrow that the scale overflows",
        path=f"{_WEB}/schema.js",
        before=" && high - low >= SMALLEST",
        after="",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: a tree that leads astray",
        path=f"{_WEB}/partition.js",
        before="child > node && child < n - 1 && depth[child] < 0 && depth[child + 1] < 0",
        after="true",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: with a public model the label is reported",
        path=f"{_WEB}/masked.js",
        before="reported: label - prediction",
        after="reported: label",
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: what a holder marks as private is sent in clear",
        path=f"{_WEB}/masked.js",
        before="parts.push(double(mask[j] ? 0 : value + 0));",
        after="parts.push(double(value + 0));",
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: the mechanism of one round may have another budget",
        path=f"{_WEB}/residual.js",
        before="insist(epsilon === this.epsilon && delta === 0 && !mechanism.top",
        after="insist(delta === 0 && !mechanism.top",
        caught_by=_REFUSALS,
    ),
    Fault(
        name="page: the fine label is sent where features are private",
        path=f"{_WEB}/first_round.js",
        before="mask.some(Boolean) ? clamp(far, ",
        after="mask.some(Boolean) ? clamp(near, ",
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: a first round at 1.1 times its epsilon",
        path=f"{_WEB}/first_round.js",
        before="laplace(epsilon, steps), laplace(label, steps)",
        after="laplace(1.1 * epsilon, steps), laplace(1.1 * label, steps)",
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: a missing label counts as the middle",
        path=f"{_WEB}/schema.js",
        before="codeOf(labels.classes, value, labels.missing, labels.missing) : numberWithin(labels, value));",
        after=(
            "codeOf(labels.classes, value, labels.missing, labels.missing) : "
            "numberWithin({ ...labels, missing: (labels.low + labels.high) / 2 }, value));"
        ),
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: a missing class counts as the first",
        path=f"{_WEB}/schema.js",
        before="codeOf(labels.classes, value, labels.missing, labels.missing) : numberWithin(labels, value));",
        after="codeOf(labels.classes, value, 0, 0) : numberWithin(labels, value));",
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: an unknown category is an error",
        path=f"{_WEB}/schema.js",
        before="if (code >= 0) return code;",
        after='insist(code >= 0, "a category");\n  if (code >= 0) return code;',
        caught_by=_VALUES,
    ),
    Fault(
        name="page: whether a private value is missing is sent in clear",
        path=f"{_WEB}/masked.js",
        before="return this.columns.map((column) => this.secret.includes(column.of ?? column.name));",
        after="return this.columns.map((column) => this.secret.includes(column.name));",
        caught_by=_VECTORS,
    ),
    Fault(
        name="page: a record that cannot be read is silence",
        path=f"{_WEB}/task.js",
        before="place = this.place(this.emptied(record), more);",
        after="throw new Error();",
        caught_by=_VALUES,
    ),
)
