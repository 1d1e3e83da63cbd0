// @ts-check
/**
 * The mechanisms that a label task can name, by kind: what is read of each, its law, and what its outputs stand for.
 */

import { require } from "./basics.js";
import { bernoulli, capped, dyadicExp, exponential, fraction, geometric, integer, LazyCdf, least, ofExp, ONE, shareBelow, SURE, uint64, W, weighted } from "./exact.js";
import { clamp, kAry, laplace, toNumber } from "./mechanisms.js";
import { budget, fields, insist, list, number, text, whole, word } from "./reader.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./mechanisms.js").LevelMechanism} LevelMechanism */

const WHAT = "the label's mechanism";
const MOST_STEPS = 2 ** 20;
const MOST_OUTPUTS = 4096; // of a table, as in Python

/** @type {{[kind: string]: {names: string[], make(m: Json, epsilon: number, steps: number): LevelMechanism}}} */
const KINDS = {
  laplace: { names: ["n_steps"], make: (_, epsilon, steps) => laplace(epsilon, steps) },
  staircase: { names: ["n_steps", "stair"], make: staircase },
  gaussian: { names: ["n_steps", "delta", "sigma"], make: gaussian },
  interval: { names: ["n_steps", "low", "high", "radius", "outside"], make: interval },
  bins: { names: ["n_steps", "starts", "values"], make: bins },
  matrix: { names: ["weights", "outputs"], make: matrix },
  top: { names: ["n_steps", "top"], make: top },
};

/** Read a mechanism on a grid of so many steps. @param {unknown} value @param {number} steps @returns {{mechanism: LevelMechanism, epsilon: number, delta: number}} */
export function readMechanism(value, steps) {
  const kind = value instanceof Map ? value.get("kind") : undefined;
  const known = typeof kind === "string" && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  insist(known, WHAT);
  const m = fields(value, WHAT, ["kind", "epsilon", ...known.names]);
  const epsilon = budget(m.epsilon);
  if (known.names.includes("n_steps")) insist(whole(m.n_steps, WHAT, 1, MOST_STEPS) === steps, "a mechanism for another grid");
  return { mechanism: known.make(m, epsilon, steps), epsilon, delta: known.names.includes("delta") ? number(m.delta, WHAT) : 0 };
}

/** @param {Json} m @param {number} epsilon @param {number} steps @returns {LevelMechanism} */
function staircase(m, epsilon, steps) {
  const stair = whole(m.stair, WHAT, 1, steps);
  const ratio = dyadicExp(fraction(epsilon));
  const reach = steps * Math.ceil(40 / epsilon + 2);
  require(ratio < ONE && reach < 2 ** 30, "epsilon is too small for a label");
  const offset = new LazyCdf(weighted(Array.from({ length: steps }, (_, j) => (j < stair ? ONE : ratio))));
  /** @param {Source} source @returns {bigint} */
  const noise = (source) => {
    const negative = source.take(1)[0] >= 128;
    const far = geometric(ratio, source) * BigInt(steps);
    const size = far + BigInt(offset.sample(source));
    if (!negative) return size;
    return size ? -size : noise(source);
  };
  const b = toNumber(ratio);
  const mass = (2 * (stair + b * (steps - stair))) / (1 - b) - 1;
  return {
    codes: [-reach, steps + reach],
    at: (code) => code,
    parameters: { ratio, reach },
    draw: (level, source) => clamp(BigInt(level) + noise(source), -reach, steps + reach),
    chance: (level, code) => b ** Math.floor((Math.abs(code - level) + steps - stair) / steps) / mass,
  };
}

