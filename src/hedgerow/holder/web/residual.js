// @ts-check
/**
 * One round for holders who keep some of their features private: the error of a public model, randomised with all of
 * epsilon, and the features that are not private in clear.
 */

import { join, signed32 } from "./basics.js";
import { readMechanism } from "./label_mechanisms.js";
import { words } from "./language.js";
import { MaskedTask, readAssist } from "./masked.js";
import { levelOf } from "./mechanisms.js";
import { aboutLabel } from "./odds.js";
import { values } from "./picture.js";
import { budget, insist, list, text, whole } from "./reader.js";
import { checkRange, MOST_STEPS, readSpace } from "./schema.js";
import { CODES } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./mechanisms.js").LevelMechanism} LevelMechanism */
/** @typedef {import("./schema.js").Grid} Grid */
/** @typedef {import("./task.js").Cutter} Cutter */

const MASKS = /** @type {const} */ (["policy", "personal"]);

/** How many steps the levels of a mechanism have; a table has one row a level. @param {unknown} value @returns {number} */
function stepsOf(value) {
  insist(value instanceof Map, "the mechanism");
  if (value.has("n_steps")) return whole(value.get("n_steps"), "the mechanism", 1, MOST_STEPS);
  return list(value.get("weights"), "the mechanism", (row) => row).length - 1;
}

export class ResidualTask extends MaskedTask {
  static format = "hedgerow/residual-task";
  static version = 1;
  static kind = "residual";
  static names = ["title", "target", "epsilon", "space", "assist", "mechanism", "masks", "private"];

  /** @type {Grid} */
  grid = { low: 0, high: 0, n_steps: 1, missing: 0 };
  /** @type {LevelMechanism} */
  mechanism = /** @type {any} */ (null);

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.columns = readSpace(found.space);
    this.fillMasks(found, MASKS);
    this.assist = readAssist(found.assist, this.columns.length);
    this.labels = this.assist.labels;
    const [radius, steps] = [this.assist.radius, stepsOf(found.mechanism)];
    checkRange(-radius, radius);
    const { mechanism, epsilon, delta } = readMechanism(found.mechanism, steps);
    insist(epsilon === this.epsilon && delta === 0 && !mechanism.top, "the mechanism");
    this.grid = { low: -radius, high: radius, n_steps: steps, missing: 0 };
    this.mechanism = mechanism;
    this.parameters = mechanism.parameters;
  }

  /** @param {Json} place @param {Source} source */
  message(place, source) {
    const level = levelOf(this.grid, place.reported, source);
    const code = this.mechanism.draw(level, source);
    return { code: CODES.residual, payload: join([signed32(code), this.clearBytes(place)]), truth: { level, code } };
  }

  // -------------------------------------------------------------- for people

  leaves() {
    return words("task.leaves_residual", { told: this.toldWords(), clear: this.clearWords() });
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, truth) {
    const code = new DataView(payload.slice(0, 4).buffer).getInt32(0, true);
    return [values(aboutLabel(this.target, this.grid, this.mechanism, code, truth.reported), true)];
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const sent = cutter.cut(`${this.told()}, randomised`, 4, "noisy");
    const code = new DataView(sent.buffer).getInt32(0, true);
    this.cutClear(cutter);
    const name = `${this.target} minus the prediction`;
    const said = truth ? [this.errorWords(truth)] : [];
    return { rows: [], label: aboutLabel(name, this.grid, this.mechanism, code, truth?.reported), words: said };
  }
}
