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

import { bernoulli, integer, join, littleBytes, ONE, pack, percent, require, shareBelow, short, uniformSubset } from "./exact.js";
import { kAry, levelOf, toNumber } from "./mechanisms.js";
import { design, predictWithin, reached, readModel } from "./portable.js";

/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./exact.js").Json} Json */

const DAMAGED = "this task is damaged";

/** Everything that is needed to answer, with all probabilities worked out. @param {Json} content @param {number} epsilon @returns {Json} */
export function readAssisted(content, epsilon) {
  const { randomizer: kind, parameter, radius, label_bounds: [low, high] } = content;
  const base = readModel(content.base);
  const [trees, ...more] = readModel(content.trees).parts;
  require(base.columns === content.space.features.length && trees?.kind === "trees" && !more.length, DAMAGED);
  require(trees.column.every((/** @type {number} */ c) => c <= base.column.length), DAMAGED); // the prediction is the last column
  require(low < high && Number.isFinite(high - low) && radius > 0 && Number.isFinite(radius) && Number.isSafeInteger(parameter) && parameter > 0, DAMAGED);
  require(trees.leaves.length >= 1 && trees.leaves.length <= 255 && Math.max(...trees.leaves) <= 4096, DAMAGED);
  const levels = kind === "subset" ? 2 : parameter;
  require(kind === "subset" || kind === "levels", `this page does not know the randomiser ${kind}; use the command line`);
  const known = new Map(trees.leaves.map((/** @type {number} */ k) => [k, kind === "subset" ? signedSubset(epsilon, k, Math.min(parameter, k)) : levelResponse(epsilon, k, levels)]));
  const joint = trees.leaves.map((/** @type {number} */ k) => known.get(k));
  const bits = Math.ceil(Math.max(...trees.leaves) / 8);
  return { kind, code: kind === "subset" ? 16 : 17, base, trees, bounds: { low, high }, radius, joint, bits, levels, grid: { low: -1, high: 1, n_steps: levels - 1 } };
}

/**
 * `size` of the K groups are named, each with a sign; reports that hold the true pair weigh e^epsilon.
 * @param {number} epsilon @param {number} K @param {number} size
 */
function signedSubset(epsilon, K, size) {
  const hold = shareBelow(epsilon, BigInt(size), BigInt(2 * K - size));
  require(hold * BigInt(2 * K - size) > (ONE - hold) * BigInt(size), "epsilon is too small for this many groups");
  const p = toNumber(hold);
  const turned = ((1 - p) * size) / (2 * K - size);
  const others = ((p + turned) * (size - 1) + (1 - p - turned) * size) / Math.max(1, K - 1);
  return {
    leaves: K,
    size,
    hold,
    /** P(the own group is named with the own sign), with the other sign, and P(another group is named). */
    odds: [p, turned, others],
    /** Scores -1, 0 or 1 of the groups. @param {number} leaf @param {number} level @param {Source} source */
    draw(leaf, level, source) {
      const held = bernoulli(hold, source);
      // Of the reports that do not hold the pair, size in 2K - size name the group with the other sign.
      const turn = !held && integer(2 * K - size, source) < size;
      const named = uniformSubset(K - 1, size, held || turn, source);
      const signs = source.take((K + 6) >> 3); // one bit for each other group, the highest first
      const scores = named.map((is, j) => (is ? 2 * ((signs[j >> 3] >> (7 - (j & 7))) & 1) - 1 : 0));
      const own = (2 * level - 1) * (Number(held) - Number(turn));
      return [...scores.slice(0, leaf), own, ...scores.slice(leaf)];
    },
  };
}

/**
 * k-ary response on (group, level), the middle level of all groups being one answer, number 0.
 * @param {number} epsilon @param {number} K @param {number} levels
 */
function levelResponse(epsilon, K, levels) {
  require(levels >= 3 && levels % 2 === 1, DAMAGED);
  const [symbols, top] = [K * (levels - 1) + 1, (levels - 1) / 2];
  require(symbols <= 65536, DAMAGED);
  const response = kAry(epsilon, symbols);
  require(response.truth * BigInt(symbols - 1) > ONE - response.truth, "epsilon is too small for this many groups");
  const p = toNumber(response.truth);
  /** @param {number} leaf @param {number} level */
  const symbol = (leaf, level) => (level === top ? 0 : 1 + leaf * (levels - 1) + level - (level > top ? 1 : 0));
  return {
    leaves: K,
    symbols,
    response,
    symbol,
    /** P(the own answer is named), and P(another one is). */
    odds: [p, (1 - p) / (symbols - 1)],
    /** @param {number} leaf @param {number} level @param {Source} source */
    draw: (leaf, level, source) => response.draw(symbol(leaf, level), source),
    /** Group and level of an answer other than 0. @param {number} answer @returns {[number, number]} */
    pair(answer) {
      const place = (answer - 1) % (levels - 1);
      return [Math.floor((answer - 1) / (levels - 1)), place + (place >= top ? 1 : 0)];
    },
  };
}

