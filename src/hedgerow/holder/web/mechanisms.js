// @ts-check
/**
 * Mechanisms that several kinds of task use: the exact law of what is sent. Probabilities are whole numbers over 2^64,
 * rounded towards more noise; an epsilon so small that this leaves nothing to tell is refused, as in Python.
 */

import { require } from "./basics.js";
import { bernoulli, bernoullis, capped, discreteLaplace, dyadicExp, flipChance, fraction, integer, ONE, shareBelow, uint16, uniformSubset } from "./exact.js";

/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./schema.js").Grid} Grid */
/**
 * A randomiser of a level of the label: `codes` are the least and the greatest output, `at` says where an output
 * stands, in steps of the grid, `top` (where classes are asked for) which levels can be sent.
 * @typedef {{codes: [number, number], top?: number[], at(code: number): number, draw(level: number, source: Source): number,
 *   chance(level: number, code: number): number, parameters: {[name: string]: bigint | number | undefined}}} LevelMechanism
 */

const TOO_SMALL = "epsilon is too small for this task: a report would tell nothing";
const MOST_CELLS = 2 ** 31; // as in Python
const MOST_BITS = 2 ** 22; // of a report that is drawn in a browser: half a megabyte

/** @param {bigint} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(Number(value), low), high);
/** @param {bigint} numerator */
export const toNumber = (numerator) => Number(numerator) / 2 ** 64;
/** @param {number} code */
const itself = (code) => code;

/** Two budgets whose exact sum is at most epsilon. @param {number} epsilon @param {number} share @returns {[number, number]} */
export function splitEpsilon(epsilon, share) {
  require(share > 0 && share < 1, "a share of epsilon in this task is not between 0 and 1");
  const first = epsilon * share;
  let rest = epsilon - first;
  /** @param {number} x */
  const units = (x) => (fraction(x)[0] << 1100n) / fraction(x)[1]; // exact: no double has more bits after its point
  while (units(first) + units(rest) > units(epsilon)) rest = justBelow(rest);
  return [first, rest];
}

/** @param {number} x a double > 0 */
function justBelow(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigUint64(0, view.getBigUint64(0) - 1n);
  return view.getFloat64(0);
}

/** Discrete Laplace noise on a level. @param {number} epsilon @param {number} steps */
export function laplace(epsilon, steps) {
  require(epsilon > 0, TOO_SMALL);
  const [n, d] = fraction(epsilon);
  const ratio = dyadicExp([n, d * BigInt(steps)]);
  const reach = Math.ceil((40 * steps) / epsilon);
  require(ratio < ONE && reach < 2 ** 30, TOO_SMALL);
  const r = toNumber(ratio);
  /** @type {[number, number]} */
  const codes = [-reach, steps + reach];
  return {
    ratio,
    reach,
    codes,
    at: itself,
    parameters: { ratio, reach },
    /** @param {number} level @param {Source} source */
    draw: (level, source) => clamp(BigInt(level) + discreteLaplace(ratio, source), ...codes),
    /** @param {number} level @param {number} code */
    chance(level, code) {
      const tail = codes.includes(code);
      return ((tail ? 1 : 1 - r) / (1 + r)) * r ** Math.abs(code - level);
    },
  };
}

/** The truth with probability truth / 2^64, else another. @param {number} epsilon @param {number} k */
export function kAry(epsilon, k) {
  const truth = k > 1 ? shareBelow(epsilon, 1n, BigInt(k - 1)) : ONE;
  require(truth * BigInt(Math.max(1, k - 1)) > ONE - truth, TOO_SMALL);
  const p = toNumber(truth);
  return {
    truth,
    k,
    /** @param {number} own @param {Source} source */
    draw(own, source) {
      if (bernoulli(truth, source)) return own;
      const other = integer(k - 1, source);
      return other + (other >= own ? 1 : 0);
    },
    /** @param {number} own @param {number} code */
    chance: (own, code) => (code === own ? p : (1 - p) / Math.max(1, k - 1)),
  };
}

/** One bit each, flipped with probability flip / 2^64; the own one is set. @param {number} epsilon of one bit that differs in two inputs */
export function flippedBits(epsilon) {
  const flip = flipChance(capped(epsilon / 2));
  require(flip < ONE / 2n, TOO_SMALL);
  return {
    flip,
    kept: 1 - toNumber(flip),
    /** @param {number} own @param {number} k @param {Source} source */
    draw: (own, k, source) => bernoullis(flip, k, source).map((turned, j) => turned !== (j === own)),
  };
}

/** @param {number} k @param {boolean} [bits] whether a report has one bit for each */
function checkCells(k, bits = true) {
  require(k <= MOST_CELLS, "this task has too many groups and values");
  require(!bits || k <= MOST_BITS, "the reports of this task are too long for a browser; use the command line");
}

/** One bit each; the own one is a fair coin, the others are rarely set. @param {number} epsilon @param {number} k */
export function unary(epsilon, k) {
  checkCells(k);
  const rare = flipChance(capped(epsilon));
  require(rare < ONE / 2n, TOO_SMALL);
  return {
    rare,
    k,
    /** @param {number} own @param {Source} source */
    draw(own, source) {
      const bits = bernoullis(rare, k, source);
      bits[own] = bernoulli(ONE / 2n, source);
      return bits;
    },
  };
}

/** k-ary response on very many cells. @param {number} epsilon @param {number} k */
export function kAryCells(epsilon, k) {
  checkCells(k, false);
  return kAry(epsilon, k);
}

/** A set of `size` of k, which holds the own one with probability hold / 2^64. @param {number} epsilon @param {number} k */
export function subset(epsilon, k) {
  require(k >= 2, TOO_SMALL);
  checkCells(k);
  const size = subsetSize(k, epsilon);
  const hold = shareBelow(epsilon, BigInt(size), BigInt(k - size));
  // p > q, where q = (size - p) / (k - 1)
  require(hold * BigInt(k - 1) > BigInt(size) * ONE - hold, TOO_SMALL);
  return {
    size,
    hold,
    k,
    /** @param {number} own @param {Source} source */
    draw(own, source) {
      const held = bernoulli(hold, source);
      const others = uniformSubset(k - 1, size, held, source);
      return [...others.slice(0, own), held, ...others.slice(own)];
    },
  };
}

/** @param {number} k @param {number} epsilon */
function subsetSize(k, epsilon) {
  const size = k / (Math.exp(Math.min(epsilon, 700)) + 1);
  // Python's exponential may differ in the last digit, and it rounds halves to even: insist that neither matters.
  require(Math.abs(size - Math.floor(size) - 0.5) > 1e-9 * Math.max(1, size), "this task's set size lies on an edge");
  return Math.max(1, Math.min(k - 1, Math.round(size)));
}

// ---------------------------------------------------------------- rounding to a grid

/** Where a label lies on the grid, in 256ths of a step. @param {{low: number, high: number, n_steps: number}} grid @param {number} label */
export const position = ({ low, high, n_steps }, label) =>
  Math.min((Math.min(Math.max(label, low), high) - low) * (256 * (n_steps / (high - low))), 256 * n_steps);

/** Round a label at random to one of its two neighbouring levels. @param {{low: number, high: number, n_steps: number}} grid @param {number} label @param {Source} source */
export function levelOf(grid, label, source) {
  const place = position(grid, label);
  let level = Math.trunc(place) + source.take(1)[0];
  if (level % 256 === 255 && uint16(source) < Math.trunc((place % 1) * 65536)) level += 1;
  return level >> 8;
}
