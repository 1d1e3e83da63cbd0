// @ts-check
/**
 * Randomness, and samplers that draw from exact laws with integers only.
 */

import { bigEndian, littleEndian, require } from "./basics.js";

/** @typedef {{simulation: boolean, take(n: number): Uint8Array}} Source */

export const ONE = 1n << 64n;
const DIGIT = 256;

/** The browser's generator. */
export class SecureSource {
  simulation = false;

  /** @param {number} n */
  take(n) {
    const out = new Uint8Array(n);
    for (let i = 0; i < n; i += 65536) crypto.getRandomValues(out.subarray(i, Math.min(n, i + 65536)));
    return out;
  }
}

/** Given bytes, for the shared vectors; reports made from it are marked as a simulation. */
export class GivenSource {
  simulation = true;
  used = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  /** @param {number} n */
  take(n) {
    require(this.used + n <= this.bytes.length, "the given random bytes are used up");
    this.used += n;
    return this.bytes.slice(this.used - n, this.used);
  }
}

/** @param {Source} source */
export const uint16 = (source) => Number(littleEndian(source.take(2)));
/** @param {Source} source */
export const uint64 = (source) => littleEndian(source.take(8));

/** Uniform on 0 .. high - 1: rejection, no modulo bias. @param {number} high @param {Source} source */
export function integer(high, source) {
  const [bytes, n] = [high <= 1 << 24 ? 4 : 8, BigInt(high)];
  const all = 1n << BigInt(8 * bytes);
  const limit = all - (all % n);
  for (;;) {
    const word = littleEndian(source.take(bytes));
    if (word < limit) return Number(word % n);
  }
}

/** n bits, each set with probability numerator / 2^64. @param {bigint} numerator @param {number} n @param {Source} source */
export function bernoullis(numerator, n, source) {
  if (numerator === 0n || numerator === ONE) return new Array(n).fill(numerator === ONE);
  const head = Number(numerator >> 56n);
  const tail = numerator & ((1n << 56n) - 1n);
  const first = source.take(n);
  // First all first bytes, then eight more for each that leaves its bit open.
  return Array.from(first, (byte) => (byte === head ? uint64(source) >> 8n < tail : byte < head));
}

/** @param {bigint} numerator @param {Source} source @returns {boolean} */
export const bernoulli = (numerator, source) => bernoullis(numerator, 1, source)[0];

/** A finite double as an exact fraction. @param {number} value @returns {[bigint, bigint]} */
export function fraction(value) {
  require(Number.isFinite(value), `${value} is not a finite number`);
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 2047n);
  const significand = (bits & ((1n << 52n) - 1n)) | (exponent ? 1n << 52n : 0n);
  const power = Math.max(exponent, 1) - 1075;
  const signed = bits >> 63n ? -significand : significand;
  return power >= 0 ? [signed << BigInt(power), 1n] : [signed, 1n << BigInt(-power)];
}

export const W = 512n; // bits after the point of e^x
export const SURE = 300n; // e^x is known to within 2^-300 of itself, wider than any bound that Python uses

/** e^(n/d) for n >= 0, times 2^512: Taylor's series near 0, then squares. @param {bigint} n @param {bigint} d */
export function exponential(n, d) {
  let halvings = 8n;
  while (n >> halvings > d) halvings += 1n;
  const x = (n << W) / (d << (halvings + 8n));
  let term = 1n << W;
  let sum = term;
  for (let k = 1n; term; k += 1n) {
    term = (term * x) >> W;
    term /= k;
    sum += term;
  }
  for (let k = 0n; k < halvings + 8n; k += 1n) sum = (sum * sum) >> W;
  return sum;
}

/**
 * Evaluate a monotone function of e^x, in integers, at both ends of an interval around it, and insist that they agree.
 * @param {[bigint, bigint]} x @param {(value: bigint, unit: bigint) => bigint} rule
 */
