// @ts-check
/**
 * One round for holders who keep some of their features private: the error of a public model, randomised with all of
 * epsilon, and the features that are not private in clear. Where the task has groups of private values, the group and the
 * error are one symbol, and that is randomised.
 */

import { join, percent, short, signed32 } from "./basics.js";
import { readMechanism } from "./label_mechanisms.js";
import { words } from "./language.js";
import { MaskedTask, readAssist } from "./masked.js";
import { levelOf } from "./mechanisms.js";
import { aboutLabel, labelValue } from "./odds.js";
import { leafOf, leafWords, readPartition } from "./partition.js";
import { named, shares, values } from "./picture.js";
import { budget, insist, list, spell, text, whole } from "./reader.js";
import { checkRange, MOST_STEPS, readSpace } from "./schema.js";
import { CODES } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./mechanisms.js").LevelMechanism} LevelMechanism */
/** @typedef {import("./partition.js").Partition} Partition */
/** @typedef {import("./schema.js").Grid} Grid */
/** @typedef {import("./task.js").Cutter} Cutter */

const MASKS = /** @type {const} */ (["policy", "personal"]);

/** How many steps the levels of a mechanism have; a table has one row a level. @param {unknown} value @returns {number} */
function stepsOf(value) {
  insist(value instanceof Map, "the mechanism");
  if (value.has("n_steps")) return whole(value.get("n_steps"), "the mechanism", 1, MOST_STEPS);
  return list(value.get("weights"), "the mechanism", (row) => row).length - 1;
}

/** Refuse what is no k-ary response among groups and levels, each output of which stands for its level. @param {Map<string, unknown>} content @param {LevelMechanism} mechanism @param {number} levels */
function checkSymbols(content, mechanism, levels) {
  insist(content.get("kind") === "matrix", "the mechanism");
  const rows = /** @type {string[][]} */ (content.get("weights"));
  const [own, other] = rows[0];
  insist(mechanism.codes[1] === rows.length - 1 && BigInt(`0x${own}`) > BigInt(`0x${other}`), "the mechanism");
  insist(rows.every((row, i) => row.every((weight, j) => weight === (i === j ? own : other))), "the mechanism");
  insist(rows.every((_, code) => mechanism.at(code) === code % levels), "the mechanism");
}

export class ResidualTask extends MaskedTask {
  static format = "hedgerow/residual-task";
  static version = 1;
  static kind = "residual";
  static names = ["title", "target", "epsilon", "space", "assist", "mechanism", "masks", "private", "cells"];

  /** @type {Grid} */
  grid = { low: 0, high: 0, n_steps: 1, missing: 0 };
  /** @type {LevelMechanism} */
  mechanism = /** @type {any} */ (null);
  /** @type {Partition | null} */
  cells = null;

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
    if (found.cells !== null) this.fillCells(found, mechanism, steps + 1);
    this.mechanism = mechanism;
    this.parameters = mechanism.parameters;
  }

  /** Groups of private values, of the task's own columns. @param {Json} found @param {LevelMechanism} mechanism @param {number} symbols */
  fillCells(found, mechanism, symbols) {
    const cells = readPartition(found.cells);
    insist(spell(found.cells.get("space")) === spell(found.space), "the groups");
    const levels = symbols / cells.leaves;
    insist(cells.leaves >= 2 && Number.isInteger(levels) && levels >= 2, "the groups");
    checkSymbols(found.mechanism, mechanism, levels);
    this.cells = cells;
    this.grid.n_steps = levels - 1;
  }

  /** @param {Json} place @param {Source} source */
  message(place, source) {
    const level = levelOf(this.grid, place.reported, source);
    const group = this.cells ? leafOf(this.cells, place.z) : 0;
    const code = this.mechanism.draw(group * (this.grid.n_steps + 1) + level, source);
    return { code: CODES.residual, payload: join([signed32(code), this.clearBytes(place)]), truth: { level, group, code } };
  }

  // -------------------------------------------------------------- for people

  leaves() {
    const clear = this.clearWords();
    if (!this.cells) return words("task.leaves_residual", { told: this.toldWords(), clear });
    const p = percent(this.mechanism.chance(0, 0));
    return words("task.leaves_symbol", { target: this.target, k: this.mechanism.codes[1] + 1, p, clear });
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, truth) {
    const code = new DataView(payload.slice(0, 4).buffer).getInt32(0, true);
    if (this.cells) return [this.symbolPanel(code, truth)];
    return [values(aboutLabel(this.target, this.grid, this.mechanism, code, truth.reported), true)];
  }

  /** @param {number} code @param {Json} truth */
  symbolPanel(code, { group, reported }) {
    const first = group * (this.grid.n_steps + 1);
    const own = new Map([...shares(this.grid, reported)].map(([level, share]) => [first + level, share]));
    return named(own, this.mechanism.codes[1] + 1, this.mechanism.chance(0, 0), this.mechanism.chance(0, 1), code);
  }

  /** @param {Json} truth @returns {[string, string][]} */
  truths(truth) {
    return this.cells ? [["your group", leafWords(this.cells)[truth.group]]] : [];
  }

  /** A symbol in words. @param {number} code */
  symbolWords(code) {
    const levels = this.grid.n_steps + 1;
    const error = short(labelValue(this.grid, code % levels));
    return `${leafWords(/** @type {Partition} */ (this.cells))[Math.floor(code / levels)]}; error ${error}`;
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const what = this.cells ? `your group and ${this.told()}, as one symbol, randomised` : `${this.told()}, randomised`;
    const sent = cutter.cut(what, 4, "noisy");
    const code = new DataView(sent.buffer).getInt32(0, true);
    this.cutClear(cutter);
    if (this.cells) {
      const odds = `One of ${this.mechanism.codes[1] + 1} symbols leaves: yours with probability ${percent(this.mechanism.chance(0, 0))}.`;
      return { rows: [], words: [...(truth ? [this.errorWords(truth)] : []), odds, `What is sent says: ${this.symbolWords(code)}.`] };
    }
    const name = `${this.target} minus the prediction`;
    const said = truth ? [this.errorWords(truth)] : [];
    return { rows: [], label: aboutLabel(name, this.grid, this.mechanism, code, truth?.reported), words: said };
  }
}