/** The clipped prediction for an encoded record, and its group in every tree. @param {Json} m @param {number[]} z */
export function place({ base, trees, bounds }, z) {
  const prediction = predictWithin(base, z, bounds);
  const leaves = reached(trees, [...design(base, z), prediction]).map((node) => trees.number[node]);
  return { prediction, leaves };
}

/** Draw a tree, then randomise (group in it, level). @param {Json} m @param {number[]} leaves in every tree @param {number} level @param {Source} source */
export function drawMessage(m, leaves, level, source) {
  const tree = integer(m.joint.length, source);
  const drawn = m.joint[tree].draw(leaves[tree], level, source);
  if (m.kind === "levels") return { tree, payload: join([Uint8Array.of(tree), littleBytes(drawn, 2)]) };
  const scores = [...drawn, ...new Array(8 * m.bits - drawn.length).fill(0)];
  return { tree, payload: join([Uint8Array.of(tree), pack(scores.map((s) => s !== 0)), pack(scores.map((s) => s > 0))]) };
}

/** From an encoded record and a label to the message. @param {Json} m @param {number[]} z @param {number} label @param {Source} source */
export function assist(m, z, label, source) {
  const { prediction, leaves } = place(m, z);
  const residual = Math.min(Math.max(label, m.bounds.low), m.bounds.high) - prediction;
  const level = levelOf(m.grid, residual / m.radius, source);
  const { tree, payload } = drawMessage(m, leaves, level, source);
  return { payload, truth: { prediction, residual, level, leaves, tree, leaf: leaves[tree] } };
}

// ---------------------------------------------------------------- in words

/** "3" or "3 to 8". @param {number[]} values @param {(value: number) => string} [words] */
function span(values, words = String) {
  const [least, most] = [words(Math.min(...values)), words(Math.max(...values))];
  return least === most ? least : `${least} to ${most}`;
}

/** What leaves, with the odds. @param {Json} m @param {string} target @returns {string} */
export function assistedWords({ joint, kind }, target) {
  const start = `${joint.length > 1 ? `One of ${joint.length} trees is drawn at random, without looking at you. It` : "A tree"} sorts people into ${span(joint.map((/** @type {Json} */ j) => j.leaves))} groups.`;
  /** @param {number} i */
  const odds = (i) => span(joint.map((/** @type {Json} */ j) => j.odds[i]), percent);
  if (kind === "levels") return `${start} One answer leaves: a group and, in steps, how far ${target} is from the public model's prediction there; or, without a group, that it is near. Yours leaves with probability ${odds(0)}, else any other.`;
  return `${start} The message names ${span(joint.map((/** @type {Json} */ j) => j.size))} of them, and says of each whether ${target} is above or below the public model's prediction there. Yours is named truly with probability ${odds(0)}, and with the opposite word with ${odds(1)}.`;
}

/** The groups of one tree, in words. @param {Json} task @param {number} t @returns {string[]} */
export function groupWords(task, t) {
  const { trees } = task.message;
  /** @type {string[]} */
  const words = [];
  /** @param {number} node @param {Map<number, [number, number]>} limits above, up to */
  const walk = (node, limits) => {
    const column = trees.column[node];
    if (column < 0) {
      words[trees.number[node]] = [...limits].map(([c, limit]) => inWords(task, c, ...limit)).filter(Boolean).join(", ") || "everybody";
      return;
    }
    const [above, upTo] = limits.get(column) ?? [-Infinity, Infinity];
    walk(trees.child[node], new Map(limits).set(column, [above, Math.min(upTo, trees.limit[node])]));
    walk(trees.child[node] + 1, new Map(limits).set(column, [Math.max(above, trees.limit[node]), upTo]));
  };
  walk(trees.starts[t], new Map());
  return words;
}

