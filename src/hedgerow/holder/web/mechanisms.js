// @ts-check
/**
 * Mechanisms: the exact law of what is sent, from the numbers of a task. Probabilities are whole numbers over 2^64.
 */

import { bernoulli, capped, discreteLaplace, dyadicExp, exponential, fraction, geometric, integer, LazyCdf, least, ofExp, ONE, require, shareBelow, SURE, uint16, uint64, W, weighted } from "./exact.js";

/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./exact.js").Json} Json */

/** @param {bigint} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(Number(value), low), high);

/** @param {number} epsilon @param {number} share @returns {[number, number]} */
export function splitEpsilon(epsilon, share) {
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
  require(epsilon > 0, "epsilon must be above 0");
  const [n, d] = fraction(epsilon);
  const ratio = dyadicExp([n, d * BigInt(steps)]);
  const reach = Math.ceil((40 * steps) / epsilon);
  require(ratio < ONE && reach < 2 ** 30, "epsilon is too small for a label");
  return {
    ratio,
    reach,
    /** @param {number} level @param {Source} source */
    draw: (level, source) => clamp(BigInt(level) + discreteLaplace(ratio, source), -reach, steps + reach),
    /** @param {number} level @param {number} code */
    chance: (level, code) => laplaceChance(Number(ratio) / 2 ** 64, code - level, code === -reach || code === steps + reach),
  };
}

/** @param {number} r @param {number} k @param {boolean} tail */
const laplaceChance = (r, k, tail) => (tail ? r ** Math.abs(k) / (1 + r) : ((1 - r) / (1 + r)) * r ** Math.abs(k));

/** The truth with probability truth / 2^64, else another. @param {number} epsilon @param {number} k */
export function kAry(epsilon, k) {
  const truth = k > 1 ? shareBelow(epsilon, 1n, BigInt(k - 1)) : ONE;
  return {
    truth,
    /** @param {number} own @param {Source} source */
    draw(own, source) {
      if (bernoulli(truth, source)) return own;
      const other = integer(k - 1, source);
      return other + (other >= own ? 1 : 0);
    },
    /** @param {number} own @param {number} code */
    chance: (own, code) => (code === own ? 1 : 1 / Math.max(1, k - 1)) * (code === own ? toNumber(truth) : 1 - toNumber(truth)),
  };
}

/** @param {bigint} numerator */
export const toNumber = (numerator) => Number(numerator) / 2 ** 64;

/** The label mechanisms of a label task, by kind. @param {Json} m @param {number} steps */
export function levelMechanism(m, steps) {
  const epsilon = readEpsilon(m.epsilon);
  if (m.kind === "matrix") return matrix(m, epsilon);
  require(m.n_steps === steps, "the mechanism is for another grid");
  if (m.kind === "laplace") return laplace(epsilon, steps);
  if (m.kind === "staircase") return staircase(epsilon, steps, m.stair);
  if (m.kind === "gaussian") return gaussian(m, epsilon, steps);
  if (m.kind === "interval") return interval(m, epsilon);
  require(m.kind === "bins", `this page does not know the mechanism ${m.kind}; use the command line`);
  const response = kAry(epsilon, m.starts.length);
  /** @param {number} level */
  const bin = (level) => m.starts.filter((/** @type {number} */ s) => s <= level).length - 1;
  return {
    ...response,
    /** @param {number} level @param {Source} source */
    draw: (level, source) => response.draw(bin(level), source),
    /** @param {number} level @param {number} code */
    chance: (level, code) => response.chance(bin(level), code),
  };
}

/** @param {number} epsilon @param {number} steps @param {number} stair */
function staircase(epsilon, steps, stair) {
  const ratio = dyadicExp(fraction(epsilon));
  const reach = steps * Math.ceil(40 / epsilon + 2);
  require(ratio < ONE && reach < 2 ** 30 && stair >= 1 && stair <= steps, "the staircase of this task is damaged");
  const offset = new LazyCdf(weighted(Array.from({ length: steps }, (_, j) => (j < stair ? ONE : ratio))));
  /** @param {Source} source @returns {bigint} */
  const noise = (source) => {
    const negative = source.take(1)[0] >= 128;
    const whole = geometric(ratio, source) * BigInt(steps);
    const size = whole + BigInt(offset.sample(source));
    if (!negative) return size;
    return size ? -size : noise(source);
  };
  const b = toNumber(ratio);
  const mass = 2 * (stair + b * (steps - stair)) / (1 - b) - 1;
  return {
    ratio,
    reach,
    /** @param {number} level @param {Source} source */
    draw: (level, source) => clamp(BigInt(level) + noise(source), -reach, steps + reach),
    /** @param {number} level @param {number} code */
    chance: (level, code) => b ** Math.floor((Math.abs(code - level) + steps - stair) / steps) / mass,
  };
}

/** @param {Json} m @param {number} epsilon @param {number} steps */
function gaussian(m, epsilon, steps) {
  const [s, unit] = fraction(m.sigma);
  require(m.sigma > 0 && m.delta > 0 && m.delta < 1, "the noise of this task is damaged");
  const point = 512n;
  const q = (1n << (2n * point)) / exponential(unit * unit, 2n * s * s); // e^(-1 / 2 sigma^2), times 2^512
  const half = [];
  const largest = 1n << (point + 80n);
  for (let [power, factor] = [largest, q]; 2n * power > 1n << point; power = (power * factor) >> point, factor = (((factor * q) >> point) * q) >> point)
    half.push((power + (1n << (point - 1n))) >> point);
  const weights = [...half.slice(1).reverse(), ...half];
  require(weights.length * steps < 4e6, "this task's grid is too fine for a browser; use the command line");
  require(deltaHolds(weights, steps, epsilon, m.delta), "the noise of this task is smaller than it claims: do not answer it");
  const cdf = new LazyCdf(weighted(weights));
  const reach = half.length - 1;
  const total = Number(weights.reduce((sum, w) => sum + w, 0n));
  return {
    reach,
    /** @param {number} level @param {Source} source */
    draw: (level, source) => (reach ? level + cdf.sample(source) - reach : level),
    /** @param {number} level @param {number} code */
    chance: (level, code) => Number(weights[code - level + reach] ?? 0n) / total,
  };
}

