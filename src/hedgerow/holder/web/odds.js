// @ts-check
/**
 * What a randomised label stands for, and how probable that and everything else was.
 */

import { bitOf, percent } from "./basics.js";
import { position } from "./mechanisms.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./schema.js").Grid} Grid */
/** @typedef {{codes: [number, number], at(code: number): number, chance(level: number, code: number): number}} Law */
/** @typedef {{low: number, high: number, chance: number, sent: boolean}} Bar */
/** @typedef {{what: string, truth: string, sent: string, chance: string, own?: boolean}} Row */

const MOST_OUTPUTS = 200_000; // more are not drawn as bars
const BARS = 48; // at most, side by side on a phone
const TAIL = 5e-4; // left out on either side, unless it was sent: all but one case in a thousand is shown

/** How probable an output is for a label: it is rounded to one of two levels first. @param {Grid} grid @param {Law} law @param {number} label @param {number} code */
export function labelChance(grid, law, label, code) {
  const place = position(grid, label) / 256;
  const [level, share] = [Math.floor(place), place % 1];
  return (1 - share) * law.chance(level, code) + (share ? share * law.chance(level + 1, code) : 0);
}

/** What an output stands for, in units of the label. @param {Grid} grid @param {number} at in steps */
export const labelValue = ({ low, high, n_steps }, at) => low + (at * (high - low)) / n_steps;

/**
 * A noisy label: what was sent and, where the truth is known, bars of equal width over what could have been.
 * @param {string} name of the label @param {Grid} grid @param {Law} law @param {number} code @param {number} [label]
 */
export function aboutLabel(name, grid, law, code, label) {
  const [from, to] = law.codes;
  /** @param {number} c */
  const value = (c) => labelValue(grid, law.at(c));
  const about = { name, value: value(code), label, low: grid.low, high: grid.high, bars: /** @type {Bar[]} */ ([]) };
  if (label === undefined || to - from > MOST_OUTPUTS) return about;
  const chances = Array.from({ length: to - from + 1 }, (_, i) => labelChance(grid, law, label, from + i));
  const sent = code - from;
  let [first, last] = [0, chances.length - 1];
  for (let left = 0; first < sent && left + chances[first] < TAIL; first += 1) left += chances[first];
  for (let right = 0; last > sent && right + chances[last] < TAIL; last -= 1) right += chances[last];
  const width = Math.max(1, Math.ceil((last - first + 1) / BARS));
  for (let i = first; i <= last; i += width) {
    const end = Math.min(i + width, last + 1);
    const chance = chances.slice(i, end).reduce((a, b) => a + b, 0);
    about.bars.push({ low: value(from + i), high: value(from + end - 1), chance, sent: sent >= i && sent < end });
  }
  return about;
}

/** One bit: its truth, what is sent, and how probable that was. @param {string} what @param {Uint8Array} bits @param {number} j @param {boolean | undefined} own @param {number} ifOwn chance that the own bit is set @param {number} ifOther chance that another one is @returns {Row} */
export function bitRow(what, bits, j, own, ifOwn, ifOther) {
  const set = bitOf(bits, j);
  if (own === undefined) return { what, truth: "", sent: String(set), chance: "" };
  const chance = own ? ifOwn : ifOther;
  return { what, truth: own ? "1" : "0", sent: String(set), chance: percent(set ? chance : 1 - chance), own };
}
