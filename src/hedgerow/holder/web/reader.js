// @ts-check
/**
 * The one strict reader of what a curator publishes.
 *
 * A task is the JSON that Python writes: sorted keys, no blanks, ASCII, and one spelling for every number. A text that
 * Python would spell in another way is refused here as it is there, so that 16 and 16.0, a key given twice or a number
 * as text can never mean two things in two languages. Objects are maps, and numbers stay text until somebody says what
 * they have to be: `number` (finite, as Python writes a float) or `whole` (an integer within limits).
 */

import { require, sha256 } from "./basics.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {null | boolean | string | Numeral | unknown[] | Map<string, unknown>} Value */

const DEEPEST = 32; // no task has lists in objects in lists deeper than 7

/** A number as it was written. */
export class Numeral {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/** @param {string} what @returns {never} */
function damaged(what) {
  require(false, `this task is damaged (${what}): do not answer it`);
  throw new Error("unreachable");
}

/** Refuse a task unless this holds. @param {unknown} holds @param {string} what @returns {asserts holds} */
export function insist(holds, what) {
  if (!holds) damaged(what);
}

// ---------------------------------------------------------------- text

/** A text of JSON, cut into values. */
class Parser {
  at = 0;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** The next piece that this expression (sticky) finds, or nothing. @param {RegExp} piece */
  piece(piece) {
    piece.lastIndex = this.at;
    const found = piece.exec(this.text);
    if (found) this.at += found[0].length;
    return found?.[0];
  }

  /** @param {number} depth @returns {unknown} */
  value(depth) {
    insist(depth < DEEPEST, "lists within lists");
    if (this.piece(/\{/y)) return this.object(depth);
    if (this.piece(/\[/y)) return this.list(depth);
    if (this.text[this.at] === '"') return this.string();
    const word = this.piece(/true|false|null/y);
    if (word) return word === "null" ? null : word === "true";
    const number = this.piece(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y);
    insist(number !== undefined, "not JSON");
    return new Numeral(number);
  }

  string() {
    const found = this.piece(/"[^"\\]*(?:\\.[^"\\]*)*"/y);
    insist(found !== undefined, "not JSON");
    try {
      return /** @type {string} */ (JSON.parse(found));
    } catch {
      return damaged("not JSON");
    }
  }

  /** @param {number} depth */
  list(depth) {
    /** @type {unknown[]} */
    const items = [];
    if (this.piece(/\]/y)) return items;
    do items.push(this.value(depth + 1));
    while (this.piece(/,/y));
    insist(this.piece(/\]/y), "not JSON");
    return items;
  }

  /** @param {number} depth */
  object(depth) {
    /** @type {Map<string, unknown>} */
    const items = new Map();
    if (this.piece(/\}/y)) return items;
    do {
      insist(this.text[this.at] === '"', "not JSON");
      const name = this.string();
      insist(this.piece(/:/y), "not JSON");
      insist(!items.has(name), "a field given twice");
      items.set(name, this.value(depth + 1));
    } while (this.piece(/,/y));
    insist(this.piece(/\}/y), "not JSON");
    return items;
  }
}

