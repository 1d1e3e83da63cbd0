// @ts-check
/**
 * What is publicly known of each value, and the rule by which anything at all counts as one of them.
 *
 * A holder whose record is refused stays silent, and silence tells on the record. So nothing about a record is ever an
 * error here: numbers outside a range count as its nearest end, what is no number counts as `missing`, a category that
 * is not listed as `unknown`, none at all as `missing`; a record that cannot be read at all counts as one in which
 * everything is missing. A number with an indicator has a yes/no feature more, after all columns, that says whether it is
 * missing. All of this stands in the task, and is the same in Python (hedgerow.values, hedgerow.space).
 */

import { bounds, count, fields, floatText, insist, list, number, text, whole, word } from "./reader.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {{name: string, low: number, high: number, missing: number, indicator: boolean, categories?: undefined, of?: undefined}} NumberColumn */
/** @typedef {{name: string, categories: string[], unknown: string, missing: string, of?: string}} CategoryColumn `of` is the number whose absence it tells */
/** @typedef {NumberColumn | CategoryColumn} Column */
/** @typedef {{low: number, high: number, n_steps: number, missing: number}} Grid */

export const MOST_STEPS = 2 ** 20; // as in Python's LabelGrid: then 256ths of a step fit in 28 bits
/** Of the label's bounds, of the width of its range, and of what errors are cut to; derived where Python has them, in hedgerow.bounds. */
export const [SMALLEST, LARGEST] = [1e-100, 1e100];

// ---------------------------------------------------------------- reading

/** What a missing number counts as. @param {unknown} value @param {number} low @param {number} high */
function readMissing(value, low, high) {
  const missing = number(value, "what a missing value counts as");
  insist(low <= missing && missing <= high, "what a missing value counts as");
  return missing;
}

/** @param {unknown} value @returns {Column} */
function readColumn(value) {
  if (value instanceof Map && value.has("categories")) {
    const found = fields(value, "a category column", ["name", "categories", "unknown", "missing"]);
    const categories = list(found.categories, "categories", text);
    insist(categories.length > 0 && new Set(categories).size === categories.length, "categories");
    const unknown = word(found.unknown, "what an unknown category counts as", categories);
    const missing = word(found.missing, "what a missing category counts as", categories);
    return { name: text(found.name, "a name"), categories, unknown, missing };
  }
  const found = fields(value, "a number column", ["name", "low", "high", "missing", "indicator"]);
  const [low, high] = [number(found.low, "a range"), number(found.high, "a range")];
  insist(low <= high && typeof found.indicator === "boolean", "a range");
  return { name: text(found.name, "a name"), low, high, missing: readMissing(found.missing, low, high), indicator: found.indicator };
}

/** Whether a number is missing. @param {Column} column @returns {CategoryColumn} */
const absence = ({ name }) => ({ name: `${name} is missing`, categories: ["no", "yes"], unknown: "no", missing: "no", of: name });

/** The columns that are asked for, at least one, and what is told of missing numbers; each under its own name. @param {unknown} value @returns {Column[]} */
export function readSpace(value) {
  const columns = list(fields(value, "the columns", ["columns"]).columns, "the columns", readColumn);
  const features = [...columns, ...columns.filter((column) => !column.categories && column.indicator).map(absence)];
  const names = features.map((feature) => feature.name);
  insist(names.length > 0 && new Set(names).size === names.length, "the names of columns");
  return features;
}

/** The columns that people are asked for. @param {Column[]} features */
export const inputsOf = (features) => features.filter((feature) => feature.of === undefined);

/** The levels of the label. @param {unknown} value @returns {Grid} */
export function readGrid(value) {
  const found = fields(value, "the label's grid", ["low", "high", "n_steps", "missing"]);
  const [low, high] = [number(found.low, "the label's range"), number(found.high, "the label's range")];
  checkRange(low, high);
  const steps = whole(found.n_steps, "the label's steps", 1, MOST_STEPS);
  return { low, high, n_steps: steps, missing: readMissing(found.missing, low, high) };
}

/** Wide enough, and near enough to 0, that all numbers that are made of a label are finite. @param {number} low @param {number} high */
export function checkRange(low, high) {
  insist(low < high && Math.max(-low, high, high - low) <= LARGEST && high - low >= SMALLEST, "the label's range");
}

