// @ts-check
/**
 * Field128 of draft-irtf-cfrg-vdaf (6.1): whole numbers modulo 2^128 - 7 2^66 + 1, as bigints, and polynomials by their
 * values at roots of unity.
 */

const FACTOR = 4611686018427387897n;
const P = (FACTOR << 66n) + 1n;
const SIZE = 16;

/** @param {bigint} a @param {bigint} b */
export function add(a, b) {
  const sum = a + b;
  return sum < P ? sum : sum - P;
}

/** @param {bigint} a @param {bigint} b */
export const subtract = (a, b) => (a < b ? a + P - b : a - b);
/** @param {bigint} a @param {bigint} b */
export const multiply = (a, b) => (a * b) % P;

/** @param {bigint} base @param {bigint} exponent */
function power(base, exponent) {
  let out = 1n;
  for (; exponent; exponent >>= 1n, base = multiply(base, base)) if (exponent & 1n) out = multiply(out, base);
  return out;
}

/** @param {bigint[]} values */
export function encode(values) {
  const view = new DataView(new ArrayBuffer(SIZE * values.length));
  values.forEach((value, i) => {
    view.setBigUint64(SIZE * i, BigInt.asUintN(64, value), true);
    view.setBigUint64(SIZE * i + 8, value >> 64n, true);
  });
  return new Uint8Array(view.buffer);
}

/** The next n numbers of a stream that are below the modulus. @param {{next(n: number): Uint8Array}} stream @param {number} n */
export function elements(stream, n) {
  /** @type {bigint[]} */
  const out = [];
  while (out.length < n) {
    const missing = n - out.length;
    const view = new DataView(stream.next(SIZE * missing).buffer);
    for (let i = 0; i < missing; i++) {
      const value = view.getBigUint64(SIZE * i, true) | (view.getBigUint64(SIZE * i + 8, true) << 64n);
      if (value < P) out.push(value);
    }
  }
  return out;
}

/** The first n powers of the principal root of unity of order n, a power of two. @param {number} n */
function roots(n) {
  const root = power(power(7n, FACTOR), (1n << 66n) / BigInt(n));
  const out = [1n];
  while (out.length < n) out.push(multiply(out[out.length - 1], root));
  return out;
}

/**
 * What gives values of polynomials at the roots of order 2 n from those at the roots of order n, a power of two.
 * @param {number} n @returns {(values: bigint[]) => bigint[]}
 */
export function doubling(n) {
  const all = roots(2 * n);
  /** Roots of order 2, 4, ... n: those of a step of the transform. */
  const steps = Array.from({ length: Math.log2(n) }, (_, i) => roots(2 << i));
  const inverse = power(BigInt(n), P - 2n);
  const shift = all.slice(0, n).map((root) => multiply(root, inverse));
  const reversed = Array.from({ length: n }, (_, i) => steps.reduce((out, _, bit) => (out << 1) | ((i >> bit) & 1), 0));

  /** Values of a polynomial at the roots of order n. @param {bigint[]} p */
  const transform = (p) => {
    const out = reversed.map((i) => p[i]);
    steps.forEach((root, log) => {
      const half = 1 << log;
      for (let start = 0; start < n; start += 2 * half)
        for (let i = start; i < start + half; i++) {
          const turned = multiply(out[i + half], root[i - start]);
          out[i + half] = subtract(out[i], turned);
          out[i] = add(out[i], turned);
        }
    });
    return out;
  };

  return (values) => {
    const found = transform(values);
    // Backwards and over n these are the coefficients; p(s x) has the coefficients of p times powers of s.
    const odd = transform(shift.map((factor, i) => multiply(found[(n - i) % n], factor)));
    return values.flatMap((value, i) => [value, odd[i]]);
  };
}
