// @ts-check
/**
 * The pilot of a task with a public model: the model predicts the label on the device, and what leaves is the bin that
 * the error of the prediction lies in, replaced by another one at random.
 *
 * The prediction is made in floating point and may differ from Python's in the last digits, so an error on the very
 * edge of two bins may count in the one beside it. That touches no guarantee: the bin is the INPUT of the randomiser,
 * which treats every pair of inputs alike. From the same bin and random bytes come the same bytes as in Python.
 */

import { percent, short } from "./basics.js";
import { words } from "./language.js";
import { kAry } from "./mechanisms.js";
import { named } from "./picture.js";
import { predictWithin, readModel } from "./portable.js";
import { budget, insist, list, number, text } from "./reader.js";
import { LARGEST, readLabels, readSpace } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./portable.js").Model} Model */
/** @typedef {import("./task.js").Cutter} Cutter */

const MOST_BINS = 255; // one byte names one

/** The bin of an error; one on an edge belongs to the bin above it. @param {number[]} edges @param {number} error */
const binOf = (edges, error) => edges.filter((edge) => edge <= error).length;

export class PilotTask extends Task {
  static format = "hedgerow/pilot-task";
  static kind = "pilot";
  static names = ["target", "epsilon", "label_bounds", "space", "public_model", "edges", "missing"];

  /** @type {Model} */
  base = /** @type {any} */ (null);
  /** @type {number[]} */
  edges = [];
  /** @type {ReturnType<typeof kAry>} */
  response = /** @type {any} */ (null);

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.labels = readLabels(found.label_bounds, found.missing);
    this.columns = readSpace(found.space);
    this.base = readModel(found.public_model);
    insist(this.base.columns === this.columns.length, "the public model");
    this.edges = list(found.edges, "the edges", number);
    insist(this.edges.every((edge, i) => Math.abs(edge) <= LARGEST && (i === 0 || this.edges[i - 1] < edge)), "the edges");
    const bins = this.edges.length + 1;
    insist(bins >= 2 && bins <= MOST_BINS, "the edges");
    this.response = kAry(this.epsilon, bins);
    this.parameters = { truth: this.response.truth };
  }

  /** @param {Json} record */
  place(record) {
    const { z, label } = super.place(record, {});
    const prediction = predictWithin(this.base, z, this.labels);
    const error = label - prediction;
    return { z, label, prediction, error, bin: binOf(this.edges, error) };
  }

  /** @param {Json} place @param {Source} source */
  message({ bin }, source) {
    return { code: CODES.pilot, payload: Uint8Array.of(this.response.draw(bin, source)) };
  }

  /** P(the own bin is named), and P(another one is). */
  get odds() {
    return [this.response.chance(0, 0), this.response.chance(0, 1)];
  }

  // -------------------------------------------------------------- for people

  model() {
    return words("task.model_pilot", { target: this.target });
  }

  stays() {
    return words("task.stays_model");
  }

  leaves() {
    return words("task.leaves_pilot", { k: this.response.k, target: this.target, p: percent(this.odds[0]) });
  }

  get heading() {
    return `${this.target} minus the prediction`;
  }

  /** The errors of each bin, in words. @returns {string[]} */
  bins() {
    const { edges } = this;
    const inner = edges.slice(1).map((edge, i) => `from ${short(edges[i])} to below ${short(edge)}`);
    return [`below ${short(edges[0])}`, ...inner, `from ${short(edges[edges.length - 1])}`];
  }

  /** @param {Json} truth @returns {[string, string][]} */
  truths({ bin }) {
    return [[`your bin (${this.heading})`, this.bins()[bin]]];
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, truth) {
    const [p, q] = this.odds;
    return [named(new Map([[truth.bin, 1]]), this.response.k, p, q, payload[0])];
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const { k } = this.response;
    const sent = cutter.cut(`one of ${k} bins, by number`, 1, "noisy")[0];
    const [p, q] = this.odds;
    const rows = this.bins().map((what, bin) => {
      const [own, named] = [truth?.bin === bin, sent === bin];
      const chance = own ? p : q;
      return { what, truth: own ? "yours" : "", sent: named ? "named" : "not named", chance: truth ? percent(named ? chance : 1 - chance) : "", own };
    });
    const said = [`Your bin is named with probability ${percent(p)}, ${k > 2 ? `each of the other ${k - 1}` : "the other"} with ${percent(q)}.`];
    if (truth) said.unshift(`The public model predicts ${short(truth.prediction)}; your ${this.target} is ${short(Math.abs(truth.error))} ${truth.error < 0 ? "below" : "above"} that.`);
    return { rows, words: said, heading: this.heading };
  }
}
