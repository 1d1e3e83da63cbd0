// @ts-check
/**
 * What a chain of groups has added to a public model, and what only the curator needs of the groups before.
 *
 * Values of leaves give Python's number to the last digit; bumps may differ in the last digits, see portable.js.
 */

import { fromBase64 } from "./basics.js";
import { predict, reached, readBumps, readGroups } from "./portable.js";
import { fields, insist, list, number, text, whole } from "./reader.js";
import { LARGEST, readRadius } from "./schema.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./portable.js").Model} Model */
/** @typedef {import("./portable.js").Trees} Trees */
/** @typedef {{trees: Trees, bound: number, smooth: Model}} Step */

const SUM = 2 ** 53; // these as in Python
const MOST = 2 ** 53 - 1;
const MOST_LEAVES = 256;
const CENTRES = 400;

/** @param {unknown} value @returns {Step} */
export function readStep(value) {
  const found = fields(value, "a step", ["trees", "bound", "smooth"]);
  const bound = number(found.bound, "a step");
  insist(bound >= 0 && bound <= LARGEST, "a step");
  return { trees: readGroups(found.trees), bound, smooth: readBumps(found.smooth) };
}

/** What a step adds to a record. @param {Step} step @param {number[]} row */
export function added({ trees, bound, smooth }, row) {
  const leaves = reached(trees, row).reduce((sum, node) => sum + trees.value[node], 0);
  const said = leaves + predict(smooth, row.slice(0, -2));
  // Large parts may cancel to no number. Such records get a report too: who is silent must not depend on the record.
  return Number.isNaN(said) ? 0 : Math.min(Math.max(said, -bound), bound);
}

/** Points and columns of the bumps of a step. @param {Model} smooth */
export function shapeOf({ parts, columns }) {
  return parts.length ? `${parts[0].weights.length} x ${columns}` : "none";
}

/** Rows like the public ones for bumps; how many centres and columns. @param {unknown} value @param {number} rows */
export function checkProcess(value, rows) {
  const what = "the process";
  const found = fields(value, what, ["columns", "points", "n_public", "noise"]);
  const columns = whole(found.columns, what, 1, MOST);
  const bytes = fromBase64(text(found.points, what), "the public rows of this task are damaged");
  insist(bytes.length === 4 * columns * rows, what);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += 4) insist(Number.isFinite(view.getFloat32(at, true)), what);
  whole(found.n_public, what, 1, rows);
  const noise = number(found.noise, what);
  insist(noise > 0 && noise <= 1, what);
  return `${Math.min(rows, CENTRES)} x ${columns}`;
}

/** How many rows name a leaf of each of these trees. @param {Json} found @param {number[]} leaves */
export function checkRows(found, leaves) {
  const bytes = fromBase64(text(found, "public rows"), "the public rows of this task are damaged");
  const [width, n] = [Math.max(...leaves) <= 256 ? 1 : 2, leaves.length];
  insist(bytes.length % (width * n) === 0, "public rows");
  for (let i = 0; i < bytes.length / width; i += 1) {
    const leaf = width === 1 ? bytes[i] : bytes[2 * i] + 256 * bytes[2 * i + 1];
    insist(leaf < leaves[i % n], "public rows");
  }
  return bytes.length / (width * n);
}

/** What a group before told. @param {unknown} value @param {number} rows */
export function checkEarlier(value, rows) {
  const what = "the groups before";
  const found = fields(value, what, ["sizes", "reference", "sums", "n_reports", "radius", "sent", "open", "left"]);
  const sizes = list(found.sizes, what, (size) => whole(size, what, 1, MOST_LEAVES));
  insist(sizes.length > 0 && checkRows(found.reference, sizes) === rows, what);
  const sums = list(found.sums, what, (sum) => whole(sum, what, -SUM, SUM));
  insist(sums.length === 2 * sizes.reduce((a, b) => a + b, 0), what);
  whole(found.n_reports, what, 1, SUM);
  readRadius(found.radius);
  const sent = list(found.sent, what, number);
  insist(sent.length === rows && sent.every((added) => Math.abs(added) <= LARGEST), what);
  for (const share of [number(found.open, what), number(found.left, what)]) insist(share >= 0 && share <= 1, what);
}
