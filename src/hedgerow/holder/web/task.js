// @ts-check
/**
 * What every kind of task is, to the page: facts, a form, words, a report, and an explanation of its bytes.
 *
 * A new kind is one module with one class that extends `Task`, and one line in kinds.js; no other module names a kind.
 * `privatize` is total: whatever a record holds, a report of the same length comes of it.
 */

import { join, littleBytes, require, toHex } from "./basics.js";
import { words } from "./language.js";
import { fields, insist, text, whole } from "./reader.js";
import { encodeLabel, encodeRecord, inputsOf, valueOf } from "./schema.js";
import { readAsking } from "./wording.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./odds.js").Row} Row */
/** @typedef {import("./schema.js").Column} Column */
/** @typedef {{low: number, high: number, missing: number, classes?: string[] | null}} Labels */
/** @typedef {{name: string, low?: number, high?: number, missing?: number | string, categories?: string[], unknown?: string, number?: boolean, choice?: boolean}} Question */
/** @typedef {{name: string, bytes: Uint8Array, tag: "" | "clear" | "noisy"}} Part */
/** @typedef {{mask?: boolean[], secrets?: Json}} More */
/** @typedef {{body: Uint8Array, secrets?: Json, truth: Json, pending?: Json}} Made */
/** @typedef {{parts: Part[], rows: Row[], heading?: string, label?: Json, words: string[]}} Explanation */

const SIMULATION = 0x80;
const HEAD = 60; // bytes before the message: format, task, number of reports, name of the report

/** The one table of codes, as in hedgerow/tasks/message.py: what a report's header says of the message. */
export const CODES = {
  bits: 1,
  unary: 2,
  k_ary: 3,
  subset: 4,
  assistedSubset: 16,
  assistedLevels: 17,
  assistedClasses: 18,
  pilot: 20,
  firstRound: 32,
  secondRoundNamed: 33,
  secondRoundBits: 34,
  residual: 36,
  label: 48,
  sums: 64,
};

/** @param {Source} source */
export const simulationMark = (source) => (source.simulation ? SIMULATION : 0);

/** What a batch of one report starts with. @param {string} magic @param {number} code @param {Uint8Array} digest */
export const header = (magic, code, digest) => join([new TextEncoder().encode(magic), Uint8Array.of(1, 0, code, 0), digest, littleBytes(1, 8)]);

/** A body cut into named parts. */
export class Cutter {
  at = 0;
  /** @type {Part[]} */
  parts = [];

  /** @param {Uint8Array} body */
  constructor(body) {
    /** @type {Uint8Array} */
    this.body = body;
    this.cut("format and version", 8);
    this.cut("which task this answers (its id)", 32);
    this.cut("number of reports: 1", 8);
  }

  /** @param {string} name @param {number} size @param {"" | "clear" | "noisy"} [tag] @returns {Uint8Array} */
  cut(name, size, tag = "") {
    const bytes = this.body.slice(this.at, this.at + size);
    this.parts.push({ name, bytes, tag });
    this.at += size;
    return bytes;
  }
}

/** A question to holders. */
export class Task {
  static format = "";
  static version = 2;
  static kind = "";
  /** Fields beside format and version. @type {string[]} */
  static names = [];
  /** Whether it says how people are asked; a second round asks as the first one within it. */
  static asks = true;

  delta = 0;
  /** Id of the first round, if this is a second one; it was paid for with the first. @type {string | null} */
  first = null;
  target = "";
  epsilon = 0;
  /** @type {Column[]} */
  columns = [];
  /** @type {Labels} */
  labels = { low: 0, high: 0, missing: 0 };
  /** How people are asked, by name. @type {Map<string, import("./wording.js").Wording>} */
  asking = new Map();
  /** The whole numbers that the probabilities are made of, by name. @type {{[name: string]: bigint | number | undefined}} */
  parameters = {};

  /** @param {Uint8Array} digest */
  constructor(digest) {
    this.digest = digest;
    this.id = toHex(digest);
  }

  get kind() {
    return /** @type {typeof Task} */ (this.constructor).kind;
  }

  /** Fill in a task from its content. @param {Map<string, unknown>} content @param {Uint8Array} digest @returns {Promise<Task>} */
  static async read(content, digest) {
    const { format, version, ...found } = fields(content, "its fields", ["format", "version", ...this.names, ...(this.asks ? ["asking"] : [])]);
    insist(format === this.format, "its format");
    require(whole(version, "the version", 0, 2 ** 31) === this.version, "this page knows another version of this kind of task; use the command line");
    const task = new this(digest);
    if ("title" in found) text(found.title, "the title");
    await task.fill(found);
    if (this.asks) task.asking = readAsking(found.asking, task.questions());
    // A value that is to be randomised under a name must not be sent in clear because something public has the same one.
    require(!task.publicNames().includes(task.target), `this task calls both a feature and the label ${task.target}; do not answer it`);
    return task;
  }