export function ofExp([n, d], rule) {
  const unit = 1n << W;
  const value = n < 0n ? (unit << W) / exponential(-n, d) : exponential(n, d);
  const slack = (value >> SURE) + 1n;
  const result = rule(value - slack, unit);
  require(result === rule(value + slack, unit), "a probability of this task lies on the edge of 64 bits");
  return result;
}

/** @param {bigint} a @param {bigint} b */
const ceilDivide = (a, b) => -(-a / b) + (a % b > 0n ? 1n : 0n);
/** @param {bigint} a @param {bigint} b */
export const least = (a, b) => (a < b ? a : b);

/** Epsilon as Python caps it: 64-bit probabilities cannot tell more than e^200. @param {number} epsilon */
export function capped(epsilon) {
  require(epsilon > 0, "epsilon must be above 0");
  return fraction(Math.min(epsilon, 200));
}

/** ceil(2^64 / (1 + e^x)), at most one half. @param {[bigint, bigint]} x */
export const flipChance = (x) => least(ONE / 2n, ofExp(x, (e, unit) => ceilDivide(ONE * unit, unit + e)));

/** floor(2^64 s e^eps / (s e^eps + rest)). @param {number} epsilon @param {bigint} s @param {bigint} rest */
export const shareBelow = (epsilon, s, rest) =>
  ofExp(capped(epsilon), (e, unit) => (ONE * s * e) / (s * e + rest * unit));

/** ceil(2^64 e^-x). @param {[bigint, bigint]} x */
export function dyadicExp([n, d]) {
  if (n > 64n * d) return 1n;
  return least(ONE, ofExp([-n, d], (e, unit) => ceilDivide(e * ONE, unit)));
}

/** @typedef {(bits: number) => [bigint[], bigint[]]} Bounds lows and highs of 2^bits times each threshold */

/** Inverse transform with bits drawn as they are needed: exact for thresholds known to any precision. */
export class LazyCdf {
  /** @param {Bounds} bounds */
  constructor(bounds) {
    this.bounds = bounds;
    const [lows, highs] = bounds(64);
    this.lows = lows.filter((low) => low < ONE);
    this.belowHighs = highs.slice(0, this.lows.length).map((high) => (high < ONE ? (high ? high - 1n : 0n) : ONE - 1n));
  }

  /** @param {bigint} from @param {bigint} to */
  count(from, to) {
    return [below(this.belowHighs, from), below(this.lows, to + 1n)];
  }

  /** @param {Source} source */
  sample(source) {
    let u = BigInt(uint16(source)) << 48n;
    let [sure, possible] = this.count(u, u | ((1n << 48n) - 1n));
    if (sure === possible) return sure;
    u |= uint64(source) >> 16n;
    [sure, possible] = this.count(u, u);
    for (let bits = 128; sure !== possible; bits += 64) {
      u = (u << 64n) | bigEndian(source.take(8));
      const [lows, highs] = this.bounds(bits);
      [sure, possible] = [below(highs, u + 1n), below(lows, u + 1n)];
    }
    return sure;
  }
}

