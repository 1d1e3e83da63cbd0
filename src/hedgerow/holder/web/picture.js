// @ts-check
/**
 * The randomised answer as a picture, as in Python's hedgerow.tasks.picture: what could have been sent, how likely each of
 * it was given the record, and what was. It is made on the device, and nothing of it is sent.
 */

import { position } from "./mechanisms.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {{what: "own" | "other" | "above" | "below" | "silent" | "value", chance: number, sent: number, count: number, low: number, high: number}} Bar */
/** @typedef {{kind: "named" | "marked" | "told" | "values", bars: Bar[], truth: number | null, error?: boolean}} Panel */

/** @param {Bar["what"]} what @param {number} chance @param {number} sent @param {number} [count] @returns {Bar} */
const bar = (what, chance, sent, count = 1) => ({ what, chance, sent, count, low: 0, high: 0 });

/** The levels that a label may be rounded to, and how likely each is. @param {{low: number, high: number, n_steps: number}} grid @param {number} label @returns {Map<number, number>} */
export function shares(grid, label) {
  const place = position(grid, label) / 256;
  const [level, part] = [Math.floor(place), place % 1];
  return part ? new Map([[level, 1 - part], [level + 1, part]]) : new Map([[level, 1]]);
}

/** One answer out of n: that of the holder with p, each other one with q. @param {Map<number, number>} own @param {number} n @param {number} p @param {number} q @param {number} sent @returns {Panel} */
export function named(own, n, p, q, sent) {
  const mine = [...own.values()].reduce((sum, share) => sum + share * p + (1 - share) * q, 0);
  const bars = [bar("own", mine, Number(own.has(sent)))];
  if (n > own.size) bars.push(bar("other", q, Number(!own.has(sent)), n - own.size));
  return { kind: "named", bars, truth: null };
}

/** Answers that are each marked or not. @param {Map<number, number>} own @param {number} p @param {number} q @param {number[]} bits @returns {Panel} */
export function marked(own, p, q, bits) {
  const [mine, share] = [...own].reduce((best, next) => (next[1] > best[1] ? next : best));
  const others = bits.filter((_, answer) => !own.has(answer));
  const bars = [bar("own", share * p + (1 - share) * q, bits[mine])];
  if (others.length) bars.push(bar("other", q, others.reduce((a, b) => a + b, 0), others.length));
  return { kind: "marked", bars, truth: null };
}

/** The own group with its word, with the opposite one, or not at all. @param {number} above @param {number[]} odds @param {number} sent @param {number[]} others @returns {Panel} */
export function told(above, [p, turned, other], sent, others) {
  const bars = [
    bar("above", above * p + (1 - above) * turned, Number(sent > 0)),
    bar("below", above * turned + (1 - above) * p, Number(sent < 0)),
    bar("silent", Math.max(0, 1 - p - turned), Number(sent === 0)),
  ];
  if (others.length) bars.push(bar("other", other, others.reduce((a, b) => a + b, 0), others.length));
  return { kind: "told", bars, truth: null };
}

/** A noisy number: the label, or a public model's error. @param {Json} about see aboutLabel @param {boolean} [error] @returns {Panel} */
export function values({ bars, label, low, high }, error = false) {
  const shown = bars.map((/** @type {Json} */ one) => ({ ...one, what: "value", sent: Number(one.sent), count: 1 }));
  return { kind: "values", bars: shown, truth: Math.min(Math.max(label, low), high), error };
}