/** The range of a label that a public model predicts. @param {unknown} value @param {unknown} missing @returns {{low: number, high: number, missing: number}} */
export function readLabels(value, missing) {
  const { low, high } = bounds(value, "the label's range");
  checkRange(low, high);
  return { low, high, missing: readMissing(missing, low, high) };
}

/** How far errors of a public model are told. @param {unknown} value */
export function readRadius(value) {
  const radius = number(value, "the radius");
  insist(radius >= SMALLEST && radius <= LARGEST, "the radius");
  return radius;
}

/** Class names: at least two, all different; one level a class. @param {unknown} value @param {Grid} grid @returns {string[]} */
export function readClasses(value, grid) {
  const names = list(value, "classes", text);
  insist(Number.isInteger(grid.missing), "what a missing class counts as");
  insist(names.length >= 2 && new Set(names).size === names.length, "classes");
  insist(grid.low === 0 && grid.high === names.length - 1 && grid.n_steps === names.length - 1, "classes");
  return names;
}

const SUMMARY = ["mean", "mean_square", "clipped_mean", "inside", "level_square"];

/** What the curator knows of public errors: nothing that a device needs, but it must be what it says. @param {unknown} value */
export function checkResiduals(value) {
  const what = "public errors";
  const found = fields(value, what, [...SUMMARY, "n_public", "quantiles"]);
  const numbers = Object.fromEntries(SUMMARY.map((name) => [name, number(found[name], what)]));
  insist(numbers.mean_square >= 0 && numbers.level_square >= 0 && numbers.inside > 0 && numbers.inside <= 1, what);
  insist(Number.isFinite(Number(count(found.n_public, what))), what);
  const quantiles = list(found.quantiles, what, number);
  insist(quantiles.length === 101 && quantiles.every((q, i) => i === 0 || quantiles[i - 1] <= q), what);
}

// ---------------------------------------------------------------- the rule for values

const BLANKS = /^[ \t\n\r\v\f]+|[ \t\n\r\v\f]+$/g;
const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** The number that a value stands for; NaN if it is missing. @param {unknown} value @returns {number} */
export function numberOf(value) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value);
  if (typeof value !== "string") return NaN;
  const bare = value.replace(BLANKS, "");
  return NUMBER.test(bare) ? Number(bare) : NaN;
}

/** The category that a value stands for; null if it is missing. 1, 1.0 and "1" are all "1". @param {unknown} value @returns {string | null} */
export function categoryOf(value) {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "number" || Number.isNaN(value)) return null;
  return Number.isInteger(value) ? String(BigInt(value)) : floatText(value);
}

/** Within a range, or what a missing number counts as. @param {{low: number, high: number, missing: number}} range @param {unknown} value */
export function numberWithin({ low, high, missing }, value) {
  const found = numberOf(value);
  return Number.isNaN(found) ? missing : Math.min(Math.max(found, low), high);
}

/** @param {string[]} names @param {unknown} value @param {number} unknown @param {number} missing */
function codeOf(names, value, unknown, missing) {
  const name = categoryOf(value);
  const code = names.indexOf(/** @type {string} */ (name));
  if (code >= 0) return code;
  return name === null || name === "" ? missing : unknown;
}

/** A value of a record; undefined if it has none of that name. @param {unknown} record @param {string} name @returns {unknown} */
export function valueOf(record, name) {
  const known = typeof record === "object" && record !== null && Object.hasOwn(record, name);
  return known ? /** @type {Json} */ (record)[name] : undefined;
}

/** The number or code that a value of one column counts as. @param {Column} column @param {unknown} value */
export function encodeValue(column, value) {
  if (!column.categories) return numberWithin(column, value);
  if (column.of !== undefined) return Number.isNaN(numberOf(value)) ? 1 : 0;
  return codeOf(column.categories, value, column.categories.indexOf(column.unknown), column.categories.indexOf(column.missing));
}

/** Numbers within their public range, categories as codes. @param {Column[]} columns @param {unknown} record */
export const encodeRecord = (columns, record) => columns.map((column) => encodeValue(column, valueOf(record, column.of ?? column.name)));

/** A label as a number: a class is its position. @param {{low: number, high: number, missing: number, classes?: string[] | null}} labels @param {unknown} value */
export const encodeLabel = (labels, value) => (labels.classes ? codeOf(labels.classes, value, labels.missing, labels.missing) : numberWithin(labels, value));
