// @ts-check
/**
 * The first of two rounds, for holders who keep some of their features private: a noisy label (or, with a public model,
 * the noisy error of its prediction), and the features that are not private in clear.
 */

import { littleBytes, littleEndian, toHex } from "./basics.js";
import { bernoulli, discreteLaplace, ONE } from "./exact.js";
import { words } from "./language.js";
import { MaskedTask, readAssist } from "./masked.js";
import { clamp, laplace, levelOf, splitEpsilon } from "./mechanisms.js";
import { aboutLabel } from "./odds.js";
import { values } from "./picture.js";
import { budget, insist, number, text } from "./reader.js";
import { readGrid, readSpace } from "./schema.js";
import { CODES } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./schema.js").Grid} Grid */
/** @typedef {import("./task.js").Cutter} Cutter */
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

export class FirstTask extends MaskedTask {
  static format = "hedgerow/semi-task";
  static kind = "semi-first";
  static names = ["title", "target", "epsilon", "label_share", "grid", "space", "masks", "private", "assist"];

  /** @type {Grid} */
  grid = { low: 0, high: 0, n_steps: 1, missing: 0 };
  share = 0;
  /** @type {Noise} */
  noise = /** @type {any} */ (null);

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.share = number(found.label_share, "label_share");
    this.grid = readGrid(found.grid);
    this.columns = readSpace(found.space);
    this.fillMasks(found, MASKS);
    if (found.assist !== null) {
      this.assist = readAssist(found.assist, this.columns.length);
      insist(this.grid.low === -this.assist.radius && this.grid.high === this.assist.radius, "the public model");
    }
    this.labels = this.assist?.labels ?? this.grid;
    this.noise = roundNoise(this.epsilon, this.share, this.grid.n_steps);
    this.parameters = { ratio: this.noise.fine.ratio, coarse: this.noise.coarse.ratio, stay: this.noise.stay };
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
    const payload = [littleBytes(sent + coarse.reach, 4), this.clearBytes(place)];
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

  leaves() {
    return words("task.leaves_first", { told: this.toldWords(), clear: this.clearWords() });
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
    this.cutClear(cutter);
    const noise = truth?.mask.some(Boolean) === false ? fine : coarse;
    const said = ["A second round will ask for your group. Both together cost the epsilon of this task once."];
    if (truth && this.assist) said.unshift(this.errorWords(truth));
    const name = this.assist ? `${this.target} minus the prediction` : this.target;
    return { rows: [], label: aboutLabel(name, this.grid, noise, code, truth?.reported), words: said };
  }
}