  /** @param {Json} found @returns {void | Promise<void>} */
  fill(found) {
    throw new Error("not implemented");
  }

  /** Names that the label must not have. @returns {string[]} */
  publicNames() {
    return inputsOf(this.columns).map((column) => column.name);
  }

  // -------------------------------------------------------------- the report

  /**
   * Randomise one record. The body is a batch of one report; secrets are what the second of two rounds needs.
   * Whatever the record is, there is a report, of one length: one that cannot be read counts as an empty one.
   * @param {Json} record @param {Source} source @param {More} [more] @returns {Made}
   */
  privatize(record, source, more = {}) {
    this.check(record, more);
    let place;
    try {
      place = this.place(record, more);
    } catch {
      place = this.place(this.emptied(record), more);
    }
    return this.report(place, source, more);
  }

  /** Refuse what has nothing to do with private values. @param {Json} record @param {More} more */
  check(record, more) {}

  /** A record in which everything is missing but what is public and was checked. @param {Json} record @returns {Json} */
  emptied(record) {
    return {};
  }

  /** What a record comes to, before anything is drawn. @param {Json} record @param {More} more @returns {Json} */
  place(record, more) {
    return { z: encodeRecord(this.columns, record), label: encodeLabel(this.labels, valueOf(record, this.target)) };
  }

  /** The message about a place. @param {Json} place @param {Source} source @returns {{code: number, payload: Uint8Array, truth?: Json}} */
  message(place, source) {
    throw new Error("not implemented");
  }

  /** @param {Json} place @param {Source} source @param {More} more @returns {Made} */
  report(place, source, more) {
    const { code, payload, truth } = this.message(place, source);
    return { body: this.frame(code, source.take(12), [payload], source), truth: { ...place, ...truth } };
  }

  /** What a browser can only do with time: sealing, where reports are sealed. @param {Made} made @returns {Promise<Made>} */
  async finish(made) {
    return made;
  }

  /** Header, name and message of one report. @param {number} code @param {Uint8Array} token @param {Uint8Array[]} payload @param {Source} source */
  frame(code, token, payload, source) {
    return join([header("HDGR", code | simulationMark(source), this.digest), token, ...payload]);
  }

  /** Who must have countersigned the task, with the keys that it pins. @returns {{role: string, key: Uint8Array, statement: Uint8Array}[]} */
  witnesses() {
    return [];
  }

  /** Where reports may be sent; nothing if wherever the task came from. */
  get origin() {
    return "";
  }

  // -------------------------------------------------------------- for people

  /** @returns {Question} */
  labelQuestion() {
    const { low, high, missing, classes } = this.labels;
    return classes ? { name: this.target, categories: classes, unknown: classes[missing], missing: classes[missing] } : { name: this.target, low, high, missing };
  }

  /** What a form asks for. @returns {Question[]} */
  questions() {
    return [...inputsOf(this.columns), this.labelQuestion()];
  }

  /** What is protected: a record whole, or what is not sent in clear. */
  protects() {
    return words("task.protects_all");
  }

  /** The part of a public model, if one runs on the device. */
  model() {
    return "";
  }

  /** What is done to the values before they leave. @returns {string} */
  leaves() {
    throw new Error("not implemented");
  }

  /** What stays on the device. */
  stays() {
    return words("task.stays");
  }

  /** Said after epsilon. */
  price() {
    return "";
  }

  /** Whether a value is sent as it is. @param {string} name @param {Json} [truth] @param {Json} [kept] what a first round kept @returns {boolean} */
  inClear(name, truth, kept) {
    return false;
  }

  /** Lines about the truth, beside the values themselves. @param {Json} truth @returns {[string, string][]} */
  truths(truth) {
    return [];
  }

  /** What could have been sent, how likely, and what was. @param {Uint8Array} body @param {Json} truth @returns {import("./picture.js").Panel[]} */
  picture(body, truth) {
    return this.panels(body.slice(HEAD), truth);
  }

  /** @param {Uint8Array} payload @param {Json} truth @returns {import("./picture.js").Panel[]} */
  panels(payload, truth) {
    return [];
  }

  /** Cut a body into named parts, and say what each stands for and how probable that was. @param {Uint8Array} body @param {Json} [truth] @returns {Explanation} */
  explain(body, truth) {
    const cutter = new Cutter(body);
    cutter.cut("random name of this report", 12);
    return { parts: cutter.parts, ...this.about(cutter, truth) };
  }

  /** @param {Cutter} cutter @param {Json} [truth] @returns {{rows: Row[], heading?: string, label?: Json, words: string[]}} */
  about(cutter, truth) {
    throw new Error("not implemented");
  }
}