/** Whether the exact delta of these weights is at most the claim. @param {bigint[]} weights @param {number} steps @param {number} epsilon @param {number} delta */
function deltaHolds(weights, steps, epsilon, delta) {
  const value = exponential(...capped(epsilon));
  const bound = value - (value >> SURE) - 1n; // from below, like Python's, but nearer: what Python accepts passes
  const [n, d] = fraction(delta);
  const total = weights.reduce((sum, w) => sum + w, 0n) << W;
  for (let shift = 1; shift <= steps; shift += 1) {
    let excess = 0n;
    for (let k = 0; k < weights.length; k += 1) {
      const more = (weights[k] << W) - bound * (weights[k - shift] ?? 0n);
      if (more > 0n) excess += more;
    }
    if (excess * d > n * total) return false;
  }
  return true;
}

/** @param {Json} m @param {number} epsilon */
function interval(m, epsilon) {
  const { low, high, radius, outside } = m;
  require(0 <= low && low <= high && high <= m.n_steps && radius >= 0, "the interval of this task is damaged");
  const [width, span] = [2 * radius + 1, high - low];
  const near = span ? shareBelow(epsilon, BigInt(width), BigInt(span)) : ONE;
  const first = low - radius;
  /** @param {number} level */
  const inside = (level) => Math.min(Math.max(level, low), high);
  return {
    near,
    /** @param {number} level @param {Source} source */
    draw(level, source) {
      const own = inside(level);
      let out = own - radius;
      if (bernoulli(near, source)) out += integer(width, source);
      else {
        const t = integer(span, source);
        out = first + t + (t >= own - low ? width : 0);
      }
      return outside === "uniform" && own !== level ? first + integer(span + width, source) : out;
    },
    /** @param {number} level @param {number} code */
    chance(level, code) {
      const own = inside(level);
      if ((outside === "uniform" && own !== level) || !span) return 1 / (span + width);
      return Math.abs(code - own) <= radius ? toNumber(near) / width : (1 - toNumber(near)) / span;
    },
  };
}

/** @param {Json} m @param {number} epsilon */
function matrix(m, epsilon) {
  /** @type {bigint[][]} */
  const rows = m.weights.map((/** @type {string[]} */ row) => row.map((w) => BigInt(`0x${w}`)));
  const size = m.outputs.length;
  require(rows.every((row) => row.length === size && row.reduce((a, b) => a + b, 0n) === ONE), "the table of this task is damaged");
  for (let j = 0; j < size; j += 1) {
    const column = rows.map((row) => row[j]);
    const [most, fewest] = [column.reduce((a, b) => (a > b ? a : b)), column.reduce(least)];
    const holds = most === fewest || ofExp(capped(epsilon), (e, unit) => (most * unit <= fewest * e ? 1n : 0n));
    require(holds, "the table of this task breaks its own claim: do not answer it");
  }
  const bits = BigInt(Math.max(1, (size - 1).toString(2).length));
  return {
    /** @param {number} level @param {Source} source */
    draw(level, source) {
      const [cuts, others] = alias(rows[level], bits);
      const word = uint64(source);
      const column = Number(word >> (64n - bits));
      return (word & ((1n << (64n - bits)) - 1n)) < cuts[column] ? column : others[column];
    },
    /** @param {number} level @param {number} code */
    chance: (level, code) => toNumber(rows[level][code] ?? 0n),
  };
}

/** Walker's alias table, in the order that Python fills it. @param {bigint[]} row @param {bigint} bits @returns {[bigint[], number[]]} */
function alias(row, bits) {
  const size = 1n << (64n - bits);
  const left = [...row, ...new Array((1 << Number(bits)) - row.length).fill(0n)];
  const cuts = left.map(() => size);
  const others = left.map((_, j) => j);
  const small = others.filter((j) => left[j] < size);
  const large = others.filter((j) => left[j] > size);
  while (small.length) {
    const j = /** @type {number} */ (small.pop());
    const donor = large[large.length - 1];
    [cuts[j], others[j]] = [left[j], donor];
    left[donor] -= size - left[j];
    if (left[donor] <= size) large.pop();
    if (left[donor] < size) small.push(donor);
  }
  return [cuts, others];
}

/** @param {unknown} value */
export const readEpsilon = (value) => (value === "inf" ? Infinity : Number(value));

// ---------------------------------------------------------------- rounding to a grid

/** Where a label lies on the grid, in 256ths of a step. @param {Json} grid @param {number} label */
export const position = ({ low, high, n_steps }, label) =>
  Math.min((Math.min(Math.max(label, low), high) - low) * (256 * (n_steps / (high - low))), 256 * n_steps);

/** Round a label at random to one of its two neighbouring levels. @param {Json} grid @param {number} label @param {Source} source */
export function levelOf(grid, label, source) {
  const place = position(grid, label);
  let level = Math.trunc(place) + source.take(1)[0];
  if (level % 256 === 255 && uint16(source) < Math.trunc((place % 1) * 65536)) level += 1;
  return level >> 8;
}
