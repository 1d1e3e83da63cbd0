// @ts-check
/**
 * Tasks with a published tree: which group a record is in, and its label.
 */

import { bitOf, join, littleBytes, littleEndian, pack, percent, short } from "./basics.js";
import { words } from "./language.js";
import { flippedBits, kAryCells, laplace, levelOf, splitEpsilon, subset, toNumber, unary } from "./mechanisms.js";
import { aboutLabel, bitRow, labelValue } from "./odds.js";
import { leafOf, leafWords, readPartition } from "./partition.js";
import { marked, named, shares, values } from "./picture.js";
import { budget, count, fields, insist, list, number, text, word } from "./reader.js";
import { readClasses, readGrid } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./odds.js").Row} Row */
/** @typedef {import("./partition.js").Partition} Partition */
/** @typedef {import("./picture.js").Panel} Panel */
/** @typedef {import("./schema.js").Grid} Grid */
/** @typedef {import("./task.js").Cutter} Cutter */

const MOST_ROWS = 2048; // of a table of odds

/** What the curator knows of public records in each leaf: nothing that a device needs, but it must be what it says. @param {unknown} value @param {number} leaves */
function checkPublic(value, leaves) {
  const what = "public means";
  const found = fields(value, what, ["count", "mean", "sd", "classes"]);
  const counts = list(found.count, what, (item) => count(item, what));
  const [means, sds] = [list(found.mean, what, number), list(found.sd, what, number)];
  insist([counts, means, sds].every((items) => items.length === leaves), what);
  if (found.classes === null) return;
  const rows = list(found.classes, what, (row) => list(row, what, (item) => count(item, what)));
  insist(rows.length === leaves && rows.every((row) => row.length === rows[0].length), what);
  insist(rows.every((row, j) => row.reduce((a, b) => a + b, 0n) === counts[j]), what);
}

/**
 * The four messages: what each is made of, how it is drawn, and what is said of it.
 * @typedef {{code: number, parameters: {[name: string]: bigint | number | undefined}, leaves(target: string): string,
 *   draw(leaf: number, level: number, source: Source): Uint8Array,
 *   about(task: LocalTask, cutter: Cutter, truth?: Json): {rows: Row[], label?: Json, words: string[]},
 *   panels(task: LocalTask, payload: Uint8Array, truth: Json): Panel[]}} Message
 */

/** A flipped bit for every group, and a noisy label. @param {number} epsilon @param {number} share @param {number} groups @param {number} steps @returns {Message} */
function bitsMessage(epsilon, share, groups, steps) {
  const [cell, rest] = splitEpsilon(epsilon, share);
  const [bits, label] = [flippedBits(cell), laplace(rest, steps)];
  const wide = steps + 2 * label.reach < 65536 ? 2 : 4;
  const kept = bits.kept;
  return {
    code: CODES.bits,
    parameters: { flip: bits.flip, ratio: label.ratio, reach: label.reach },
    leaves: (target) => words("task.leaves_bits", { groups, p: percent(kept), target }),
    draw(leaf, level, source) {
      const noisy = littleBytes(label.draw(level, source) + label.reach, wide);
      return join([noisy, pack(bits.draw(leaf, groups, source))]);
    },
    about(task, cutter, truth) {
      const code = Number(littleEndian(cutter.cut(`your ${task.target}, with noise`, wide, "noisy"))) - label.reach;
      const sent = cutter.cut(`one bit for each of ${groups} groups`, (groups + 7) >> 3, "noisy");
      const rows = task.groups().map((what, j) => bitRow(what, sent, j, truth && truth.leaf === j, kept, 1 - kept));
      const said = [`Each bit is told truly with probability ${percent(kept)}, and flipped with ${percent(1 - kept)}.`];
      return { rows, label: aboutLabel(task.target, task.grid, label, code, truth?.label), words: said };
    },
    panels(task, payload, truth) {
      const code = Number(littleEndian(payload.slice(0, wide))) - label.reach;
      const about = aboutLabel(task.target, task.grid, label, code, truth.label);
      const sent = Array.from({ length: groups }, (_, j) => bitOf(payload.slice(wide), j));
      return [values(about), marked(new Map([[truth.leaf, 1]]), kept, 1 - kept, sent)];
    },
  };
}

/** One bit for every pair of a group and a value; `p` and `q`: chances that the own one and that another is set. @param {number} code @param {{k: number, draw(own: number, source: Source): boolean[]}} mechanism @param {number} p @param {number} q @param {number} steps @param {string} said @returns {Omit<Message, "parameters" | "leaves">} */
function pairBits(code, mechanism, p, q, steps, said) {
  const { k } = mechanism;
  return {
    code,
    draw: (leaf, level, source) => pack(mechanism.draw(leaf * (steps + 1) + level, source)),
    about(task, cutter, truth) {
      const bits = cutter.cut(`one bit for each of ${k} groups and values`, (k + 7) >> 3, "noisy");
      const own = truth && task.pair(truth.leaf, truth.level);
      const names = task.pairNames();
      const rows = Array.from({ length: Math.min(k, MOST_ROWS) }, (_, j) => bitRow(names(j), bits, j, truth && own === j, p, q));
      return { rows, words: [...task.rounded(truth), said] };
    },
    panels(task, payload, truth) {
      return [marked(task.ownPairs(truth), p, q, Array.from({ length: k }, (_, j) => bitOf(payload, j)))];
    },
  };
}

/** @param {number} epsilon @param {number} k @param {number} steps @returns {Message} */
function unaryMessage(epsilon, k, steps) {
  const mechanism = unary(epsilon, k);
  const q = toNumber(mechanism.rare);
  return {
    ...pairBits(CODES.unary, mechanism, 0.5, q, steps, `The bit of yours is set with probability 50 %, each other bit with ${percent(q)}.`),
    parameters: { rare: mechanism.rare },
    leaves: () => words("task.leaves_unary", { k, q: percent(q) }),
  };
}

