// @ts-check
/**
 * The second of two rounds: an answer about the group, with the noisy label of the first.
 *
 * Both rounds cost one epsilon because they share one noisy label, and because one first round takes one second. So the
 * digest of the first round within the task is recomputed, and the device works with the epsilon, the share and the
 * grid that it kept when it answered the first; a task that says otherwise is refused.
 */

import { bitOf, fromHex, littleBytes, littleEndian, pack, percent, require, toHex } from "./basics.js";
import { FirstTask, roundNoise } from "./first_round.js";
import { words } from "./language.js";
import { flippedBits, kAry, toNumber } from "./mechanisms.js";
import { candidates, leafOf, leafWords, readPartition } from "./partition.js";
import { marked, named } from "./picture.js";
import { innerDigest, insist, spell, word } from "./reader.js";
import { encodeRecord, inputsOf } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./partition.js").Partition} Partition */
/** @typedef {import("./task.js").Cutter} Cutter */
/** @typedef {import("./task.js").More} More */

/** What is drawn among k groups. @param {"k_ary" | "bits"} response @param {number} epsilon @param {number} k */
function answerOf(response, epsilon, k) {
  return response === "k_ary" ? { named: kAry(epsilon, k) } : { bits: flippedBits(epsilon) };
}

export class SecondTask extends Task {
  static format = "hedgerow/cell-task";
  static kind = "semi-second";
  static names = ["first", "response", "partition"];
  static asks = false;

  /** The first round, as this task tells it. @type {FirstTask} */
  begun = /** @type {any} */ (null);
  /** @type {Partition} */
  partition = /** @type {any} */ (null);
  /** @type {"k_ary" | "bits"} */
  response = "k_ary";

  /** @param {Json} found */
  async fill(found) {
    const digest = await innerDigest(found.first);
    const content = new Map(found.first);
    require(content.get("id") === toHex(digest), "this task names a first round that is not the one within it: do not answer it");
    content.delete("id");
    this.begun = /** @type {FirstTask} */ (await FirstTask.read(content, digest));
    this.first = this.begun.id;
    this.asking = this.begun.asking;
    this.partition = readPartition(found.partition);
    insist(spell(found.partition.get("space")) === spell(found.first.get("space")), "other features than in the first round");
    this.response = word(found.response, "the response", ["k_ary", "bits"]);
    const { target, epsilon, columns, labels, parameters, noise } = this.begun;
    Object.assign(this, { target, epsilon, columns, labels, parameters });
    if (this.hides) {
      insist(noise.cell >= (this.partition.leaves + 2) * 2 ** -62, "no budget for groups"); // enough for any number of them
      answerOf(this.response, noise.cell, this.partition.leaves);
    }
  }

  /** Whether somebody may have several groups to hide among: the tree cuts a feature that may be private. */
  get hides() {
    const { masks, secret, columns } = this.begun;
    return this.partition.feature.some((column) => column >= 0 && (masks !== "policy" || secret.includes(columns[column].of ?? columns[column].name)));
  }

  /** The device answered this first round, and nothing of what it agreed to has changed. @param {Json} _ @param {More} more */
  check(_, { secrets }) {
    require(secrets && secrets.task === this.first, "this device did not answer the first round of this task");
    const { grid, ...agreed } = this.begun.promise();
    const same = Object.entries(agreed).every(([name, value]) => secrets[name] === value) && Object.entries(grid).every(([name, value]) => secrets.grid?.[name] === value);
    require(same, "the first round within this task is not the one that this device answered: do not answer it");
    const { length } = this.columns;
    require(secrets.mask?.length === length && secrets.clear?.length === length, "what this device kept of the first round is damaged");
  }

  /** What was sent in clear counts as it was sent, whatever the record says now. @param {Json} record @param {More} more */
  place(record, { secrets = {} }) {
    const { mask, clear } = secrets;
    const z = encodeRecord(this.columns, record).map((value, j) => (mask[j] ? value : clear[j]));
    const reach = candidates(this.partition, z, mask);
    const cells = reach.flatMap((may, cell) => (may ? [cell] : []));
    return { z, leaf: leafOf(this.partition, z), reach, cells };
  }