/** @param {Json} task @param {number} column of the design; the last is the prediction @param {number} above @param {number} upTo */
function inWords(task, column, above, upTo) {
  const { base } = task.message;
  const feature = column < base.column.length ? task.features[base.column[column]] : { name: `predicted ${task.target}` };
  const [code, limits] = [base.code[column] ?? -1, [above > -Infinity ? `above ${short(above)}` : "", upTo < Infinity ? `up to ${short(upTo)}` : ""]];
  if (!feature.categories) return `${feature.name} ${limits.filter(Boolean).join(" and ")}`;
  // Categories as 0 or 1, or as codes: those that a record can have on this side of the cuts.
  const may = feature.categories.filter((/** @type {string} */ _, /** @type {number} */ k) => {
    const value = code < 0 ? k : Number(k === code);
    return value > above && value <= upTo;
  });
  if (may.length === feature.categories.length) return "";
  const name = feature.categories[code];
  return code >= 0 && may.length === feature.categories.length - 1 && !may.includes(name) ? `${feature.name} is not ${name}` : `${feature.name} is ${may.join(" or ") || "none"}`;
}

/** What the message of a body says, and how probable that was. @param {Json} task @param {(name: string, size: number) => Uint8Array} cut @param {Json} [truth] @returns {{rows: Json[], words: string[]}} */
export function aboutAssisted(task, cut, truth) {
  const { message: m, target } = task;
  const tree = cut(`number of the tree, drawn at random among ${m.joint.length}`, 1)[0];
  const [joint, groups] = [m.joint[tree], groupWords(task, tree)];
  const words = truth ? [residualWords(task, truth)] : [];
  if (m.kind === "subset") {
    const [named, positive] = [cut(`one bit for each of ${joint.leaves} groups: whether it is named`, m.bits), cut(`one bit for each: whether ${target} is above the prediction`, m.bits)];
    const rows = groups.map((what, j) => subsetRow(joint, what, bit(named, j) * (2 * bit(positive, j) - 1), truth && (truth.leaf === j ? 2 * truth.level - 1 : 0)));
    const [p, turned, others] = joint.odds.map(percent);
    const rest = joint.leaves > 1 ? ` Every other group is named with probability ${others}, with either word.` : "";
    rows.sort((one, other) => Number(other.own ?? false) - Number(one.own ?? false)); // the own first, of very many
    return { rows: rows.slice(0, 2048), words: [...words, `Exactly ${joint.size} of ${joint.leaves} groups are named. Yours is named truly with probability ${p}, and with the opposite word with ${turned}.${rest}`] };
  }
  const bytes = cut(`one of ${joint.symbols} answers, by number`, 2);
  const sent = bytes[0] + 256 * bytes[1];
  const own = truth && joint.symbol(truth.leaf, truth.level);
  /** @param {number} answer */
  const what = (answer) => {
    if (!answer) return "near the prediction, no group named";
    const [leaf, level] = joint.pair(answer);
    return `${groups[leaf]}; ${offWords(target, ((2 * level) / (m.levels - 1) - 1) * m.radius)}`;
  };
  const [p, q] = joint.odds.map(percent);
  const rows = [{ what: what(sent), truth: own === sent ? "yours" : "", sent: "named", chance: !truth ? "" : own === sent ? p : q }];
  if (truth && own !== sent) rows.unshift({ what: what(own), truth: "yours", sent: "not named", chance: percent(1 - joint.odds[0]) });
  return { rows, words: [...words, `Yours is named with probability ${p}, each of the other ${joint.symbols - 1} with ${q}.`] };
}

/** @param {Uint8Array} bytes @param {number} j */
const bit = (bytes, j) => (bytes[j >> 3] >> (j & 7)) & 1;
/** @param {string} target @param {number} off */
const offWords = (target, off) => `${target} ${short(Math.abs(off))} ${off < 0 ? "below" : "above"} the prediction`;

/** One group: what is true of it, what is sent, and how probable that was. @param {Json} joint @param {string} what @param {number} sent @param {number} [own] its sign; 0 for a group of others */
function subsetRow(joint, what, sent, own) {
  const said = ["below", "not named", "above"];
  if (own === undefined) return { what, truth: "", sent: said[sent + 1], chance: "" };
  const [p, turned, others] = joint.odds;
  const chance = own ? (sent === own ? p : sent ? turned : 1 - p - turned) : sent ? others / 2 : 1 - others;
  return { what, truth: own ? said[own + 1] : "", sent: said[sent + 1], chance: percent(chance), own: own !== 0 };
}

/** @param {Json} task @param {Json} truth */
function residualWords({ message: m, target }, { prediction, residual, level }) {
  const rounded = m.kind === "subset" ? (level ? "above" : "below") : level === (m.levels - 1) / 2 ? "near the prediction" : offWords("", ((2 * level) / (m.levels - 1) - 1) * m.radius).trim();
  const far = Math.abs(residual) > m.radius ? `, which counts as ${short(m.radius)}` : "";
  return `The public model predicts ${short(prediction)}; ${offWords(`your ${target} is`, residual)}${far}. That was first rounded at random to "${rounded}", in a way that keeps averages right.`;
}
