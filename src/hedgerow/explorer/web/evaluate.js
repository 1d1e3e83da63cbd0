// @ts-check
/**
 * What a model computes of one record: the steps of a program, each an operation on rows of numbers.
 *
 * The operations are those of hedgerow.formula.terms, and two more of intervals (hedgerow.formula.anatomy). Sums of
 * products are added up in another order than in Python, and exp is another's: the last digits may differ.
 */

/** @typedef {{type: string, shape: number[], data: string}} Packed */
/** @typedef {{shape: number[], values: Float64Array}} Matrix */
/** @typedef {{op: string, args: number[], data: {[name: string]: Matrix}}} Step */
/** @typedef {{inputs: any[], steps: any[], arrays: Packed[], value: number, ends: number | null, parts: any[], classes: string[] | null, level: number, covers: string, target: string, unit: string}} Program */

const HALVINGS = 40; // as in Python: the ends are exact to 1e-11 of twelve deviations round all parts
const TERMS = 60; // of a continued fraction, at most: from 2 deviations on they are more than double precision needs

/** @param {Packed} packed @returns {Matrix} */
export function unpack({ type, shape, data }) {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const wide = type === "<f8";
  const width = wide ? 8 : 4;
  const values = Float64Array.from({ length: bytes.length / width }, (_, i) => (wide ? view.getFloat64(8 * i, true) : view.getInt32(4 * i, true)));
  return { shape, values };
}

/** The steps with their arrays. @param {Program} program @returns {Step[]} */
export function readSteps(program) {
  const arrays = program.arrays.map(unpack);
  return program.steps.map(({ op, args, data }) => {
    if (!Object.hasOwn(OPERATIONS, op) && op !== "records") throw new Error(`this page does not know the step ${op}`);
    return { op, args, data: Object.fromEntries(Object.entries(data).map(([name, at]) => [name, arrays[/** @type {number} */ (at)]])) };
  });
}

/** A record as numbers: cut to their ranges, categories as codes; null is a missing value, a category is its place or -1. @param {any[]} inputs @param {(number | null)[]} record */
export function encode(inputs, record) {
  const row = inputs.map((column, j) => {
    const value = record[j];
    if (column.kind === "text") {
      if (value === null) return column.missing;
      return value < 0 ? column.unknown : column.codes[value];
    }
    const known = value === null || Number.isNaN(value) ? (column.missing ?? NaN) : value;
    return Math.min(Math.max(known, column.low ?? -Infinity), column.high ?? Infinity);
  });
  const told = inputs.flatMap((column, j) => (column.indicator ? [Number(record[j] === null || Number.isNaN(record[j]))] : []));
  return Float64Array.from([...row, ...told]);
}

/** All steps for one encoded record. @param {Step[]} steps @param {Float64Array} row */
export function evaluate(steps, row) {
  /** @type {Float64Array[]} */
  const found = [];
  for (const { op, args, data } of steps) {
    found.push(op === "records" ? row : OPERATIONS[op](args.map((at) => found[at]), data));
  }
  return found;
}

/** Item by item, a row of one item standing for as many as the other has. @param {(...values: number[]) => number} work */
function each(work) {
  return (/** @type {Float64Array[]} */ rows) => {
    const length = Math.max(...rows.map((row) => row.length));
    return Float64Array.from({ length }, (_, i) => work(...rows.map((row) => (row.length === 1 ? row[0] : row[i]))));
  };
}

/** To the nearest whole number, halves to the even one. @param {number} x */
function nearest(x) {
  const down = Math.floor(x);
  const rest = x - down;
  if (rest !== 0.5) return Math.round(x);
  return down % 2 === 0 ? down : down + 1;
}

/** The sum over trees of the row of values of the leaf that is reached. @param {Float64Array} row @param {{[name: string]: Matrix}} data */
function walk(row, { roots, feature, threshold, left, value }) {
  const width = value.shape[1];
  const total = new Float64Array(width);
  for (const root of roots.values) {
    let node = root;
    while (left.values[node] !== node) node = left.values[node] + (row[feature.values[node]] >= threshold.values[node] ? 1 : 0);
    for (let i = 0; i < width; i += 1) total[i] += value.values[node * width + i];
  }
  return total;
}