  /** @param {Json} place @param {Source} source @param {More} more */
  report(place, source, { secrets = {} }) {
    const { leaf, reach, cells } = place;
    // The budget, the grid and the noisy label are those that the device kept.
    const { coarse, cell } = roundNoise(secrets.epsilon, secrets.label_share, secrets.grid.n_steps);
    const certain = cells.length === 1;
    require(certain || cell > 0, "this task leaves no budget for groups");
    const level = certain ? secrets.fine : secrets.coarse;
    const response = certain ? null : answerOf(this.response, cell, cells.length);
    const own = cells.indexOf(leaf);
    let answer;
    if (this.response === "k_ary") answer = littleBytes(response?.named ? cells[response.named.draw(own, source)] : leaf, 4);
    else {
      const bits = response?.bits ? response.bits.draw(own, cells.length, source) : [true];
      const all = reach.slice();
      cells.forEach((/** @type {number} */ c, /** @type {number} */ i) => (all[c] = bits[i]));
      answer = pack(all);
    }
    const payload = [littleBytes(level + coarse.reach, 4), pack(reach), answer];
    return { body: this.frame(this.response === "k_ary" ? CODES.secondRoundNamed : CODES.secondRoundBits, fromHex(secrets.token), payload, source), truth: { z: place.z, leaf, cells } };
  }

  // -------------------------------------------------------------- for people

  questions() {
    return inputsOf(this.columns);
  }

  protects() {
    return this.begun.protects();
  }

  leaves() {
    return words("task.leaves_second", { told: this.begun.toldWords() });
  }

  stays() {
    return `${this.begun.stays()} ${words("task.stays_second")}`;
  }

  price() {
    return ` ${words("task.price_second")}`;
  }

  /** @param {string} name @param {Json} [truth] @param {Json} [kept] */
  inClear(name, truth, kept) {
    return this.begun.inClear(name, truth, kept);
  }

  /** @param {Json} truth @returns {[string, string][]} */
  truths(truth) {
    return [["your group", leafWords(this.partition)[truth.leaf]]];
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, { leaf, cells }) {
    const k = cells.length;
    const own = new Map([[cells.indexOf(leaf), 1]]);
    const answer = payload.slice(4 + ((this.partition.leaves + 7) >> 3));
    const { named: response, bits } = k > 1 ? answerOf(this.response, this.begun.noise.cell, k) : {};
    if (this.response === "k_ary") {
      const p = response ? toNumber(response.truth) : 1;
      return [named(own, k, p, (1 - p) / Math.max(1, k - 1), cells.indexOf(Number(littleEndian(answer))))];
    }
    const p = bits ? bits.kept : 1;
    return [marked(own, p, 1 - p, cells.map((/** @type {number} */ cell) => bitOf(answer, cell)))];
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const groups = this.partition.leaves;
    const wide = (groups + 7) >> 3;
    cutter.cut(`${this.begun.told()}, with the noise of the first round`, 4, "noisy");
    cutter.cut("groups that fit what is public about you", wide, "clear");
    const named = this.response === "k_ary";
    cutter.cut(named ? "the group that is named" : "one bit for each of these groups", named ? 4 : wide, "noisy");
    return { rows: [], words: truth ? [this.answerWords(truth.cells.length)] : [] };
  }

  /** @param {number} k groups that fit */
  answerWords(k) {
    if (k === 1) return "What is public about you leaves one group only: it is named as it is.";
    const { named, bits } = answerOf(this.response, this.begun.noise.cell, k);
    if (named) return `Of ${k} groups that fit, yours is named with probability ${percent(toNumber(named.truth))}.`;
    return `Each of ${k} bits is told truly with probability ${percent(bits.kept)}.`;
  }
}
