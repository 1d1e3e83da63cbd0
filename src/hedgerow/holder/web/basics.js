// @ts-check
/**
 * What every module needs: refusals for people, bytes, digests, and numbers in words.
 */

/** @typedef {{[name: string]: any}} Json */

/** A message for people: what is wrong and what to do. */
export class HolderError extends Error {}

/** @param {unknown} holds @param {string} message @returns {asserts holds} */
export function require(holds, message) {
  if (!holds) throw new HolderError(message);
}

// ---------------------------------------------------------------- bytes

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
/** @param {string} text */
export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
/** @param {Uint8Array} bytes */
export const littleEndian = (bytes) => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
/** @param {Uint8Array} bytes */
export const bigEndian = (bytes) => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** @param {number} value @param {number} size */
export function littleBytes(value, size) {
  return Uint8Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) % 256);
}

/** @param {number} value */
export function signed32(value) {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setInt32(0, value, true);
  return out;
}

/** @param {number} value */
export function double(value) {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setFloat64(0, value, true);
  return out;
}

/** Bit j goes to byte j / 8 at weight 2^(j mod 8). @param {boolean[]} bits */
export function pack(bits) {
  const out = new Uint8Array((bits.length + 7) >> 3);
  bits.forEach((bit, j) => (out[j >> 3] |= bit ? 1 << (j & 7) : 0));
  return out;
}

/** Undo `pack`, one bit. @param {Uint8Array} bytes @param {number} j */
export const bitOf = (bytes, j) => (bytes[j >> 3] >> (j & 7)) & 1;

/** @param {Uint8Array[]} parts */
export function join(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (out.set(part, at), at + part.length), 0);
  return out;
}

/** Bytes of base64 that is written in the one allowed way, with padding and without blanks. @param {string} text @param {string} message */
export function fromBase64(text, message) {
  require(/^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0, message);
  const characters = atob(text);
  require(btoa(characters) === text, message);
  return Uint8Array.from(characters, (c) => c.charCodeAt(0));
}

/** @param {Uint8Array} bytes */
export const toBase64url = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

/** @param {Uint8Array | string} data */
export async function sha256(data) {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes)));
}

// ---------------------------------------------------------------- numbers for people

/** @param {number} value */
export const short = (value) => String(Number(value.toPrecision(5)));

/** @param {number} share */
export function percent(share) {
  const digits = share < 0.9 ? 3 : 3 - Math.floor(Math.log10(Math.max(1 - share, 1e-12)));
  return `${Number((100 * share).toPrecision(Math.max(2, Math.min(digits, 15))))} %`;
}

/** Round up to some digits: claims are never rounded down. @param {number} value @param {number} digits */
const upTo = (value, digits) => {
  const step = 10 ** (Math.floor(Math.log10(value)) + 1 - digits);
  return Number((Math.ceil(value / step) * step).toPrecision(digits));
};

/** What epsilon allows: how many times as probable, and how sure of one of two possibilities; rounded up. @param {number} epsilon */
export function epsilonParts(epsilon) {
  const exact = 1 / (1 + Math.exp(-epsilon));
  const most = exact < 0.99 ? Math.ceil(exact * 1000) / 1000 : Math.min(1, Math.ceil(exact * 1e6) / 1e6);
  return { factor: upTo(Math.exp(Math.min(epsilon, 700)), 3), most };
}