/** @param {Float64Array} row @param {Matrix} matrix */
function product(row, { shape: [inner, width], values }) {
  const out = new Float64Array(width);
  for (let k = 0; k < inner; k += 1) {
    for (let j = 0; j < width; j += 1) out[j] += row[k] * values[k * width + j];
  }
  return out;
}

/** The share of a normal law below z: a series near the middle, a continued fraction beyond. @param {number} z */
export function below(z) {
  if (Number.isNaN(z)) return NaN;
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (Math.abs(z) < 2.5) {
    let term = z;
    let sum = z;
    for (let k = 3; Math.abs(term) > 1e-18; k += 2) {
      term *= (z * z) / k;
      sum += term;
    }
    return 0.5 + density * sum;
  }
  let tail = Math.abs(z);
  for (let k = TERMS; k > 0; k -= 1) tail = Math.abs(z) + k / tail;
  return z > 0 ? 1 - density / tail : density / tail;
}

/** Quantiles of a mixture of normal laws, by bisection. @param {Float64Array} mean @param {Float64Array} variance @param {Float64Array} weights @param {Float64Array} shares */
function mixture(mean, variance, weights, shares) {
  const deviation = variance.map((v) => Math.sqrt(v));
  const least = Math.min(...mean.map((m, k) => m - 12 * deviation[k]));
  const most = Math.max(...mean.map((m, k) => m + 12 * deviation[k]));
  return shares.map((share) => {
    let [low, high] = [least, most];
    for (let i = 0; i < HALVINGS; i += 1) {
      const middle = (low + high) / 2;
      const mass = weights.reduce((sum, w, k) => sum + w * below((middle - mean[k]) / Math.max(deviation[k], 1e-300)), 0);
      if (mass < share) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  });
}

/** A curve of straight pieces, level beyond its ends. @param {number} at @param {Float64Array} x @param {Float64Array} y */
function interpolate(at, x, y) {
  if (!(at > x[0])) return y[0];
  let low = 0;
  let high = x.length - 1;
  if (at >= x[high]) return y[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x[middle] <= at) low = middle;
    else high = middle;
  }
  return y[low] + ((at - x[low]) * (y[high] - y[low])) / (x[high] - x[low]);
}

/** @type {{[op: string]: (rows: Float64Array[], data: {[name: string]: Matrix}) => Float64Array}} */
export const OPERATIONS = {
  constant: (_, { values }) => values.values,
  add: each((a, b) => a + b),
  subtract: each((a, b) => a - b),
  multiply: each((a, b) => a * b),
  divide: each((a, b) => a / b),
  exp: each(Math.exp),
  square_root: each(Math.sqrt),
  round: each(nearest),
  truncate: each(Math.trunc),
  absolute: each(Math.abs),
  single: each(Math.fround),
  row_sum: ([row]) => Float64Array.of(row.reduce((sum, x) => sum + x, 0)),
  clip: ([row], { low, high }) => row.map((x) => Math.min(Math.max(x, low.values[0]), high.values[0])),
  pick: ([row], { columns }) => columns.values.map((j) => row[j]),
  product: ([row], { matrix }) => product(row, matrix),
  lookup: ([code], { table }) => table.values.slice(code[0] * table.shape[1], (code[0] + 1) * table.shape[1]),
  trees: ([row], data) => walk(row, data),
  where_missing: each((test, then, otherwise) => (Number.isNaN(test) ? then : otherwise)),
  where_positive: each((test, then, otherwise) => (test > 0 ? then : otherwise)),
  join: (rows) => Float64Array.from(rows.flatMap((row) => [...row])),
  mixture: ([mean, variance], { weights, shares }) => mixture(mean, variance, weights.values, shares.values),
  interpolate: ([row], { x, y }) => row.map((at) => interpolate(at, x.values, y.values)),
};
