// @ts-check
/**
 * Tasks with a public model of classes: a class is drawn at random, without looking at the record, and the message is
 * the one that a task about that class alone would send, where the label is 1 for it and 0 for any other.
 */

import { join } from "./basics.js";
import { AssistedTask } from "./assisted.js";
import { integer } from "./exact.js";
import { words } from "./language.js";
import { leavesWords } from "./leaves.js";
import { budget, fields, insist, list, text, word } from "./reader.js";
import { readSpace } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./task.js").Cutter} Cutter */

const MOST_CLASSES = 255; // one byte names one
const OWN = ["public_model", "trees", "radius", "randomizer", "parameter", "residuals", "busy", "reference"];

export class AssistedClassTask extends Task {
  static format = "hedgerow/assisted-class-task";
  static version = 1;
  static kind = "assisted-class";
  static names = ["target", "epsilon", "space", "classes", "missing", "observed", "parts"];

  /** What is asked about each class; of two, about the second. @type {AssistedTask[]} */
  parts = [];
  /** @type {string[]} */
  asked = [];

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.columns = readSpace(found.space);
    const classes = list(found.classes, "classes", text);
    insist(classes.length >= 2 && classes.length <= MOST_CLASSES && new Set(classes).size === classes.length, "classes");
    const missing = classes.indexOf(word(found.missing, "what a missing class counts as", classes));
    insist(typeof found.observed === "boolean", "where the classes are from");
    this.labels = { low: 0, high: classes.length - 1, missing, classes };
    this.asked = classes.length === 2 ? classes.slice(1) : classes;
    this.parts = list(found.parts, "the parts", (part) => this.readPart(part));
    insist(this.parts.length === this.asked.length, "the parts");
    this.parts.forEach((part, c) => Object.entries(part.parameters).forEach(([name, value]) => (this.parameters[`class ${c}, ${name}`] = value)));
  }

  /** @param {unknown} value */
  readPart(value) {
    const part = new AssistedTask(this.digest);
    part.target = this.target;
    part.epsilon = this.epsilon;
    part.columns = this.columns;
    part.labels = { low: 0, high: 1, missing: 0.5 };
    part.fillPart(fields(value, "a part", OWN));
    return part;
  }

  /** Bytes of the longest message about a class. */
  get wide() {
    return Math.max(...this.parts.map((part) => part.width));
  }

  /** @param {Json} record */
  place(record) {
    const { z, label } = super.place(record, {});
    const first = /** @type {string[]} */ (this.labels.classes).length - this.asked.length;
    return { z, label, places: this.parts.map((part, c) => part.placed(z, Number(label === first + c))) };
  }

  /** @param {Json} place @param {Source} source */
  message({ label, places }, source) {
    const drawn = integer(this.parts.length, source);
    const part = this.parts[drawn];
    const { payload, truth } = part.message(places[drawn], source);
    const padding = new Uint8Array(this.wide - part.width);
    return { code: CODES.assistedClasses, payload: join([Uint8Array.of(drawn), payload, padding]), truth: { ...places[drawn], ...truth, label, drawn } };
  }

  // -------------------------------------------------------------- for people

  model() {
    return words("task.model_classes", { target: this.target });
  }

  stays() {
    return words("task.stays_model");
  }

  leaves() {
    const { asked, target } = this;
    const about = asked.length > 1 ? words("task.class_many", { n: asked.length, target }) : words("task.class_one", { target, name: asked[0] });
    const kinds = [...new Set(this.parts.map((part) => part.randomizer))];
    const said = kinds.map((kind) => leavesWords(this.parts.filter((part) => part.randomizer === kind), words("task.class_number")));
    return `${about} ${said.join(` ${words("task.class_others")} `)}`;
  }

  /** @param {Json} truth @returns {[string, string][]} */
  truths(truth) {
    return [["the class that was drawn", this.asked[truth.drawn]], ...this.parts[truth.drawn].truths(truth)];
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, truth) {
    return this.parts[payload[0]].panels(payload.slice(1), truth);
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const drawn = cutter.cut(`number of the class, drawn at random among ${this.parts.length}`, 1)[0];
    const part = this.parts[drawn];
    const found = part.about(cutter, truth);
    if (this.wide > part.width) cutter.cut("zeros: all messages are of one length", this.wide - part.width);
    return { ...found, words: [`The message is about ${this.asked[drawn]}: 1 if that is your ${this.target}, else 0.`, ...found.words] };
  }
}
