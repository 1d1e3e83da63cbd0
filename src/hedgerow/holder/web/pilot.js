// @ts-check
/**
 * The pilot of a task with a public model: the model predicts the label on the device, and what leaves is the bin that
 * the error of the prediction lies in, replaced by another one at random.
 *
 * The prediction is made in floating point and may differ from Python's in the last digits, so an error on the very
 * edge of two bins may count in the one beside it. That touches no guarantee: the bin is the INPUT of the randomiser,
 * which treats every pair of inputs alike. From the same bin and random bytes come the same bytes as in Python.
 */

import { ONE, percent, require, short } from "./exact.js";
import { kAry } from "./mechanisms.js";
import { predictWithin, readModel } from "./portable.js";

/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./exact.js").Json} Json */

const DAMAGED = "this pilot task is damaged";
const FIELDS = "base,edges,epsilon,format,label_bounds,space,target,version";

/** @param {unknown} value */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** Features as Python takes them: ranges that are none, or names that occur twice, are refused. @param {Json} space */
function checkSpace(space) {
  const names = space.features.map((/** @type {Json} */ f) => f.name);
  require(Object.keys(space).join() === "features" && names.length && new Set(names).size === names.length, DAMAGED);
  for (const feature of space.features) {
    const { name, low, high, categories } = feature;
    const fields = Object.keys(feature).sort().join();
    require(typeof name === "string", DAMAGED);
    if (!("categories" in feature)) require(fields === "high,low,name" && isNumber(low) && isNumber(high) && low <= high, DAMAGED);
    else {
      require(fields === "categories,name" && Array.isArray(categories) && categories.length > 0, DAMAGED);
      require(categories.every((c) => typeof c === "string") && new Set(categories).size === categories.length, DAMAGED);
    }
  }
}

/** Everything that is needed to answer, with all probabilities worked out. @param {Json} content @param {number} epsilon @returns {Json} */
export function readPilot(content, epsilon) {
  const { label_bounds: bounds, edges, target } = content;
  require(Object.keys(content).sort().join() === FIELDS && typeof target === "string" && isNumber(content.epsilon), DAMAGED);
  checkSpace(content.space);
  require(Array.isArray(bounds) && bounds.length === 2 && bounds.every(isNumber) && bounds[0] < bounds[1], DAMAGED);
  require(Array.isArray(edges) && edges.every((edge, i) => isNumber(edge) && (i === 0 || edge > edges[i - 1])), DAMAGED);
  const bins = edges.length + 1;
  require(bins >= 2 && bins <= 255, DAMAGED);
  const base = readModel(content.base);
  require(base.columns === content.space.features.length, DAMAGED);
  const response = kAry(epsilon, bins);
  require(response.truth * BigInt(bins - 1) > ONE - response.truth, "epsilon is too small for this many bins");
  return { code: 20, base, bounds: { low: bounds[0], high: bounds[1] }, edges, bins, response, odds: [response.chance(0, 0), response.chance(0, 1)] };
}

/** The bin of an error; one on an edge belongs to the bin above it. @param {number[]} edges @param {number} error */
export const binOf = (edges, error) => edges.filter((edge) => edge <= error).length;

/** Randomise a bin. @param {Json} m @param {number} bin @param {Source} source */
export const drawBin = (m, bin, source) => Uint8Array.of(m.response.draw(bin, source));

/** From an encoded record and a label to the message. @param {Json} m @param {number[]} z @param {number} label @param {Source} source */
export function pilot(m, z, label, source) {
  const prediction = predictWithin(m.base, z, m.bounds);
  const error = Math.min(Math.max(label, m.bounds.low), m.bounds.high) - prediction;
  const bin = binOf(m.edges, error);
  return { payload: drawBin(m, bin, source), truth: { prediction, error, bin } };
}

// ---------------------------------------------------------------- in words

/** What leaves, with the odds. @param {Json} m @param {string} target @returns {string} */
export function pilotWords({ bins, odds }, target) {
  return `How wrong the public model is for you, in one of ${bins} bins: about how far ${target} is above or below the prediction. Yours is named with probability ${percent(odds[0])}, else any other. This is a pilot, before a larger question: whoever answers it need not answer that one, and a further report would cost again.`;
}

/** The errors of each bin, in words. @param {number[]} edges @returns {string[]} */
export function binWords(edges) {
  const inner = edges.slice(1).map((edge, i) => `from ${short(edges[i])} to below ${short(edge)}`);
  return [`below ${short(edges[0])}`, ...inner, `from ${short(edges[edges.length - 1])}`];
}

/** What the message of a body says, and how probable that was. @param {Json} task @param {(name: string, size: number) => Uint8Array} cut @param {Json} [truth] @returns {{rows: Json[], words: string[], heading: string}} */
export function aboutPilot({ message: m, target }, cut, truth) {
  const sent = cut(`one of ${m.bins} bins, by number`, 1)[0];
  const [p, q] = m.odds;
  const rows = binWords(m.edges).map((what, bin) => {
    const [own, named] = [truth?.bin === bin, sent === bin];
    const chance = own ? p : q;
    return { what, truth: own ? "yours" : "", sent: named ? "named" : "not named", chance: truth ? percent(named ? chance : 1 - chance) : "", own };
  });
  const words = [`Your bin is named with probability ${percent(p)}, ${m.bins > 2 ? `each of the other ${m.bins - 1}` : "the other"} with ${percent(q)}.`];
  if (truth) words.unshift(`The public model predicts ${short(truth.prediction)}; your ${target} is ${short(Math.abs(truth.error))} ${truth.error < 0 ? "below" : "above"} that.`);
  return { rows, words, heading: `${target} minus the prediction` };
}
