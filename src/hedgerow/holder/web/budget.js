// @ts-check
/**
 * Amounts of privacy budget in this browser, in whole units: millionths of epsilon, 1e-15 of delta; as in Python's
 * holder.budget. Costs are rounded up. A limit is for good: it is not a monthly allowance.
 */

import { require } from "./basics.js";
import { words } from "./language.js";
import * as memory from "./memory.js";

/** @typedef {{epsilon: number, delta: number}} Cost */
/** @typedef {{[publicKey: string]: {[taskId: string]: Cost}}} Book */

const [EPSILON_DIGITS, DELTA_DIGITS] = [6, 15];
/** The most that one curator gets, and all together: what they learn if they put their reports together, and what one learns who comes back under many keys. */
export const LIMITS = {
  curator: { epsilon: 4e6, delta: 1e9 },
  total: { epsilon: 16e6, delta: 1e9 },
};

/** A decimal number in units of 10^-digits, rounded up. @param {number} value as its shortest decimal says @param {number} digits */
export function units(value, digits) {
  const [mantissa, power] = value.toExponential().split("e");
  const [head, tail = ""] = mantissa.split(".");
  const shift = Number(power) - tail.length + digits;
  const whole = BigInt(head + tail);
  const exact = shift >= 0 ? whole * 10n ** BigInt(shift) : -(-whole / 10n ** BigInt(-shift)) + (whole % 10n ** BigInt(-shift) > 0n ? 1n : 0n);
  return exact > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(exact);
}

/** What an answer costs; a second round was paid for with the first. @param {{epsilon: number, delta: number, first: string | null}} task @returns {Cost} */
export function costOf({ epsilon, delta, first }) {
  return first ? { epsilon: 0, delta: 0 } : { epsilon: units(epsilon, EPSILON_DIGITS), delta: units(delta, DELTA_DIGITS) };
}

/** @returns {Book} */
const book = () => memory.read("spent") ?? {};

/** @param {Cost[]} costs @returns {Cost} */
const sum = (costs) => costs.reduce((all, cost) => ({ epsilon: all.epsilon + cost.epsilon, delta: all.delta + cost.delta }), { epsilon: 0, delta: 0 });

/** What a curator was given. @param {string} publicKey @returns {Cost} */
export const spentOn = (publicKey) => sum(Object.values(book()[publicKey] ?? {}));

/** What all curators were given; one report to two of them counts once. @returns {Cost} */
export function spentInAll() {
  /** @type {Map<string, Cost>} */
  const once = new Map();
  for (const tasks of Object.values(book()))
    for (const [id, { epsilon, delta }] of Object.entries(tasks)) {
      const known = once.get(id) ?? { epsilon: 0, delta: 0 };
      once.set(id, { epsilon: Math.max(known.epsilon, epsilon), delta: Math.max(known.delta, delta) });
    }
  return sum([...once.values()]);
}

/** Whether a curator was charged for a task. @param {string} publicKey @param {string} id */
export const charged = (publicKey, id) => Object.hasOwn(book()[publicKey] ?? {}, id);

/** @param {Cost} cost */
const costWords = ({ epsilon, delta }) => `epsilon ${epsilon / 1e6}${delta ? ` and delta ${Number((delta / 1e15).toPrecision(15))}` : ""}`;

/** @param {Cost} cost @param {Cost} spent @param {Cost} limit @param {string} whom */
function refuse(cost, spent, limit, whom) {
  const fits = spent.epsilon + cost.epsilon <= limit.epsilon && spent.delta + cost.delta <= limit.delta;
  require(fits, `This report costs ${costWords(cost)}; with what you gave before, ${whom} would have ${costWords(sum([spent, cost]))}, more than ${costWords(limit)}. Nothing was sent.`);
}

/** Refuse a report that could not be paid for; book nothing. @param {{id: string, epsilon: number, delta: number, first: string | null}} task @param {string} publicKey */
export function checkBudget(task, publicKey) {
  const cost = costOf(task);
  if (!charged(publicKey, task.id)) refuse(cost, spentOn(publicKey), LIMITS.curator, "this curator");
  const known = Object.values(book()).some((tasks) => Object.hasOwn(tasks, task.id));
  if (!known) refuse(cost, spentInAll(), LIMITS.total, "all curators together");
}

/** Book a report; again: free. Call it alone. @param {{id: string, epsilon: number, delta: number, first: string | null}} task @param {string} publicKey */
export function charge(task, publicKey) {
  checkBudget(task, publicKey);
  if (charged(publicKey, task.id)) return;
  const all = book();
  memory.write("spent", { ...all, [publicKey]: { ...all[publicKey], [task.id]: costOf(task) } });
}

/** What was given so far, for people. @param {string} publicKey */
export function budgetWords(publicKey) {
  const [most, total] = [LIMITS.curator.epsilon / 1e6, LIMITS.total.epsilon / 1e6];
  return words("fact.given", { spent: costWords(spentOn(publicKey)), limit: most, all: costWords(spentInAll()), total });
}
