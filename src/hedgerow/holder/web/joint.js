// @ts-check
/**
 * Joint randomisers of a group and of how wrong a public model is there, as in Python's mechanisms.joint.
 */

import { require } from "./basics.js";
import { bernoulli, integer, ONE, shareBelow, uniformSubset } from "./exact.js";
import { kAry, toNumber } from "./mechanisms.js";
import { insist } from "./reader.js";

/** @typedef {import("./exact.js").Source} Source */

const MOST_SYMBOLS = 65536; // two bytes name one

/**
 * `size` of the K groups are named, each with a sign; reports that hold the true pair weigh e^epsilon.
 * @param {number} epsilon @param {number} K @param {number} size
 */
export function signedSubset(epsilon, K, size) {
  const hold = shareBelow(epsilon, BigInt(size), BigInt(2 * K - size));
  require(hold * BigInt(2 * K - size) > (ONE - hold) * BigInt(size), "epsilon is too small for this many groups");
  const p = toNumber(hold);
  const turned = ((1 - p) * size) / (2 * K - size);
  const others = ((p + turned) * (size - 1) + (1 - p - turned) * size) / Math.max(1, K - 1);
  return {
    leaves: K,
    size,
    hold,
    numerator: hold,
    /** P(the own group is named with the own sign), with the other sign, and P(another group is named). */
    odds: [p, turned, others],
    /** Scores -1, 0 or 1 of the groups. @param {number} leaf @param {number} level @param {Source} source */
    draw(leaf, level, source) {
      const held = bernoulli(hold, source);
      // Of the reports that do not hold the pair, size in 2K - size name the group with the other sign.
      const turn = !held && integer(2 * K - size, source) < size;
      const named = uniformSubset(K - 1, size, held || turn, source);
      const signs = source.take((K + 6) >> 3); // one bit for each other group, the highest first
      const scores = named.map((is, j) => (is ? 2 * ((signs[j >> 3] >> (7 - (j & 7))) & 1) - 1 : 0));
      const own = (2 * level - 1) * (Number(held) - Number(turn));
      return [...scores.slice(0, leaf), own, ...scores.slice(leaf)];
    },
  };
}

/**
 * k-ary response on (group, level), the middle level of all groups being one answer, number 0.
 * @param {number} epsilon @param {number} K @param {number} levels
 */
export function levelResponse(epsilon, K, levels) {
  const [symbols, top] = [K * (levels - 1) + 1, (levels - 1) / 2];
  insist(levels >= 3 && levels % 2 === 1 && symbols <= MOST_SYMBOLS, "the levels");
  const response = kAry(epsilon, symbols);
  const p = toNumber(response.truth);
  /** @param {number} leaf @param {number} level */
  const symbol = (leaf, level) => (level === top ? 0 : 1 + leaf * (levels - 1) + level - (level > top ? 1 : 0));
  return {
    leaves: K,
    symbols,
    numerator: response.truth,
    symbol,
    /** P(the own answer is named), and P(another one is). */
    odds: [p, (1 - p) / (symbols - 1)],
    /** @param {number} leaf @param {number} level @param {Source} source */
    draw: (leaf, level, source) => response.draw(symbol(leaf, level), source),
    /** Group and level of an answer other than 0. @param {number} answer @returns {[number, number]} */
    pair(answer) {
      const place = (answer - 1) % (levels - 1);
      return [Math.floor((answer - 1) / (levels - 1)), place + (place >= top ? 1 : 0)];
    },
  };
}