/** A text in quotes, ASCII only, as Python writes it. @param {string} text */
export const quoted = (text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Write values without blanks, keys in their order. @param {unknown} value @returns {string} */
export function spell(value) {
  if (value instanceof Numeral) return value.text;
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(spell).join(",")}]`;
  if (value instanceof Map) return `{${Array.from(value, ([name, item]) => `${quoted(name)}:${spell(item)}`).join(",")}}`;
  return String(value);
}

/** Values of a text of JSON without blanks and with one spelling for texts; keys in any order. @param {string} text */
export function parse(text) {
  insist(typeof text === "string" && /^[\x20-\x7e]*$/.test(text), "not ASCII");
  const parser = new Parser(text);
  const value = parser.value(0);
  insist(parser.at === text.length && spell(value) === text, "not spelled as a task is");
  return value;
}

/** @param {unknown} value */
function checkSorted(value) {
  if (value instanceof Map) {
    const names = [...value.keys()];
    insist(names.every((name, i) => i === 0 || names[i - 1] < name), "fields not in order");
    value.forEach(checkSorted);
  } else if (Array.isArray(value)) value.forEach(checkSorted);
}

/** The content of a published text. @param {string} text @returns {Map<string, unknown>} */
export function parsePublished(text) {
  const value = parse(text);
  insist(value instanceof Map, "not an object");
  checkSorted(value);
  return value;
}

/** The digest of something published within a text: SHA-256 of its content without the id that it states. @param {unknown} value */
export async function innerDigest(value) {
  insist(value instanceof Map, "not an object");
  const content = new Map(value);
  content.delete("id");
  return sha256(spell(content));
}

// ---------------------------------------------------------------- values

/** A float in Python's spelling: the shortest digits that stand for it. @param {number} x @returns {string} */
export function floatText(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
  if (Object.is(x, -0)) return "-0.0";
  const [mantissa, power] = Math.abs(x).toExponential().split("e");
  const [digits, exponent, sign] = [mantissa.replace(".", ""), Number(power), x < 0 ? "-" : ""];
  if (exponent < -4 || exponent >= 16) return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.slice(0, exponent + 1).padEnd(exponent + 1, "0")}.${digits.slice(exponent + 1) || "0"}`;
}

/** Exactly these fields. @param {unknown} value @param {string} what @param {string[]} names @returns {Json} */
export function fields(value, what, names) {
  insist(value instanceof Map && value.size === names.length && names.every((name) => value.has(name)), what);
  return Object.fromEntries(value);
}

/** A finite number; there is one zero, as Python turns -0.0 into 0.0. @param {unknown} value @param {string} what @returns {number} */
export function number(value, what) {
  const found = value instanceof Numeral ? Number(value.text) : NaN;
  insist(Number.isFinite(found) && !Object.is(found, -0) && floatText(found) === /** @type {Numeral} */ (value).text, what);
  return found;
}

/** An integer of any size, from `least` on. @param {unknown} value @param {string} what @param {bigint} least */
export function count(value, what, least = 0n) {
  insist(value instanceof Numeral && /^(?:0|-?[1-9][0-9]*)$/.test(value.text) && value.text.length < 4300, what);
  const found = BigInt(value.text);
  insist(found >= least, what);
  return found;
}

/** An integer within limits. @param {unknown} value @param {string} what @param {number} least @param {number} most @returns {number} */
export function whole(value, what, least, most) {
  const found = count(value, what, BigInt(least));
  insist(found <= BigInt(most), what);
  return Number(found);
}

/** @param {unknown} value @param {string} what @returns {string} */
export function text(value, what) {
  insist(typeof value === "string", what);
  return value;
}

/** One of some words. @template {string} T @param {unknown} value @param {string} what @param {readonly T[]} words @returns {T} */
export function word(value, what, words) {
  insist(words.includes(/** @type {T} */ (value)), what);
  return /** @type {T} */ (value);
}

/** @template T @param {unknown} value @param {string} what @param {(item: unknown, what: string) => T} read @returns {T[]} */
export function list(value, what, read) {
  insist(Array.isArray(value), what);
  return value.map((item) => read(item, what));
}

/** A budget: finite, for an infinite one is no privacy at all. @param {unknown} value @param {string} [what] @returns {number} */
export function budget(value, what = "epsilon") {
  require(value !== "inf", "this task gives no privacy at all (infinite epsilon): do not answer it");
  const found = number(value, what);
  insist(found > 0, what);
  return found;
}

/** The public range of a label: two numbers, rising, whose difference is a number too. @param {unknown} value @param {string} what @returns {{low: number, high: number}} */
export function bounds(value, what) {
  const found = list(value, what, number);
  insist(found.length === 2, what);
  const [low, high] = found;
  insist(low < high && Number.isFinite(high - low), what);
  return { low, high };
}