/** @param {number} epsilon @param {number} k @param {number} steps @returns {Message} */
function subsetMessage(epsilon, k, steps) {
  const mechanism = subset(epsilon, k);
  const { size, hold } = mechanism;
  const p = toNumber(hold);
  const q = (size - p) / (k - 1);
  return {
    ...pairBits(CODES.subset, mechanism, p, q, steps, `Exactly ${size} of ${k} bits are set. Yours is among them with probability ${percent(p)}, each other one with ${percent(q)}.`),
    parameters: { hold, size },
    leaves: () => words("task.leaves_subset", { size, k, p: percent(p) }),
  };
}

/** @param {number} epsilon @param {number} k @param {number} steps @returns {Message} */
function namedMessage(epsilon, k, steps) {
  const response = kAryCells(epsilon, k);
  const p = toNumber(response.truth);
  const rest = percent((1 - p) / Math.max(1, k - 1));
  return {
    code: CODES.k_ary,
    parameters: { truth: response.truth },
    leaves: () => words("task.leaves_k_ary", { k, p: percent(p) }),
    draw: (leaf, level, source) => littleBytes(response.draw(leaf * (steps + 1) + level, source), 4),
    about(task, cutter, truth) {
      const sent = Number(littleEndian(cutter.cut(`one of ${k} groups and values, by number`, 4, "noisy")));
      const own = truth && task.pair(truth.leaf, truth.level);
      const names = task.pairNames();
      /** @type {Row[]} */
      const rows = [{ what: names(sent), truth: truth && own === sent ? "yours" : "", sent: "named", chance: !truth ? "" : own === sent ? percent(p) : rest }];
      if (own !== undefined && own !== sent) rows.unshift({ what: names(own), truth: "yours", sent: "not named", chance: percent(1 - p) });
      return { rows, words: [...task.rounded(truth), `Yours is named with probability ${percent(p)}, each of the other ${k - 1} with ${rest}.`] };
    },
    panels(task, payload, truth) {
      return [named(task.ownPairs(truth), k, p, (1 - p) / Math.max(1, k - 1), Number(littleEndian(payload)))];
    },
  };
}

const CELLS = { unary: unaryMessage, k_ary: namedMessage, subset: subsetMessage };

export class LocalTask extends Task {
  static format = "hedgerow/local-task";
  static kind = "local";
  static names = ["title", "target", "epsilon", "response", "cell_share", "grid", "partition", "public", "classes", "observed"];

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.grid = readGrid(found.grid);
    this.partition = readPartition(found.partition);
    this.columns = this.partition.columns;
    const response = word(found.response, "the response", ["bits", "unary", "k_ary", "subset"]);
    const share = number(found.cell_share, "cell_share");
    insist(share > 0 && share < 1, "cell_share");
    const classes = found.classes === null ? null : readClasses(found.classes, this.grid);
    insist(!classes || response !== "bits", "classes");
    insist(typeof found.observed === "boolean", "where the classes are from");
    if (found.public !== null) checkPublic(found.public, this.partition.leaves);
    this.labels = { low: this.grid.low, high: this.grid.high, missing: this.grid.missing, classes };
    const [groups, steps] = [this.partition.leaves, this.grid.n_steps];
    this.told = response === "bits" ? bitsMessage(this.epsilon, share, groups, steps) : CELLS[response](this.epsilon, groups * (steps + 1), steps);
    this.parameters = this.told.parameters;
  }

  /** @type {Grid} */
  grid = { low: 0, high: 0, n_steps: 1, missing: 0 };
  /** @type {Partition} */
  partition = /** @type {any} */ (null);
  /** @type {Message} */
  told = /** @type {any} */ (null);

  /** @param {Json} record */
  place(record) {
    const place = super.place(record, {});
    return { ...place, leaf: leafOf(this.partition, place.z) };
  }

  /** @param {Json} place @param {Source} source */
  message({ leaf, label }, source) {
    const level = levelOf(this.grid, label, source);
    return { code: this.told.code, payload: this.told.draw(leaf, level, source), truth: { level } };
  }

  groups() {
    return leafWords(this.partition);
  }

  /** @param {number} leaf @param {number} level */
  pair(leaf, level) {
    return leaf * (this.grid.n_steps + 1) + level;
  }

  /** The pairs that are true, by how likely the label is rounded so. @param {Json} truth */
  ownPairs({ leaf, label }) {
    return new Map([...shares(this.grid, label)].map(([level, share]) => [this.pair(leaf, level), share]));
  }

  /** @param {Uint8Array} payload @param {Json} truth */
  panels(payload, truth) {
    return this.told.panels(this, payload, truth);
  }

  /** Pairs of a group and a value, in words. @returns {(pair: number) => string} */
  pairNames() {
    const [groups, levels] = [this.groups(), this.grid.n_steps + 1];
    const { classes } = this.labels;
    return (pair) => {
      const level = pair % levels;
      return `${groups[Math.floor(pair / levels)]}; ${this.target} ${classes?.[level] ?? short(labelValue(this.grid, level))}`;
    };
  }

  /** @param {Json} [truth] */
  rounded(truth) {
    if (!truth || this.labels.classes) return [];
    return [`Your ${this.target} was first rounded at random to ${short(labelValue(this.grid, truth.level))}, in a way that keeps averages right.`];
  }

  leaves() {
    return this.told.leaves(this.target);
  }

  /** @param {Json} truth @returns {[string, string][]} */
  truths(truth) {
    return [["your group", this.groups()[truth.leaf]]];
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    return this.told.about(this, cutter, truth);
  }
}