/** @param {Json} m @param {number} epsilon @param {number} steps @returns {LevelMechanism} */
function gaussian(m, epsilon, steps) {
  const [sigma, delta] = [number(m.sigma, WHAT), number(m.delta, WHAT)];
  insist(sigma > 0 && sigma < 1e6 && delta > 0 && delta < 1, WHAT);
  const [s, unit] = fraction(sigma);
  const point = 512n;
  const [n, d] = [unit * unit, 2n * s * s]; // 1 / 2 sigma^2
  // e^-(n/d), times 2^512: nothing is left of it from e^-355 on, and a tiny sigma would cost as many digits.
  const q = n > 400n * d ? 0n : (1n << (2n * point)) / exponential(n, d);
  /** @type {bigint[]} */
  const half = [];
  let power = 1n << (point + 80n);
  for (let factor = q; 2n * power > 1n << point; factor = (((factor * q) >> point) * q) >> point) {
    half.push((power + (1n << (point - 1n))) >> point);
    power = (power * factor) >> point;
    require(half.length * steps < 2e6, "this task's grid is too fine for a browser; use the command line");
  }
  const weights = [...half.slice(1).reverse(), ...half];
  require(deltaHolds(weights, steps, epsilon, delta), "the noise of this task is smaller than it claims: do not answer it");
  const cdf = new LazyCdf(weighted(weights));
  const reach = half.length - 1;
  const total = Number(weights.reduce((sum, w) => sum + w, 0n));
  return {
    codes: [-reach, steps + reach],
    at: (code) => code,
    parameters: { reach },
    draw: (level, source) => (reach ? level + cdf.sample(source) - reach : level),
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

/** @param {Json} m @param {number} epsilon @param {number} steps @returns {LevelMechanism} */
function interval(m, epsilon, steps) {
  const [low, high] = [whole(m.low, WHAT, 0, steps), whole(m.high, WHAT, 0, steps)];
  insist(low <= high, WHAT);
  const radius = whole(m.radius, WHAT, 0, 2 ** 30);
  const outside = word(m.outside, WHAT, ["project", "uniform"]);
  const [width, gap, first] = [2 * radius + 1, high - low, low - radius];
  const near = gap ? shareBelow(epsilon, BigInt(width), BigInt(gap)) : ONE;
  require(near * BigInt(gap) >= (ONE - near) * BigInt(width), "epsilon is too small for a label");
  /** @param {number} level */
  const inside = (level) => Math.min(Math.max(level, low), high);
  return {
    codes: [first, high + radius],
    at: (code) => code,
    parameters: { near },
    draw(level, source) {
      const own = inside(level);
      let out = own - radius;
      if (bernoulli(near, source)) out += integer(width, source);
      else {
        const t = integer(gap, source);
        out = first + t + (t >= own - low ? width : 0);
      }
      return outside === "uniform" && own !== level ? first + integer(gap + width, source) : out;
    },
    chance(level, code) {
      const own = inside(level);
      if ((outside === "uniform" && own !== level) || !gap) return 1 / (gap + width);
      return Math.abs(code - own) <= radius ? toNumber(near) / width : (1 - toNumber(near)) / gap;
    },
  };
}

/** What a code stands for, in steps. @param {unknown} value @param {string} what */
function place(value, what) {
  const found = number(value, what);
  insist(Math.abs(found) <= 2 ** 31, what);
  return found;
}

/** @param {Json} m @param {number} epsilon @param {number} steps @returns {LevelMechanism} */
function bins(m, epsilon, steps) {
  const starts = list(m.starts, WHAT, (item) => whole(item, WHAT, 0, steps));
  const values = list(m.values, WHAT, place);
  insist(starts[0] === 0 && starts.every((s, i) => i === 0 || starts[i - 1] < s) && values.length === starts.length, WHAT);
  const response = kAry(epsilon, starts.length);
  /** @param {number} level */
  const bin = (level) => starts.filter((s) => s <= level).length - 1;
  return {
    codes: [0, starts.length - 1],
    at: (code) => values[code],
    parameters: { truth: response.truth },
    draw: (level, source) => response.draw(bin(level), source),
    chance: (level, code) => response.chance(bin(level), code),
  };
}

/** k-ary response on some levels; any other counts as one of them, drawn blindly. @param {Json} m @param {number} epsilon @param {number} steps @returns {LevelMechanism} */
function top(m, epsilon, steps) {
  const levels = list(m.top, WHAT, (item) => whole(item, WHAT, 0, steps));
  const k = levels.length;
  insist(k > 0 && levels.every((level, i) => i === 0 || levels[i - 1] < level), WHAT);
  const response = kAry(epsilon, k);
  return {
    codes: [0, k - 1],
    at: (code) => levels[code],
    top: levels,
    parameters: { truth: response.truth },
    draw(level, source) {
      const own = levels.indexOf(level);
      const blind = k <= steps ? integer(k, source) : 0; // drawn for everybody
      return response.draw(own < 0 ? blind : own, source);
    },
    chance: (level, code) => (levels.includes(level) ? response.chance(levels.indexOf(level), code) : 1 / k),
  };
}

/** Hexadecimal in one spelling. @param {unknown} value @param {string} what */
function weight(value, what) {
  const digits = text(value, what);
  insist(/^(?:0|[1-9a-f][0-9a-f]{0,16})$/.test(digits), what);
  return BigInt(`0x${digits}`);
}

/** @param {Json} m @param {number} epsilon @param {number} steps @returns {LevelMechanism} */
function matrix(m, epsilon, steps) {
  const rows = list(m.weights, WHAT, (row) => list(row, WHAT, weight));
  const outputs = list(m.outputs, WHAT, place);
  const size = outputs.length;
  insist(rows.length === steps + 1 && rows.length >= 2 && size >= 2 && size <= MOST_OUTPUTS, "the table of this task");
  insist(rows.every((row) => row.length === size && row.reduce((a, b) => a + b, 0n) === ONE), "the table of this task");
  for (let j = 0; j < size; j += 1) {
    const column = rows.map((row) => row[j]);
    const [most, fewest] = [column.reduce((a, b) => (a > b ? a : b)), column.reduce(least)];
    const holds = most === fewest || ofExp(capped(epsilon), (e, unit) => (most * unit <= fewest * e ? 1n : 0n));
    require(holds, "the table of this task breaks its own claim: do not answer it");
  }
  const bits = BigInt(Math.max(1, (size - 1).toString(2).length));
  return {
    codes: [0, size - 1],
    at: (code) => outputs[code],
    parameters: {},
    draw(level, source) {
      const [cuts, others] = alias(rows[level], bits);
      const drawn = uint64(source);
      const column = Number(drawn >> (64n - bits));
      return (drawn & ((1n << (64n - bits)) - 1n)) < cuts[column] ? column : others[column];
    },
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
