// @ts-check
/**
 * The published tree that sorts records into groups: read, walked, and told in words.
 */

import { short } from "./basics.js";
import { fields, insist, list, number, whole } from "./reader.js";
import { readSpace } from "./schema.js";

/** @typedef {import("./schema.js").Column} Column */
/** @typedef {{columns: Column[], feature: number[], threshold: number[], left: number[], offset: number[], subsets: number[], numbers: number[], leaves: number}} Partition */

const WHAT = "the tree";
const MOST_NODES = 2 ** 22; // these two as in Python
const DEEPEST = 64;

/** Read a tree; refuse everything that is not exactly one. @param {unknown} value @returns {Partition} */
export function readPartition(value) {
  const found = fields(value, WHAT, ["version", "space", "feature", "threshold", "left", "subset_offset", "subsets"]);
  insist(whole(found.version, WHAT, 0, 1) === 1, "another version of a tree");
  const columns = readSpace(found.space);
  const feature = list(found.feature, WHAT, (item) => whole(item, WHAT, -1, columns.length - 1));
  const threshold = list(found.threshold, WHAT, number);
  const left = list(found.left, WHAT, (item) => whole(item, WHAT, 0, MOST_NODES));
  const offset = list(found.subset_offset, WHAT, (item) => whole(item, WHAT, -1, 2 ** 31 - 1));
  const subsets = list(found.subsets, WHAT, (item) => whole(item, WHAT, 0, 1));
  const n = feature.length;
  insist(n >= 1 && n <= MOST_NODES && [threshold, left, offset].every((items) => items.length === n), WHAT);
  checkChildren(feature, left);
  checkSplits(columns, feature, threshold, offset, subsets);
  const numbers = leafNumbers(feature, left);
  return { columns, feature, threshold, left, offset, subsets, numbers, leaves: (n + 1) / 2 };
}

/** Children come after their parent, and every node but the first has exactly one. @param {number[]} feature @param {number[]} left */
function checkChildren(feature, left) {
  const n = feature.length;
  const depth = new Array(n).fill(-1);
  depth[0] = 0;
  for (let node = 0; node < n; node += 1) {
    insist(depth[node] >= 0 && depth[node] <= DEEPEST, WHAT);
    const child = left[node];
    if (feature[node] < 0) insist(child === node, WHAT);
    else {
      insist(child > node && child < n - 1 && depth[child] < 0 && depth[child + 1] < 0, WHAT);
      depth[child] = depth[child + 1] = depth[node] + 1;
    }
  }
}

/** One spelling for each tree: subsets in the order of nodes without gaps, 0 where there is no threshold. @param {Column[]} columns @param {number[]} feature @param {number[]} threshold @param {number[]} offset @param {number[]} subsets */
function checkSplits(columns, feature, threshold, offset, subsets) {
  let used = 0;
  feature.forEach((column, node) => {
    const names = column < 0 ? undefined : columns[column].categories;
    insist(offset[node] === (names ? used : -1), WHAT);
    insist((column >= 0 && !names) || threshold[node] === 0, WHAT);
    used += names?.length ?? 0;
  });
  insist(used === subsets.length, WHAT);
}

/** Numbers of the leaves from left to right, by node. @param {number[]} feature @param {number[]} left */
function leafNumbers(feature, left) {
  /** @type {number[]} */
  const numbers = [];
  let count = 0;
  for (const stack = [0]; stack.length; ) {
    const node = /** @type {number} */ (stack.pop());
    if (feature[node] < 0) numbers[node] = count++;
    else stack.push(left[node] + 1, left[node]);
  }
  return numbers;
}

/** Whether a record goes right at a node. @param {Partition} tree @param {number} node @param {number[]} z */
function goesRight(tree, node, z) {
  const [value, offset] = [z[tree.feature[node]], tree.offset[node]];
  return offset < 0 ? value >= tree.threshold[node] : !tree.subsets[offset + value];
}

/** The group of an encoded record. @param {Partition} tree @param {number[]} z */
export function leafOf(tree, z) {
  let node = 0;
  while (tree.feature[node] >= 0) node = tree.left[node] + (goesRight(tree, node, z) ? 1 : 0);
  return tree.numbers[node];
}

/** Groups that agree with the features that are not hidden. @param {Partition} tree @param {number[]} z @param {boolean[]} hidden @returns {boolean[]} */
export function candidates(tree, z, hidden) {
  const reach = new Array(tree.leaves).fill(false);
  for (const stack = [0]; stack.length; ) {
    const node = /** @type {number} */ (stack.pop());
    const [column, left] = [tree.feature[node], tree.left[node]];
    if (column < 0) reach[tree.numbers[node]] = true;
    else if (hidden[column]) stack.push(left, left + 1);
    else stack.push(left + (goesRight(tree, node, z) ? 1 : 0));
  }
  return reach;
}

// ---------------------------------------------------------------- in words

/** @typedef {{low?: number, high?: number, names?: string[]}} Limit */

/** The conditions that lead to each leaf, in words. @param {Partition} tree @returns {string[]} */
export function leafWords(tree) {
  /** @type {string[]} */
  const words = [];
  /** @param {number} node @param {Map<number, Limit>} limits */
  const walk = (node, limits) => {
    const column = tree.feature[node];
    if (column < 0) {
      words[tree.numbers[node]] = [...limits].map(([c, limit]) => inWords(tree.columns[c], limit)).join(", ") || "everybody";
      return;
    }
    const known = limits.get(column) ?? { names: tree.columns[column].categories };
    for (const right of [0, 1]) walk(tree.left[node] + right, new Map(limits).set(column, narrowed(tree, node, known, right)));
  };
  walk(0, new Map());
  return words;
}

/** What is left of a feature on one side of a split. @param {Partition} tree @param {number} node @param {Limit} known @param {number} right @returns {Limit} */
function narrowed(tree, node, known, right) {
  const { categories } = tree.columns[tree.feature[node]];
  if (!categories) return { ...known, [right ? "low" : "high"]: tree.threshold[node] };
  const goesLeft = (/** @type {string} */ name) => tree.subsets[tree.offset[node] + categories.indexOf(name)] === 1;
  return { names: (known.names ?? []).filter((name) => goesLeft(name) !== Boolean(right)) };
}

/** @param {Column} column @param {Limit} limit */
function inWords(column, { low, high, names }) {
  if (column.categories) return `${column.name} is ${(names ?? []).join(" or ") || "none"}`;
  if (low === undefined) return `${column.name} below ${short(/** @type {number} */ (high))}`;
  return high === undefined ? `${column.name} from ${short(low)}` : `${column.name} from ${short(low)} to below ${short(high)}`;
}
