// @ts-check
/**
 * What tasks share in which holders keep some of their features private and send the others in clear: masks, the part of
 * a message that is in clear, and the public model whose error takes the label's place.
 */

import { double, join, pack, require, short } from "./basics.js";
import { words } from "./language.js";
import { predictWithin, readModel } from "./portable.js";
import { fields, insist, list, text, word } from "./reader.js";
import { checkResiduals, inputsOf, readLabels, readRadius } from "./schema.js";
import { Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./task.js").Cutter} Cutter */
/** @typedef {import("./task.js").More} More */
/** @typedef {"policy" | "personal" | "hidden"} Masks */
/** @typedef {{model: import("./portable.js").Model, labels: {low: number, high: number, missing: number}, radius: number}} Assist */

/** A public model whose error takes the label's place. @param {unknown} value @param {number} columns @returns {Assist} */
export function readAssist(value, columns) {
  const found = fields(value, "the public model", ["public_model", "label_bounds", "missing", "radius", "residuals"]);
  const model = readModel(found.public_model);
  const labels = readLabels(found.label_bounds, found.missing);
  const radius = readRadius(found.radius);
  checkResiduals(found.residuals);
  insist(model.columns === columns, "the public model");
  return { model, labels, radius };
}

export class MaskedTask extends Task {
  /** @type {Assist | null} */
  assist = null;
  /** @type {Masks} */
  masks = "hidden";
  /** @type {string[]} */
  secret = [];

  /** Read who decides what is private, after the columns. @param {Json} found @param {readonly Masks[]} known */
  fillMasks(found, known) {
    this.masks = word(found.masks, "masks", known);
    this.secret = list(found.private, "private columns", text);
    const listed = inputsOf(this.columns).map((column) => column.name).filter((name) => this.secret.includes(name));
    insist(listed.join("\n") === this.secret.join("\n"), "private columns");
    insist(this.masks === "policy" || !listed.length, "private columns");
  }

  /** Which features a holder keeps private, of the columns that it chooses; whether a value is missing goes with it. @param {boolean[]} [chosen] @returns {boolean[]} */
  mask(chosen) {
    if (this.masks === "hidden") return this.columns.map(() => true);
    if (this.masks === "policy") return this.columns.map((column) => this.secret.includes(column.of ?? column.name));
    const asked = inputsOf(this.columns).map((column) => column.name);
    require(chosen && chosen.length === asked.length, "say for each feature whether it is private");
    return this.columns.map((column) => chosen[asked.indexOf(column.of ?? column.name)]);
  }

  /** @param {Json} _ @param {More} more */
  check(_, { mask }) {
    this.mask(mask);
  }

  /** @param {Json} record @param {More} more */
  place(record, { mask }) {
    const { z, label } = super.place(record, {});
    const place = { z, label, mask: this.mask(mask), reported: label };
    if (!this.assist) return place;
    const prediction = predictWithin(this.assist.model, z, this.assist.labels);
    return { ...place, prediction, reported: label - prediction };
  }

  /** The part of a message that is in clear. @param {Json} place @returns {Uint8Array} */
  clearBytes({ z, mask }) {
    const parts = this.masks === "personal" ? [pack(mask)] : [];
    z.forEach((/** @type {number} */ value, /** @type {number} */ j) => {
      if (this.masks === "personal" || !mask[j]) parts.push(double(mask[j] ? 0 : value + 0));
    });
    return join(parts);
  }

  /** Cut that part into named ones. @param {Cutter} cutter */
  cutClear(cutter) {
    const mask = this.masks === "personal" ? null : this.mask();
    if (!mask) cutter.cut("which features you keep private", (this.columns.length + 7) >> 3, "clear");
    for (const [j, column] of this.columns.entries())
      if (!mask || !mask[j]) cutter.cut(`${column.name}${mask ? "" : ", or 0 if private"}`, 8, "clear");
  }

  // -------------------------------------------------------------- for people

  questions() {
    const choice = this.masks === "personal";
    return [...inputsOf(this.columns).map((column) => ({ ...column, choice })), this.labelQuestion()];
  }

  protects() {
    return words("task.protects_private", { target: this.target });
  }

  model() {
    return this.assist ? words("task.model_first", { target: this.target, radius: short(this.assist.radius) }) : "";
  }

  /** What is randomised, for the start of a sentence. */
  toldWords() {
    return words(this.assist ? "task.told_error" : "task.told_label", { target: this.target });
  }

  /** What is randomised, in the words of the small print. */
  told() {
    return this.assist ? `the error of the public model (${this.target} minus its prediction)` : `your ${this.target}`;
  }

  /** What goes in clear, in words. */
  clearWords() {
    const open = inputsOf(this.columns).map((column) => column.name).filter((name) => !this.secret.includes(name));
    return words(`task.clear_${this.masks}`, { open: open.join(", ") || words("task.clear_none") });
  }

  stays() {
    const start = this.assist ? `${words("task.stays_runs")} ` : "";
    if (this.masks === "hidden") return `${start}${words("task.stays")}`;
    const mine = this.masks === "policy" ? [...this.secret, this.target].join(", ") : words("task.stays_mine", { target: this.target });
    return `${start}${words("task.stays_list", { mine })}`;
  }

  /** @param {string} name @param {Json} [truth] @param {Json} [kept] */
  inClear(name, truth, kept) {
    const mask = truth?.mask ?? kept?.mask ?? [];
    return this.columns.some((column, j) => column.name === name && !mask[j]);
  }

  /** @param {Json} truth */
  errorWords({ prediction, reported }) {
    const radius = /** @type {Assist} */ (this.assist).radius;
    const far = Math.abs(reported) > radius ? `, which counts as ${short(radius)}` : "";
    return `The public model predicts ${short(prediction)}; your ${this.target} is ${short(Math.abs(reported))} ${reported < 0 ? "below" : "above"} that${far}.`;
  }
}
