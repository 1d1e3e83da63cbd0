// @ts-check
/**
 * Bytes that only one party can read: HPKE (RFC 9180), base mode with X25519, HKDF-SHA256 and AES-128-GCM, made of the
 * browser's own cryptography. hedgerow/sealing.py opens what is sealed here.
 */

import { HolderError, join, require } from "./basics.js";

const text = new TextEncoder();
const KEM = join([text.encode("KEM"), Uint8Array.of(0, 0x20)]);
const SUITE = join([text.encode("HPKE"), Uint8Array.of(0, 0x20, 0, 1, 0, 1)]);
const NONE = new Uint8Array(0);
const KEY = 32;

/** @param {Uint8Array} key @param {Uint8Array[]} parts */
async function hmac(key, parts) {
  // An empty key is one of zeros, which browsers do not take.
  const bytes = /** @type {BufferSource} */ (key.length ? key : new Uint8Array(KEY));
  const imported = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, /** @type {BufferSource} */ (join(parts))));
}

/** @param {Uint8Array} suite @param {Uint8Array} salt @param {string} label @param {Uint8Array} input */
const extract = (suite, salt, label, input) => hmac(salt, [text.encode("HPKE-v1"), suite, text.encode(label), input]);

/** At most 32 bytes. @param {Uint8Array} suite @param {Uint8Array} secret @param {string} label @param {Uint8Array} info @param {number} n */
async function expand(suite, secret, label, info, n) {
  const parts = [Uint8Array.of(0, n), text.encode("HPKE-v1"), suite, text.encode(label), info, Uint8Array.of(1)];
  return (await hmac(secret, parts)).slice(0, n);
}

/** A one-time public key, and a secret that only it and the recipient's key give. @param {Uint8Array} publicKey */
async function encapsulate(publicKey) {
  require(publicKey.length === KEY, "a public key has another length");
  try {
    const algorithm = { name: "X25519" };
    const recipient = await crypto.subtle.importKey("raw", /** @type {BufferSource} */ (publicKey), algorithm, false, []);
    const own = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey(algorithm, false, ["deriveBits"]));
    const sent = new Uint8Array(await crypto.subtle.exportKey("raw", own.publicKey));
    const shared = await crypto.subtle.deriveBits({ name: "X25519", public: recipient }, own.privateKey, 8 * KEY);
    const bytes = new Uint8Array(shared);
    if (bytes.every((byte) => byte === 0)) throw new HolderError("a key of small order");
    const secret = await extract(KEM, NONE, "eae_prk", bytes);
    return { sent, secret: await expand(KEM, secret, "shared_secret", join([sent, publicKey]), KEY) };
  } catch {
    throw new HolderError("this browser cannot seal a report for this key");
  }
}

/**
 * A message that only the holder of the key can open, with the same info and aad.
 * @param {Uint8Array} publicKey @param {Uint8Array} info @param {Uint8Array} aad @param {Uint8Array} message
 */
export async function seal(publicKey, info, aad, message) {
  const { sent, secret: shared } = await encapsulate(publicKey);
  const hashes = [await extract(SUITE, NONE, "psk_id_hash", NONE), await extract(SUITE, NONE, "info_hash", info)];
  const context = join([Uint8Array.of(0), ...hashes]);
  const secret = await extract(SUITE, shared, "secret", NONE);
  const key = /** @type {BufferSource} */ (await expand(SUITE, secret, "key", context, 16));
  const iv = /** @type {BufferSource} */ (await expand(SUITE, secret, "base_nonce", context, 12));
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  const given = { name: "AES-GCM", iv, additionalData: /** @type {BufferSource} */ (aad) };
  return join([sent, new Uint8Array(await crypto.subtle.encrypt(given, aes, /** @type {BufferSource} */ (message)))]);
}
