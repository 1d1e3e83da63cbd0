// @ts-check
/**
 * Tasks with a public model: it predicts the label on the device, and what leaves is one randomised message about how
 * wrong it is, and about the group that one tree, drawn at random, sorts the record into.
 *
 * The prediction is made in floating point and may differ from Python's in the last digits; so a record on the very
 * boundary of a group may count in the group beside it, and a residual may round to the other of its two levels. That
 * touches no guarantee: group and level are the INPUT of the randomiser, which treats every pair of inputs alike. The
 * odds and the draws themselves are whole numbers only, and from the same group, level and random bytes come the same
 * bytes as in Python.
 */

import { bitOf, fromBase64, join, littleBytes, pack, percent, short } from "./basics.js";
import { integer } from "./exact.js";
import { levelResponse, signedSubset } from "./joint.js";
import { words } from "./language.js";
import { leavesWords } from "./leaves.js";
import { levelOf } from "./mechanisms.js";
import { named, shares, told } from "./picture.js";
import { design, predictWithin, reached, readGroups, readModel } from "./portable.js";
import { budget, count, insist, list, number, text, word } from "./reader.js";
import { checkResiduals, readLabels, readRadius, readSpace } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./odds.js").Row} Row */
/** @typedef {import("./portable.js").Model} Model */
/** @typedef {import("./portable.js").Trees} Trees */
/** @typedef {import("./task.js").Cutter} Cutter */
/** @typedef {ReturnType<typeof signedSubset>} Subset */
/** @typedef {ReturnType<typeof levelResponse>} Levels */

const MOST_TREES = 255; // these three as in Python
const MOST_LEAVES = 4096;
const MOST_OFF = 1e-6; // by which public shares may miss 1
const MOST_ROWS = 2048; // of a table of odds

/** What the curator needs beside the trees: shares of public records, and in which leaves rows like them lie. @param {Trees} trees @param {number[]} busy @param {Uint8Array} reference */
function checkPublic(trees, busy, reference) {
  const what = "public shares";
  const shares = trees.value.filter((_, node) => trees.column[node] < 0);
  insist(shares.every((share) => share > 0), what);
  let from = 0;
  for (const leaves of trees.leaves) {
    const sum = shares.slice(from, from + leaves).reduce((a, b) => a + b, 0);
    insist(Math.abs(sum - 1) < MOST_OFF, what);
    from += leaves;
  }
  insist(busy.length === shares.length && busy.every((share) => share > 0 && share <= 1), what);
  const [width, n] = [Math.max(...trees.leaves) <= 256 ? 1 : 2, trees.leaves.length];
  insist(reference.length > 0 && reference.length % (width * n) === 0, what);
  for (let i = 0; i < reference.length / width; i += 1) {
    const leaf = width === 1 ? reference[i] : reference[2 * i] + 256 * reference[2 * i + 1];
    insist(leaf < trees.leaves[i % n], what);
  }
}

export class AssistedTask extends Task {
  static format = "hedgerow/assisted-task";
  static version = 3;
  static kind = "assisted";
  static names = ["target", "epsilon", "label_bounds", "space", "public_model", "trees", "radius", "randomizer", "parameter", "residuals", "busy", "reference", "missing"];

