// @ts-check
/**
 * The first of two rounds, for holders who keep some of their features private: a noisy label (or, with a public model,
 * the noisy error of its prediction), and the features that are not private in clear.
 */

import { double, littleBytes, littleEndian, pack, require, short, toHex } from "./basics.js";
import { bernoulli, discreteLaplace, ONE } from "./exact.js";
import { words } from "./language.js";
import { clamp, laplace, levelOf, splitEpsilon } from "./mechanisms.js";
import { aboutLabel } from "./odds.js";
import { values } from "./picture.js";
import { predictWithin, readModel } from "./portable.js";
import { budget, fields, insist, list, number, text, word } from "./reader.js";
import { checkResiduals, inputsOf, readGrid, readLabels, readRadius, readSpace } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./schema.js").Grid} Grid */
/** @typedef {import("./task.js").Cutter} Cutter */
/** @typedef {import("./task.js").More} More */
/** @typedef {{model: import("./portable.js").Model, labels: {low: number, high: number, missing: number}, radius: number}} Assist */
/** @typedef {ReturnType<typeof roundNoise>} Noise */

const MASKS = /** @type {const} */ (["policy", "personal", "hidden"]);

/** floor(2^64 b (1-a)^2 / (a (1-b)^2)): how often the coarse label stays at the fine one. @param {bigint} a @param {bigint} b */
const stayChance = (a, b) => (a === b ? ONE : (b * (ONE - a) ** 2n * ONE) / (a * (ONE - b) ** 2n));

/** The noise of both rounds: fine at the whole epsilon, coarse at the label's share, and what is left for the group. @param {number} epsilon @param {number} share @param {number} steps */
export function roundNoise(epsilon, share, steps) {
  insist(share > 0 && share <= 1, "label_share");
  const [label, cell] = share === 1 ? [epsilon, 0] : splitEpsilon(epsilon, share);
  const [fine, coarse] = [laplace(epsilon, steps), laplace(label, steps)];
  return { fine, coarse, cell, stay: stayChance(coarse.ratio, fine.ratio) };
}

/** A public model whose error takes the label's place. @param {unknown} value @param {number} columns @param {Grid} grid @returns {Assist} */
function readAssist(value, columns, grid) {
  const found = fields(value, "the public model", ["public_model", "label_bounds", "missing", "radius", "residuals"]);
  const model = readModel(found.public_model);
  const labels = readLabels(found.label_bounds, found.missing);
  const radius = readRadius(found.radius);
  checkResiduals(found.residuals);
  insist(model.columns === columns && grid.low === -radius && grid.high === radius, "the public model");
  return { model, labels, radius };
}

export class FirstTask extends Task {
  static format = "hedgerow/semi-task";
  static kind = "semi-first";
  static names = ["title", "target", "epsilon", "label_share", "grid", "space", "masks", "private", "assist"];

  /** @type {Grid} */
  grid = { low: 0, high: 0, n_steps: 1, missing: 0 };
  /** @type {Assist | null} */
  assist = null;
  /** @type {"policy" | "personal" | "hidden"} */
  masks = "hidden";
  share = 0;
  /** @type {string[]} */
  secret = [];
  /** @type {Noise} */
  noise = /** @type {any} */ (null);

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.share = number(found.label_share, "label_share");
    this.grid = readGrid(found.grid);
    this.columns = readSpace(found.space);
    this.masks = word(found.masks, "masks", MASKS);
    this.secret = list(found.private, "private columns", text);
    const listed = inputsOf(this.columns).map((column) => column.name).filter((name) => this.secret.includes(name));
    insist(listed.join("\n") === this.secret.join("\n"), "private columns");
    insist(this.masks === "policy" || !listed.length, "private columns");
    if (found.assist !== null) this.assist = readAssist(found.assist, this.columns.length, this.grid);
    this.labels = this.assist?.labels ?? this.grid;
    this.noise = roundNoise(this.epsilon, this.share, this.grid.n_steps);
    this.parameters = { ratio: this.noise.fine.ratio, coarse: this.noise.coarse.ratio, stay: this.noise.stay };
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

  /** @param {Json} place @param {Source} source */
  report(place, source) {
    const { fine, coarse, stay } = this.noise;
    const { z, mask } = place;
    const steps = this.grid.n_steps;
    const level = levelOf(this.grid, place.reported, source);
    const near = BigInt(level) + discreteLaplace(fine.ratio, source);
    const far = near + (bernoulli(stay, source) ? 0n : discreteLaplace(coarse.ratio, source));
    const fineLevel = clamp(near, -fine.reach, steps + fine.reach);
    // Nothing is private but the label: the cell is certain, so all of epsilon is the label's.
    const sent = mask.some(Boolean) ? clamp(far, -coarse.reach, steps + coarse.reach) : fineLevel;
    const token = source.take(12);
    const payload = [littleBytes(sent + coarse.reach, 4)];
    if (this.masks === "personal") payload.push(pack(mask));
    z.forEach((/** @type {number} */ value, /** @type {number} */ j) => {
      if (this.masks === "personal" || !mask[j]) payload.push(double(mask[j] ? 0 : value + 0));
    });
    const clear = z.map((/** @type {number} */ value, /** @type {number} */ j) => (mask[j] ? null : value));
    const secrets = { ...this.promise(), token: toHex(token), coarse: sent, fine: fineLevel, mask, clear };
    return { body: this.frame(CODES.firstRound, token, payload, source), secrets, truth: { ...place, level } };
  }

  /** What was agreed to in the first round, to be held to in the second. */
  promise() {
    const { low, high, n_steps } = this.grid;
    return { task: this.id, epsilon: this.epsilon, label_share: this.share, grid: { low, high, n_steps } };
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

  leaves() {
    const open = inputsOf(this.columns).map((column) => column.name).filter((name) => !this.secret.includes(name));
    const clear = words(`task.clear_${this.masks}`, { open: open.join(", ") || words("task.clear_none") });
    return words("task.leaves_first", { told: this.toldWords(), clear });
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

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, truth) {
    const { fine, coarse } = this.noise;
    const code = Number(littleEndian(payload.slice(0, 4))) - coarse.reach;
    const noise = truth.mask.some(Boolean) ? coarse : fine;
    return [values(aboutLabel(this.target, this.grid, noise, code, truth.reported), this.assist !== null)];
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const { fine, coarse } = this.noise;
    const code = Number(littleEndian(cutter.cut(`${this.told()}, with noise`, 4, "noisy"))) - coarse.reach;
    const mask = this.masks === "personal" ? null : this.mask();
    if (!mask) cutter.cut("which features you keep private", (this.columns.length + 7) >> 3, "clear");
    for (const [j, column] of this.columns.entries())
      if (!mask || !mask[j]) cutter.cut(`${column.name}${mask ? "" : ", or 0 if private"}`, 8, "clear");
    const noise = truth?.mask.some(Boolean) === false ? fine : coarse;
    const said = ["A second round will ask for your group. Both together cost the epsilon of this task once."];
    if (truth && this.assist) said.unshift(this.errorWords(truth));
    const name = this.assist ? `${this.target} minus the prediction` : this.target;
    return { rows: [], label: aboutLabel(name, this.grid, noise, code, truth?.reported), words: said };
  }

  /** @param {Json} truth */
  errorWords({ prediction, reported }) {
    const radius = /** @type {Assist} */ (this.assist).radius;
    const far = Math.abs(reported) > radius ? `, which counts as ${short(radius)}` : "";
    return `The public model predicts ${short(prediction)}; your ${this.target} is ${short(Math.abs(reported))} ${reported < 0 ? "below" : "above"} that${far}.`;
  }
}
