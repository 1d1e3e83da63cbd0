// @ts-check
/**
 * Passes by blind signatures (RFC 9474, RSABSSA-SHA384-PSS-Randomized): the server signs a message that it does not see,
 * against an invitation, so that a report proves one without saying whose. hedgerow/blind.py has the same functions.
 */

import { bigEndian, fromHex, join, require, toHex } from "./basics.js";

/** @typedef {{prefix: Uint8Array, salt: Uint8Array, factor: bigint}} Blinding */

const EXPONENT = 65537n;
const PREFIX = 32;
const SALT = 48;

/** @param {bigint} value @param {number} size */
function bigBytes(value, size) {
  return Uint8Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * (size - 1 - i))) & 255n));
}

/** @param {bigint} base @param {bigint} exponent @param {bigint} n */
function power(base, exponent, n) {
  let result = 1n;
  for (let e = exponent, square = base % n; e > 0n; e >>= 1n, square = (square * square) % n) {
    if (e & 1n) result = (result * square) % n;
  }
  return result;
}

/** The number whose product with `value` is 1; 0 if there is none. @param {bigint} value @param {bigint} n */
function inverse(value, n) {
  let [a, b, x, y] = [value % n, n, 1n, 0n];
  while (b) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [x, y] = [y, x - quotient * y];
  }
  return a === 1n ? ((x % n) + n) % n : 0n;
}

/** @param {Uint8Array[]} parts */
async function sha384(parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", /** @type {BufferSource} */ (join(parts))));
}

/** EMSA-PSS-ENCODE of RFC 8017, section 9.1.1. @param {Uint8Array} message @param {number} size bytes of the modulus @param {Uint8Array} salt */
async function encode(message, size, salt) {
  const digest = await sha384([new Uint8Array(8), await sha384([message]), salt]);
  const block = join([new Uint8Array(size - SALT - digest.length - 2), Uint8Array.of(1), salt]);
  const masks = [];
  for (let i = 0; i * SALT < block.length; i += 1) masks.push(await sha384([digest, Uint8Array.of(0, 0, 0, i)]));
  const mask = join(masks);
  const masked = block.map((byte, i) => byte ^ mask[i]);
  masked[0] &= 0x7f; // one bit less than the modulus
  return bigEndian(join([masked, digest, Uint8Array.of(0xbc)]));
}

/** The random numbers of one message, to be kept until its signature is there. @param {Uint8Array} key @returns {Blinding} */
export function drawBlinding(key) {
  const n = bigEndian(key);
  for (;;) {
    const factor = bigEndian(crypto.getRandomValues(new Uint8Array(key.length)));
    if (factor < n && inverse(factor, n)) {
      const salt = crypto.getRandomValues(new Uint8Array(SALT));
      return { prefix: crypto.getRandomValues(new Uint8Array(PREFIX)), salt, factor };
    }
  }
}

/** @param {Blinding} kept @returns {import("./basics.js").Json} to be remembered */
export const packBlinding = ({ prefix, salt, factor }) => ({ prefix: toHex(prefix), salt: toHex(salt), factor: factor.toString(16) });

/** @param {import("./basics.js").Json} kept @returns {Blinding} */
export const unpackBlinding = ({ prefix, salt, factor }) => ({ prefix: fromHex(prefix), salt: fromHex(salt), factor: BigInt(`0x${factor}`) });

/** What the server is shown. @param {Uint8Array} key @param {Uint8Array} message @param {Blinding} kept */
export async function blind(key, message, kept) {
  const n = bigEndian(key);
  const m = await encode(join([kept.prefix, message]), key.length, kept.salt);
  return bigBytes((m * power(kept.factor, EXPONENT, n)) % n, key.length);
}

/** Take the blinding off, and refuse what is not a signature of this message. @param {Uint8Array} key @param {Uint8Array} message @param {Blinding} kept @param {Uint8Array} signed */
export async function finalize(key, message, kept, signed) {
  const n = bigEndian(key);
  require(signed.length === key.length, "the server's answer is no signature");
  const signature = (bigEndian(signed) * inverse(kept.factor, n)) % n;
  const m = await encode(join([kept.prefix, message]), key.length, kept.salt);
  require(power(signature, EXPONENT, n) === m, "the server's signature does not hold; the invitation may be for another task");
  return bigBytes(signature, key.length);
}
