// @ts-check
/**
 * Label tasks: the features are public already, and only the label is randomised.
 */

import { join, littleBytes, percent, require, signed32 } from "./basics.js";
import { readMechanism } from "./label_mechanisms.js";
import { words } from "./language.js";
import { levelOf } from "./mechanisms.js";
import { aboutLabel } from "./odds.js";
import { named, values } from "./picture.js";
import { insist, text } from "./reader.js";
import { numberOf, readClasses, readGrid, valueOf } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./mechanisms.js").LevelMechanism} LevelMechanism */
/** @typedef {import("./schema.js").Grid} Grid */
/** @typedef {import("./task.js").Cutter} Cutter */
/** @typedef {import("./task.js").Question} Question */

const RECORD = "record";

export class LabelTask extends Task {
  static format = "hedgerow/label-task";
  static kind = "label";
  static names = ["title", "target", "grid", "mechanism", "classes", "observed"];

  /** @type {Grid} */
  grid = { low: 0, high: 0, n_steps: 1, missing: 0 };
  /** @type {LevelMechanism} */
  mechanism = /** @type {any} */ (null);

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.grid = readGrid(found.grid);
    const classes = found.classes === null ? null : readClasses(found.classes, this.grid);
    insist(found.observed === false, "classes that were read off private labels");
    this.labels = { low: this.grid.low, high: this.grid.high, missing: this.grid.missing, classes };
    const { mechanism, epsilon, delta } = readMechanism(found.mechanism, this.grid.n_steps);
    insist(!classes || mechanism.top, "the mechanism of classes");
    Object.assign(this, { mechanism, epsilon, delta });
    this.parameters = mechanism.parameters;
  }

  publicNames() {
    return [RECORD];
  }

  /** The number of a record is public, and comes with the invitation. @param {Json} record */
  check(record) {
    const numbered = numberOf(valueOf(record, RECORD));
    require(Number.isSafeInteger(numbered) && numbered >= 0, "record number: enter a whole number");
  }

  /** @param {Json} record */
  emptied(record) {
    return { [RECORD]: valueOf(record, RECORD) };
  }

  /** @param {Json} record */
  place(record) {
    return { label: super.place(record, {}).label, record: numberOf(valueOf(record, RECORD)) };
  }

  /** @param {Json} place @param {Source} source */
  message(place, source) {
    const level = levelOf(this.grid, place.label, source);
    const code = this.mechanism.draw(level, source);
    return { code: CODES.label, payload: join([littleBytes(place.record, 8), signed32(code)]), truth: { level, code } };
  }

  /** @returns {Question[]} */
  questions() {
    return [{ name: RECORD, number: true }, this.labelQuestion()];
  }

  protects() {
    return words("task.protects_label", { target: this.target });
  }

  leaves() {
    const { mechanism, labels, target } = this;
    if (!labels.classes || !mechanism.top) return words("task.leaves_label", { target });
    return words("task.leaves_class", { target, classes: mechanism.top.map((level) => labels.classes?.[level]).join(", ") });
  }

  stays() {
    return words("task.stays_label", { target: this.target });
  }

  /** @param {string} name */
  inClear(name) {
    return name === RECORD;
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, truth) {
    const code = new DataView(payload.slice(8).buffer).getInt32(0, true);
    const { top } = this.mechanism;
    if (!this.labels.classes || !top) return [values(aboutLabel(this.target, this.grid, this.mechanism, code, truth.label))];
    const [own, k] = [top.indexOf(truth.label), top.length];
    const p = this.mechanism.chance(top[0], 0);
    // One that cannot be sent is sent as any of the others alike.
    return [own < 0 ? named(new Map(), k, p, 1 / k, code) : named(new Map([[own, 1]]), k, p, (1 - p) / Math.max(1, k - 1), code)];
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    cutter.cut("number of your record", 8, "clear");
    const sent = cutter.cut(`your ${this.target}, randomised`, 4, "noisy");
    const code = new DataView(sent.buffer).getInt32(0, true);
    if (this.labels.classes) return { rows: this.classRows(code, truth?.label), heading: "Class", words: [] };
    return { rows: [], label: aboutLabel(this.target, this.grid, this.mechanism, code, truth?.label), words: [] };
  }

  /** One line for each class that could have been sent. @param {number} code @param {number} [own] @returns {import("./odds.js").Row[]} */
  classRows(code, own) {
    const top = /** @type {number[]} */ (this.mechanism.top);
    return top.map((level, j) => {
      const sent = j === code ? "sent" : "";
      const what = /** @type {string[]} */ (this.labels.classes)[level];
      if (own === undefined) return { what, truth: "", sent, chance: "" };
      return { what, truth: level === own ? "yours" : "", sent, chance: percent(this.mechanism.chance(own, j)), own: level === own };
    });
  }
}