  /** @type {Model} */
  base = /** @type {any} */ (null);
  /** @type {Trees} */
  trees = /** @type {any} */ (null);
  radius = 0;
  randomizer = "";
  /** The randomiser of each tree. @type {(Subset | Levels)[]} */
  joint = [];
  grid = { low: -1, high: 1, n_steps: 1 };

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.labels = readLabels(found.label_bounds, found.missing);
    this.columns = readSpace(found.space);
    this.fillPart(found);
  }

  /** What is asked about one label, or about one class. @param {Json} found */
  fillPart(found) {
    [this.base, this.trees] = [readModel(found.public_model), readGroups(found.trees)];
    insist(this.base.columns === this.columns.length && this.trees.features <= this.base.column.length + 1, "the public model"); // the prediction is the last column
    this.radius = readRadius(found.radius);
    this.randomizer = word(found.randomizer, "the randomiser", ["subset", "levels"]);
    const { leaves } = this.trees;
    insist(leaves.length <= MOST_TREES && Math.max(...leaves) <= MOST_LEAVES, "the trees");
    const most = BigInt(MOST_LEAVES * 16); // more make no difference to a subset, and are too many for levels
    const given = count(found.parameter, "the parameter", 1n);
    const parameter = given > most && this.randomizer === "subset" ? Number(most) : Number(given);
    this.joint = this.randomisers(parameter);
    this.grid = { low: -1, high: 1, n_steps: this.randomizer === "subset" ? 1 : parameter - 1 };
    this.joint.forEach((joint, t) => (this.parameters[`tree ${t}`] = joint.numerator));
    checkResiduals(found.residuals);
    checkPublic(this.trees, list(found.busy, "public shares", number), fromBase64(text(found.reference, "public shares"), "the public rows of this task are damaged"));
  }

  /** One for each number of leaves. @param {number} parameter */
  randomisers(parameter) {
    /** @param {number} k */
    const make = (k) => (this.randomizer === "subset" ? signedSubset(this.epsilon, k, Math.min(parameter, k)) : levelResponse(this.epsilon, k, parameter));
    const known = new Map(this.trees.leaves.map((k) => [k, make(k)]));
    return this.trees.leaves.map((k) => /** @type {Subset | Levels} */ (known.get(k)));
  }

  get levels() {
    return this.grid.n_steps + 1;
  }

  /** Bytes of a message. */
  get width() {
    return this.randomizer === "levels" ? 3 : 1 + 2 * this.wide;
  }

  /** Bytes with one bit for each leaf of the largest tree. */
  get wide() {
    return Math.ceil(Math.max(...this.trees.leaves) / 8);
  }

  /** @param {Json} record */
  place(record) {
    const { z, label } = super.place(record, {});
    return this.placed(z, label);
  }

  /** @param {number[]} z @param {number} label */
  placed(z, label) {
    const prediction = predictWithin(this.base, z, this.labels);
    const leaves = reached(this.trees, [...design(this.base, z), prediction]).map((node) => this.trees.number[node]);
    return { z, label, prediction, residual: label - prediction, leaves };
  }

  /** @param {Json} place @param {Source} source */
  message({ residual, leaves }, source) {
    const level = levelOf(this.grid, residual / this.radius, source);
    const { tree, payload } = this.drawMessage(leaves, level, source);
    return { code: this.randomizer === "subset" ? CODES.assistedSubset : CODES.assistedLevels, payload, truth: { level, tree, leaf: leaves[tree] } };
  }

  /** Draw a tree, then randomise (group in it, level). @param {number[]} leaves in every tree @param {number} level @param {Source} source */
  drawMessage(leaves, level, source) {
    const tree = integer(this.joint.length, source);
    const drawn = this.joint[tree].draw(leaves[tree], level, source);
    if (typeof drawn === "number") return { tree, payload: join([Uint8Array.of(tree), littleBytes(drawn, 2)]) };
    const scores = [...drawn, ...new Array(8 * this.wide - drawn.length).fill(0)];
    return { tree, payload: join([Uint8Array.of(tree), pack(scores.map((s) => s !== 0)), pack(scores.map((s) => s > 0))]) };
  }

  // -------------------------------------------------------------- for people

  model() {
    return words("task.model", { target: this.target });
  }

  stays() {
    return words("task.stays_model");
  }

  leaves() {
    return leavesWords([this], this.target);
  }

  /** The groups of one tree, in words. @param {number} t @returns {string[]} */
  groups(t) {
    const { trees } = this;
    /** @type {string[]} */
    const words = [];
    /** @param {number} node @param {Map<number, [number, number]>} limits above, up to */
    const walk = (node, limits) => {
      const column = trees.column[node];
      if (column < 0) {
        words[trees.number[node]] = [...limits].map(([c, limit]) => this.limitWords(c, ...limit)).filter(Boolean).join(", ") || "everybody";
        return;
      }
      const [above, upTo] = limits.get(column) ?? [-Infinity, Infinity];
      walk(trees.child[node], new Map(limits).set(column, [above, Math.min(upTo, trees.limit[node])]));
      walk(trees.child[node] + 1, new Map(limits).set(column, [Math.max(above, trees.limit[node]), upTo]));
    };
    walk(trees.starts[t], new Map());
    return words;
  }

  /** @param {number} column of the design; the last is the prediction @param {number} above @param {number} upTo */
  limitWords(column, above, upTo) {
    const { base } = this;
    const limits = [above > -Infinity ? `above ${short(above)}` : "", upTo < Infinity ? `up to ${short(upTo)}` : ""].filter(Boolean).join(" and ");
    if (column >= base.column.length) return `predicted ${this.target} ${limits}`;
    const { name, categories } = this.columns[base.column[column]];
    const code = base.code[column];
    if (!categories) return `${name} ${limits}`;
    // Categories as 0 or 1, or as codes: those that a record can have on this side of the cuts.
    const may = categories.filter((_, k) => {
      const value = code < 0 ? k : Number(k === code);
      return value > above && value <= upTo;
    });
    if (may.length === categories.length) return "";
    const one = code >= 0 && may.length === categories.length - 1 && !may.includes(categories[code]);
    return one ? `${name} is not ${categories[code]}` : `${name} is ${may.join(" or ") || "none"}`;
  }

  /** @param {Json} truth @returns {[string, string][]} */
  truths({ tree, leaf }) {
    return [["your group in the tree that was drawn", this.groups(tree)[leaf]]];
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, { residual, leaves }) {
    const [tree, rest] = [payload[0], payload.slice(1)];
    const [joint, leaf] = [this.joint[tree], leaves[tree]];
    const levels = shares(this.grid, residual / this.radius);
    if ("size" in joint) {
      const scores = Array.from({ length: joint.leaves }, (_, j) => bitOf(rest, j) * (2 * bitOf(rest.slice(this.wide), j) - 1));
      const others = scores.filter((_, j) => j !== leaf).map(Math.abs);
      return [told(levels.get(1) ?? 0, joint.odds, scores[leaf], others)];
    }
    const own = new Map();
    for (const [level, share] of levels) own.set(joint.symbol(leaf, level), (own.get(joint.symbol(leaf, level)) ?? 0) + share);
    return [named(own, joint.symbols, joint.odds[0], joint.odds[1], rest[0] + 256 * rest[1])];
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const tree = cutter.cut(`number of the tree, drawn at random among ${this.joint.length}`, 1)[0];
    const joint = this.joint[tree];
    const { rows, words } = "size" in joint ? this.aboutSubset(joint, this.groups(tree), cutter, truth) : this.aboutLevels(joint, this.groups(tree), cutter, truth);
    return { rows, words: truth ? [this.errorWords(truth), ...words] : words };
  }

  /** @param {Subset} joint @param {string[]} groups @param {Cutter} cutter @param {Json} [truth] */
  aboutSubset(joint, groups, cutter, truth) {
    const named = cutter.cut(`one bit for each of ${joint.leaves} groups: whether it is named`, this.wide, "noisy");
    const positive = cutter.cut(`one bit for each: whether ${this.target} is above the prediction`, this.wide, "noisy");
    const rows = groups.map((what, j) => {
      const own = truth && (truth.leaf === j ? 2 * truth.level - 1 : 0);
      return subsetRow(joint, what, bitOf(named, j) * (2 * bitOf(positive, j) - 1), own);
    });
    rows.sort((one, other) => Number(other.own ?? false) - Number(one.own ?? false)); // the own first, of very many
    const [p, turned, others] = joint.odds.map(percent);
    const rest = joint.leaves > 1 ? ` Every other group is named with probability ${others}, with either word.` : "";
    const words = [`Exactly ${joint.size} of ${joint.leaves} groups are named. Yours is named truly with probability ${p}, and with the opposite word with ${turned}.${rest}`];
    return { rows: rows.slice(0, MOST_ROWS), words };
  }

  /** @param {Levels} joint @param {string[]} groups @param {Cutter} cutter @param {Json} [truth] */
  aboutLevels(joint, groups, cutter, truth) {
    const bytes = cutter.cut(`one of ${joint.symbols} answers, by number`, 2, "noisy");
    const sent = bytes[0] + 256 * bytes[1];
    const own = truth && joint.symbol(truth.leaf, truth.level);
    /** @param {number} answer */
    const what = (answer) => {
      if (!answer) return "near the prediction, no group named";
      const [leaf, level] = joint.pair(answer);
      return `${groups[leaf]}; ${offWords(this.target, this.errorAt(level))}`;
    };
    const [p, q] = joint.odds.map(percent);
    /** @type {Row[]} */
    const rows = [{ what: what(sent), truth: own === sent ? "yours" : "", sent: "named", chance: !truth ? "" : own === sent ? p : q }];
    if (own !== undefined && own !== sent) rows.unshift({ what: what(own), truth: "yours", sent: "not named", chance: percent(1 - joint.odds[0]) });
    return { rows, words: [`Yours is named with probability ${p}, each of the other ${joint.symbols - 1} with ${q}.`] };
  }

  /** The error that a level stands for. @param {number} level */
  errorAt(level) {
    return ((2 * level) / (this.levels - 1) - 1) * this.radius;
  }

  /** @param {Json} truth */
  errorWords({ prediction, residual, level }) {
    const near = level === (this.levels - 1) / 2 ? "near the prediction" : offWords("", this.errorAt(level)).trim();
    const rounded = this.randomizer === "subset" ? (level ? "above" : "below") : near;
    const far = Math.abs(residual) > this.radius ? `, which counts as ${short(this.radius)}` : "";
    return `The public model predicts ${short(prediction)}; ${offWords(`your ${this.target} is`, residual)}${far}. That was first rounded at random to "${rounded}", in a way that keeps averages right.`;
  }
}

/** @param {string} target @param {number} off */
const offWords = (target, off) => `${target} ${short(Math.abs(off))} ${off < 0 ? "below" : "above"} the prediction`;

/** One group: what is true of it, what is sent, and how probable that was. @param {Subset} joint @param {string} what @param {number} sent @param {number} [own] its sign; 0 for a group of others @returns {Row} */
function subsetRow(joint, what, sent, own) {
  const said = ["below", "not named", "above"];
  if (own === undefined) return { what, truth: "", sent: said[sent + 1], chance: "" };
  const [p, turned, others] = joint.odds;
  const chance = own ? (sent === own ? p : sent ? turned : 1 - p - turned) : sent ? others / 2 : 1 - others;
  return { what, truth: own ? said[own + 1] : "", sent: said[sent + 1], chance: percent(chance), own: own !== 0 };
}
