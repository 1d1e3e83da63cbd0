// @ts-check
/**
 * A public model that came with a task: a constant and a sum of trees, linear and kernel parts, as plain arrays.
 *
 * The bytes are those of Python's PortableModel. Nothing in them is ever executed; arrays that do not fit together are
 * refused. Sums of trees give Python's number to the last digit. Linear and kernel parts may differ in the last digits
 * (products are added up in another order, and exp is another's): see assisted.js for why that is harmless.
 */

import { require } from "./exact.js";

/** @typedef {import("./exact.js").Json} Json */

/** @typedef {{starts: number[], leaves: number[], column: Float64Array, child: number[], limit: number[], value: number[], number: number[], single: boolean}} Trees */
/** @typedef {{columns: number, column: Float64Array, code: Float64Array, intercept: number, parts: Json[]}} Model */

const DAMAGED = "the public model of this task is damaged";
/** @type {{[type: string]: [number, "getUint32" | "getInt32" | "getInt16" | "getFloat32" | "getFloat64"]}} */
const TYPES = { "<u4": [4, "getUint32"], "<i4": [4, "getInt32"], "<i2": [2, "getInt16"], "<f4": [4, "getFloat32"], "<f8": [8, "getFloat64"] };
/** What each kind of part is stored as, in this order. @type {{[kind: string]: {[name: string]: [string[], number]}}} */
const PARTS = {
  trees: { sizes: [["<u4"], 1], feature: [["<i2"], 1], threshold: [["<f4", "<f8"], 1], value: [["<f8"], 1] },
  linear: { coef: [["<f8"], 1] },
  kernel: { points: [["<f8"], 2], weights: [["<f8"], 1], center: [["<f8"], 1], scale: [["<f8"], 1], gamma: [["<f8"], 1] },
};

/** @param {Json} object @param {string[]} names */
const hasFields = (object, names) => require(typeof object === "object" && object && Object.keys(object).sort().join() === names.sort().join(), DAMAGED);
/** @param {unknown} value */
const isCount = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Read a model from its JSON form: the bytes in base64. @param {Json} json @returns {Model} */
export function readModel(json) {
  hasFields(json, ["format", "version", "data"]);
  require(json.format === "hedgerow/portable-model" && json.version === 1, "this page does not know this kind of public model; use the command line");
  const bytes = Uint8Array.from(atob(json.data), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  require(bytes.length >= 12 && view.getUint32(0) === 0x48444750 && view.getUint32(4, true) === 1, DAMAGED); // HDGP, 1, 0
  let at = 12 + view.getUint32(8, true);
  const manifest = JSON.parse(new TextDecoder().decode(bytes.subarray(12, at)));
  /** The next array, as numbers. @param {string} type @param {number[]} shape */
  const take = (type, shape) => {
    const [width, get] = TYPES[type];
    const size = shape.reduce((product, n) => (require(isCount(n), DAMAGED), product * n), 1);
    require(at + width * size <= bytes.length, DAMAGED);
    const out = Float64Array.from({ length: size }, (_, i) => view[get](at + width * i, true));
    require(out.every(Number.isFinite), DAMAGED);
    at += width * size;
    return out;
  };
  hasFields(manifest, ["n_columns", "intercept", "design", "parts"]);
  require(isCount(manifest.n_columns) && Number.isFinite(manifest.intercept), DAMAGED);
  const [column, code] = [take("<i4", [manifest.design]), take("<i4", [manifest.design])];
  require(column.every((c, j) => c >= 0 && c < manifest.n_columns && code[j] >= -1), DAMAGED);
  const parts = manifest.parts.map((/** @type {Json} */ part) => readPart(part, take, column.length));
  require(at === bytes.length, DAMAGED);
  return { columns: manifest.n_columns, column, code, intercept: manifest.intercept, parts };
}

/** @param {Json} part @param {(type: string, shape: number[]) => Float64Array} take @param {number} width of the design */
function readPart(part, take, width) {
  hasFields(part, ["kind", "arrays"]);
  const fields = Object.hasOwn(PARTS, part.kind) ? PARTS[part.kind] : null;
  require(fields, "this page does not know a part of the public model; use the command line");
  hasFields(part.arrays, Object.keys(fields));
  /** @type {{[name: string]: Float64Array}} */
  const arrays = {};
  for (const [name, [types, axes]] of Object.entries(fields)) {
    const [type, shape] = part.arrays[name];
    require(types.includes(type) && shape.length === axes, DAMAGED);
    arrays[name] = take(type, shape);
  }
  if (part.kind === "trees") return { kind: "trees", ...readTrees(arrays, part.arrays.threshold[0] === "<f4", width) };
  if (part.kind === "linear") require(arrays.coef.length === width, DAMAGED);
  else {
    const { points, weights, center, scale, gamma } = arrays;
    require(center.length === width && scale.length === width && points.length === weights.length * width && part.arrays.points[1][1] === width, DAMAGED);
    require(scale.every((s) => s > 0) && gamma.length === 1 && gamma[0] > 0, DAMAGED);
  }
  return { kind: part.kind, ...arrays };
}

/**
 * Trees whose nodes are listed level by level: the children of the r-th inner node of a tree are its nodes 2 r + 1 and
 * 2 r + 2. Every list that passes these checks is a tree, so that no walk can go astray.
 * @param {{[name: string]: Float64Array}} arrays @param {boolean} single @param {number} width @returns {Trees}
 */
function readTrees({ sizes, feature, threshold, value }, single, width) {
  /** @type {Trees} */
  const trees = { starts: [], leaves: [], column: feature, child: [], limit: [], value: [], number: [], single };
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
  kernel: ({ points, weights, center, scale, gamma }, row) => {
    const u = row.map((x, j) => (x - center[j]) / scale[j]);
    let sum = 0;
    for (let i = 0; i < weights.length; i += 1) {
      const square = u.reduce((total, x, j) => total + (x - points[i * u.length + j]) ** 2, 0);
      sum += weights[i] * Math.exp(-gamma[0] * square);
    }
    return sum;
  },
};
