// @ts-check
/**
 * A public model that came with a task: a constant and a sum of trees, linear parts and bumps, as plain arrays.
 *
 * The bytes are those of Python's PortableModel. Nothing in them is ever executed; arrays that do not fit together are
 * refused. Sums of trees give Python's number to the last digit. Linear parts and bumps may differ in the last digits
 * (products are added up in another order, and exp is another's): see assisted.js for why that is harmless.
 */

import { fromBase64, require } from "./basics.js";
import { insist, list, number, parse, whole } from "./reader.js";

/** @typedef {import("./basics.js").Json} Json */

/** @typedef {{starts: number[], leaves: number[], column: Float64Array, child: number[], limit: number[], value: number[], number: number[], single: boolean, features: number}} Trees */
/** @typedef {{columns: number, column: Float64Array, code: Float64Array, intercept: number, parts: Json[]}} Model */

const DAMAGED = "the public model of this task is damaged: do not answer it";
const MOST = 2 ** 31 - 1; // items of an axis, as in Python
/** @type {{[type: string]: [number, "getUint32" | "getInt32" | "getInt16" | "getFloat32" | "getFloat64"]}} */
const TYPES = { "<u4": [4, "getUint32"], "<i4": [4, "getInt32"], "<i2": [2, "getInt16"], "<f4": [4, "getFloat32"], "<f8": [8, "getFloat64"] };
/** What each kind of part is stored as, in this order. @type {{[kind: string]: {[name: string]: [string[], number]}}} */
const PARTS = {
  trees: { sizes: [["<u4"], 1], feature: [["<i2"], 1], threshold: [["<f4", "<f8"], 1], value: [["<f8"], 1] },
  linear: { coef: [["<f8"], 1] },
  kernel: { points: [["<f8"], 2], weights: [["<f8"], 1], center: [["<f8"], 1], scale: [["<f8"], 1], gamma: [["<f8"], 1] },
  matern: { points: [["<f8"], 2], weights: [["<f8"], 1], center: [["<f8"], 1], scale: [["<f8"], 1], edges: [["<f8"], 2], bends: [["<f8"], 2] },
};
const FARTHEST = 800; // exp(-800) is 0, and 0 times infinity would be no number

/** Exactly these fields, in this order: the bytes of a model are written in one way only. @param {unknown} value @param {string[]} names @returns {Json} */
function ordered(value, names) {
  require(value instanceof Map && [...value.keys()].join() === names.join(), DAMAGED);
  return Object.fromEntries(value);
}

/** Arrays cut from bytes, in order. */
class Arrays {
  /** @param {Uint8Array} bytes @param {number} at */
  constructor(bytes, at) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
    this.at = at;
  }

  /** The next array, as finite numbers. @param {string} type @param {number[]} shape */
  take(type, shape) {
    const [width, get] = TYPES[type];
    const size = shape.reduce((product, n) => product * n, 1);
    require(this.at + width * size <= this.bytes.length, DAMAGED);
    const out = Float64Array.from({ length: size }, (_, i) => this.view[get](this.at + width * i, true));
    require(out.every(Number.isFinite), DAMAGED);
    this.at += width * size;
    return out;
  }
}

/** Read a model from its JSON form: the bytes in base64. @param {unknown} value @returns {Model} */
export function readModel(value) {
  require(typeof value === "string", DAMAGED);
  const bytes = fromBase64(value, DAMAGED);
  const view = new DataView(bytes.buffer);
  require(bytes.length >= 12 && view.getUint32(0) === 0x48444750 && view.getUint32(4, true) === 1, DAMAGED); // HDGP, 1, 0
  const start = 12 + view.getUint32(8, true);
  require(start <= bytes.length, DAMAGED);
  const manifest = ordered(parse(Array.from(bytes.subarray(12, start), (byte) => String.fromCharCode(byte)).join("")), ["n_columns", "intercept", "design", "parts"]);
  const [columns, width] = [whole(manifest.n_columns, "a public model", 0, MOST), whole(manifest.design, "a public model", 0, MOST)];
  const intercept = number(manifest.intercept, "a public model");
  const arrays = new Arrays(bytes, start);
  const [column, code] = [arrays.take("<i4", [width]), arrays.take("<i4", [width])];
  require(column.every((c, j) => c >= 0 && c < columns && code[j] >= -1), DAMAGED);
  const parts = list(manifest.parts, "a public model", (part) => readPart(part, arrays, width));
  require(arrays.at === bytes.length, DAMAGED);
  return { columns, column, code, intercept, parts };
}

/** @param {unknown} value @param {Arrays} stored @param {number} width of the design */
function readPart(value, stored, width) {
  const part = ordered(value, ["kind", "arrays"]);
  const known = typeof part.kind === "string" && Object.hasOwn(PARTS, part.kind) ? PARTS[part.kind] : null;
  require(known, "this page does not know a part of the public model; use the command line");
  const given = ordered(part.arrays, Object.keys(known));
  /** @type {{[name: string]: Float64Array}} */
  const arrays = {};
  /** @type {{[name: string]: number[]}} */
  const shapes = {};
  for (const [name, [types, axes]] of Object.entries(known)) {
    require(Array.isArray(given[name]) && given[name].length === 2, DAMAGED);
    const [type, axis] = given[name];
    shapes[name] = list(axis, "a public model", (n) => whole(n, "a public model", 0, MOST));
    require(types.includes(type) && shapes[name].length === axes, DAMAGED);
    arrays[name] = stored.take(type, shapes[name]);
  }
  if (part.kind === "trees") return { kind: "trees", ...readTrees(arrays, given.threshold[0] === "<f4", width) };
  if (part.kind === "linear") require(arrays.coef.length === width, DAMAGED);
  else {
    const { weights, center, scale, gamma } = arrays;
    const [m, d] = shapes.points;
    require(m === weights.length && d === width && center.length === width && scale.length === width, DAMAGED);
    require(scale.every((s) => s > 0), DAMAGED);
    if (part.kind === "kernel") require(gamma.length === 1 && gamma[0] > 0, DAMAGED);
    else require(shapes.edges.join() === shapes.bends.join() && shapes.edges[1] === width, DAMAGED);
  }
  return { kind: part.kind, ...arrays };
}

