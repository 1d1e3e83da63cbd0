// @ts-check
/**
 * Prio3MultihotCountVec of draft-irtf-cfrg-vdaf: the holder's part. "So many bits, of which at most so many are set", as
 * shares for servers that can verify this and add up, and of which none alone learns anything. hedgerow/vdaf is the same
 * in Python, byte for byte.
 *
 * The times of bigints depend on their values: nobody but the holder can measure them here, on the holder's own device.
 */

import { join, require } from "./basics.js";
import { add, doubling, elements, encode, multiply, subtract } from "./field128.js";
import { Xof } from "./turboshake.js";

/** @typedef {{length: number, maxWeight: number, chunk: number, servers: number}} Circuit */

const SEED = 32;
const [VERSION, VDAF, ALGORITHM, PROOFS] = [18, 0, 5, 1];
const [MEAS_SHARE, PROOF_SHARE, JOINT_RANDOMNESS, PROVE_RANDOMNESS, JOINT_RAND_SEED, JOINT_RAND_PART] = [1, 2, 3, 4, 6, 7];

/** Random bytes that one report needs. @param {Circuit} circuit */
export const randSize = (circuit) => 2 * SEED * circuit.servers;

/** @param {number} value */
const bitLength = (value) => value.toString(2).length;

/** The bits of a measurement, and bits that make their number. @param {Circuit} circuit @param {number[]} bits */
export function encoded({ length, maxWeight }, bits) {
  require(bits.length === length && bits.every((bit) => bit === 0 || bit === 1), `a measurement must be ${length} bits`);
  const weight = bits.reduce((sum, bit) => sum + bit, 0);
  require(weight <= maxWeight, `at most ${maxWeight} bits of a measurement may be set`);
  const powers = bitLength(maxWeight) - 1;
  const below = 2 ** powers - 1;
  const last = Number(weight > below);
  const rest = weight - last * (maxWeight - below);
  return [...bits, ...Array.from({ length: powers }, (_, i) => (rest >> i) & 1), last].map(BigInt);
}

/** Wire seeds and values of the gadget polynomial. @param {bigint[]} meas @param {bigint[]} seeds @param {bigint[]} joint @param {number} chunk */
function prove(meas, seeds, joint, chunk) {
  const points = 1 << bitLength(joint.length);
  const double = doubling(points);
  const padding = new Array(points - 1 - joint.length).fill(0n);
  const powers = joint.map(() => 1n);
  /** @type {bigint[]} */
  const gadget = new Array(2 * points).fill(0n);
  for (let j = 0; j < chunk; j++) {
    const values = joint.map((_, k) => meas[k * chunk + j] ?? 0n);
    joint.forEach((r, k) => (powers[k] = multiply(powers[k], r)));
    const left = double([seeds[2 * j], ...values.map((value, k) => multiply(powers[k], value)), ...padding]);
    const right = double([seeds[2 * j + 1], ...values.map((value) => subtract(value, 1n)), ...padding]);
    left.forEach((value, i) => (gadget[i] = add(gadget[i], multiply(value, right[i]))));
  }
  return [...seeds, ...gadget.slice(0, -1)];
}

/**
 * Shares of a measurement: one that all servers get, and one for each server.
 * @param {Circuit} circuit @param {Uint8Array} ctx @param {number[]} bits
 * @param {Uint8Array} nonce 16 bytes of a secure source @param {Uint8Array} rand randSize(circuit) bytes of a secure source
 */
export function shard(circuit, ctx, bits, nonce, rand) {
  require(nonce.length === 16 && rand.length === randSize(circuit), "a nonce or random bytes of another length");
  const { chunk, servers } = circuit;
  const meas = encoded(circuit, bits);
  const calls = Math.ceil(meas.length / chunk);
  const arity = 2 * chunk;
  const proofLength = arity + 2 * (1 << bitLength(calls)) - 1;
  /** @param {number} usage @param {Uint8Array} seed @param {...Uint8Array} binder */
  const xof = (usage, seed, ...binder) =>
    new Xof(seed, join([Uint8Array.of(VERSION, VDAF, 0, 0, 0, ALGORITHM, 0, usage), ctx]), binder);
  /** @param {number} i */
  const seed = (i) => rand.subarray(SEED * i, SEED * (i + 1));

  const shares = [meas];
  for (let i = 1; i < servers; i++) {
    shares.push(elements(xof(MEAS_SHARE, seed(2 * i - 2), Uint8Array.of(i)), meas.length));
    shares[0] = shares[0].map((value, j) => subtract(value, shares[i][j]));
  }
  const leaderBlind = seed(2 * servers - 2);
  const parts = shares.map((share, i) =>
    xof(JOINT_RAND_PART, i ? seed(2 * i - 1) : leaderBlind, Uint8Array.of(i), nonce, encode(share)).next(SEED));
  const jointSeed = xof(JOINT_RAND_SEED, new Uint8Array(SEED), ...parts).next(SEED);
  const joint = elements(xof(JOINT_RANDOMNESS, jointSeed, Uint8Array.of(PROOFS)), calls);
  const seeds = elements(xof(PROVE_RANDOMNESS, seed(2 * servers - 1), Uint8Array.of(PROOFS)), arity);
  let proof = prove(meas, seeds, joint, chunk);
  for (let i = 1; i < servers; i++) {
    const other = elements(xof(PROOF_SHARE, seed(2 * i - 2), Uint8Array.of(PROOFS, i)), proofLength);
    proof = proof.map((value, j) => subtract(value, other[j]));
  }
  const helpers = Array.from({ length: servers - 1 }, (_, i) => join([seed(2 * i), seed(2 * i + 1)]));
  return { publicShare: join(parts), inputShares: [join([encode(shares[0]), encode(proof), leaderBlind]), ...helpers] };
}