/** How many of rising numbers are below a value. @param {bigint[]} rising @param {bigint} value */
function below(rising, value) {
  let [from, to] = [0, rising.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (rising[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Bounds of thresholds given as fixed-point numbers. @param {bigint[]} values @param {bigint} point @param {number} bits @returns {[bigint[], bigint[]]} */
function scaled(values, point, bits) {
  const error = (1n << point) / 10n ** BigInt(Math.ceil(bits * 0.30103) + 50);
  const shift = point - BigInt(bits);
  const lows = values.map((v) => (v > error ? (v - error) >> shift : 0n));
  return [lows, values.map((v) => -(-(v + error) >> shift))];
}

/** Exact bounds of cumulated integer weights. @param {bigint[]} weights @returns {Bounds} */
export function weighted(weights) {
  /** @type {bigint[]} */
  const sums = [];
  weights.reduce((sum, w) => (sums.push(sum + w), sum + w), 0n);
  const total = sums.pop() ?? 1n;
  return (bits) => {
    const up = sums.map((sum) => sum << BigInt(bits));
    return [up.map((v) => v / total), up.map((v) => ceilDivide(v, total))];
  };
}

/** @type {Map<string, LazyCdf>} */
const tables = new Map();

/** @param {string} key @param {() => Bounds} make */
function table(key, make) {
  const known = tables.get(key) ?? new LazyCdf(make());
  tables.set(key, known);
  return known;
}

/** Whether (ratio^exponent)^256 < 2^-8, decided like Python's logarithm. @param {bigint} ratio @param {number} exponent */
function isNarrow(ratio, exponent) {
  const logarithm = exponent * DIGIT * Math.log2(Number(ratio) / 2 ** 64);
  require(Math.abs(logarithm + 8) > 1e-9, "this task's noise lies on the edge of two tables; ask the curator for another epsilon");
  return logarithm < -8;
}

/** P(G = k) = (1 - r) r^k, r = (ratio / 2^64)^exponent. @param {bigint} ratio @param {Source} source @returns {bigint} */
export function geometric(ratio, source, exponent = 1) {
  if (ratio === 0n) return 0n;
  const narrow = isNarrow(ratio, exponent);
  const cdf = table(`g${ratio},${exponent},${narrow}`, () => (bits) => {
    const point = BigInt(bits + 384);
    const unit = 1n << point;
    let [r, square] = [unit, ratio << (point - 64n)];
    for (let e = BigInt(exponent); e; e >>= 1n, square = (square * square) >> point) if (e & 1n) r = (r * square) >> point;
    let [power, values] = [unit, /** @type {bigint[]} */ ([])];
    for (let k = 0; k < DIGIT; k += 1) values.push(unit - (power = (power * r) >> point));
    if (!narrow) {
      const whole = /** @type {bigint} */ (values.pop());
      values = values.map((v) => (v << point) / whole);
    }
    return scaled(values, point, bits);
  });
  const low = cdf.sample(source);
  if (!narrow) return geometric(ratio, source, exponent * DIGIT) * 256n + BigInt(low);
  return BigInt(low) + (low === DIGIT ? geometric(ratio, source, exponent) : 0n);
}

/** P(X = k) = (1 - r)/(1 + r) r^|k|. @param {bigint} ratio @param {Source} source @returns {bigint} */
export function discreteLaplace(ratio, source) {
  if (ratio === 0n) return 0n;
  if (!isNarrow(ratio, 1)) {
    const negative = source.take(1)[0] >= 128;
    const size = geometric(ratio, source);
    if (!negative) return size;
    return size ? -size : discreteLaplace(ratio, source); // "minus zero" is drawn again
  }
  const cdf = table(`l${ratio}`, () => (bits) => {
    const point = BigInt(bits + 384);
    const tails = [(ratio << point) / (ONE + ratio)];
    while (tails.length < DIGIT) tails.push((tails[tails.length - 1] * ratio) >> 64n);
    return scaled([...tails.slice().reverse(), ...tails.map((t) => (1n << point) - t)], point, bits);
  });
  const value = cdf.sample(source) - DIGIT;
  if (Math.abs(value) < DIGIT) return BigInt(value);
  const extra = geometric(ratio, source);
  return BigInt(value) + (value > 0 ? extra : -extra);
}

/** Floyd's algorithm: a uniform subset of m. @param {number} m @param {number} size @param {boolean} fewer @param {Source} source */
export function uniformSubset(m, size, fewer, source) {
  const picked = new Array(m).fill(false);
  for (let step = fewer ? 1 : 0; step < size; step += 1) {
    const j = m - size + step;
    const t = integer(j + 1, source);
    picked[picked[t] ? j : t] = true;
  }
  return picked;
}