/** Trees that sort records into groups: a model of nothing else, over the columns that it needs. @param {unknown} value @returns {Trees} */
export function readGroups(value) {
  const { columns, column, code, intercept, parts } = readModel(value);
  const [trees] = parts;
  require(parts.length === 1 && trees.kind === "trees" && trees.features === columns && column.length === columns, DAMAGED);
  require(Object.is(intercept, 0) && column.every((c, j) => c === j && code[j] === -1), DAMAGED);
  insist(trees.starts.length > 0, "no trees");
  return /** @type {any} */ (trees);
}

/** Bumps over all columns of a design: a model of one such part, or of none. @param {unknown} value @returns {Model} */
export function readBumps(value) {
  const model = readModel(value);
  const { columns, column, code, intercept, parts } = model;
  require(parts.length === 0 ? columns === 0 : parts.length === 1 && parts[0].kind === "matern", DAMAGED);
  require(Object.is(intercept, 0) && column.length === columns && column.every((c, j) => c === j && code[j] === -1), DAMAGED);
  return model;
}

/**
 * Trees whose nodes are listed level by level: the children of the r-th inner node of a tree are its nodes 2 r + 1 and
 * 2 r + 2. Every list that passes these checks is a tree, so that no walk can go astray.
 * @param {{[name: string]: Float64Array}} arrays @param {boolean} single @param {number} width @returns {Trees}
 */
function readTrees({ sizes, feature, threshold, value }, single, width) {
  /** @type {Trees} */
  const trees = { starts: [], leaves: [], column: feature, child: [], limit: [], value: [], number: [], single, features: 1 + feature.reduce((a, b) => Math.max(a, b), -1) };
  let [node, inner, leaf] = [0, 0, 0];
  for (const size of sizes) {
    require(size > 0 && node + size <= feature.length, DAMAGED);
    const start = node;
    let rank = 0; // inner nodes of this tree so far
    for (let i = 0; i < size; i += 1, node += 1) {
      require(i <= 2 * rank && feature[node] >= -1 && feature[node] < width, DAMAGED);
      trees.number[node] = i - rank; // leaves are numbered from 0 in each tree
      if (feature[node] < 0) trees.value[node] = value[leaf++];
      else [trees.child[node], trees.limit[node], rank] = [start + 2 * rank + 1, threshold[inner++], rank + 1];
    }
    require(size === 2 * rank + 1, DAMAGED);
    trees.starts.push(start);
    trees.leaves.push(rank + 1);
  }
  require(node === feature.length && inner === threshold.length && leaf === value.length, DAMAGED);
  return trees;
}

/** Columns of the design: numbers as they are, categories as 0 or 1. @param {Model} model @param {number[]} z */
export function design(model, z) {
  return Array.from(model.column, (c, j) => (model.code[j] < 0 ? z[c] : Number(z[c] === model.code[j])));
}

/** The node in which a record ends, in each tree. @param {Trees} trees @param {number[]} row */
export function reached(trees, row) {
  const x = trees.single ? row.map(Math.fround) : row; // scikit-learn's forests compare in single precision
  return trees.starts.map((start) => {
    let node = start;
    while (trees.column[node] >= 0) node = trees.child[node] + (x[trees.column[node]] > trees.limit[node] ? 1 : 0);
    return node;
  });
}

/** The prediction for an encoded record. @param {Model} model @param {number[]} z */
export function predict(model, z) {
  const row = design(model, z);
  return model.parts.reduce((sum, part) => sum + PREDICT[part.kind](part, row), model.intercept);
}

/** The prediction, cut to the range of the label. @param {Model} model @param {number[]} z @param {{low: number, high: number}} bounds */
export function predictWithin(model, z, { low, high }) {
  const exact = predict(model, z);
  // A model can overflow for some records. They get a report too: who is silent must not depend on the record.
  return Number.isNaN(exact) ? low : Math.min(Math.max(exact, low), high);
}

/** @type {{[kind: string]: (part: any, row: number[]) => number}} */
const PREDICT = {
  trees: (part, row) => reached(part, row).reduce((sum, node) => sum + part.value[node], 0),
  linear: (part, row) => row.reduce((sum, x, j) => sum + x * part.coef[j], 0),
  kernel: (part, row) => bumps(part, row, (square) => Math.exp(-part.gamma[0] * square)),
  matern: (part, row) =>
    bumps(part, row, (square) => {
      const t = Math.min(Math.sqrt(5 * square), FARTHEST);
      return ((t / 3 + 1) * t + 1) * Math.exp(-t);
    }),
};

/** A sum of bumps around points. @param {any} part @param {number[]} row @param {(square: number) => number} bump */
function bumps({ points, weights, center, scale, edges = [], bends = [] }, row, bump) {
  const u = row.map((x, j) => (x - center[j]) / scale[j]);
  for (let k = 0; k < edges.length; k += 1) {
    const j = k % row.length; // a column's slope changes at its edges
    u[j] += bends[k] * Math.max(row[j] - edges[k], 0);
  }
  let sum = 0;
  for (let i = 0; i < weights.length; i += 1) {
    const square = u.reduce((total, x, j) => total + (x - points[i * u.length + j]) ** 2, 0);
    sum += weights[i] * bump(square);
  }
  return sum;
}
