// @ts-check
/**
 * What leaves of a public model's error, in words.
 */

import { percent } from "./basics.js";
import { range, words } from "./language.js";

/** @typedef {{randomizer: string, joint: {leaves: number, odds: number[], size?: number}[]}} Part */

/** What leaves, of one label or of one of several classes whose messages are alike. @param {Part[]} parts @param {string} target */
export function leavesWords(parts, target) {
  const joint = parts.flatMap((part) => part.joint);
  const trees = range(parts.map((part) => part.joint.length));
  const start = words(trees === "1" ? "task.tree" : "task.trees", { n: trees, groups: range(joint.map((j) => j.leaves)) });
  /** @param {number} i */
  const odds = (i) => range(joint.map((j) => j.odds[i]), percent);
  if (parts[0].randomizer === "levels") return `${start} ${words("task.leaves_levels", { target, p: odds(0) })}`;
  const size = range(joint.map((j) => j.size ?? 0));
  return `${start} ${words("task.leaves_signs", { size, target, p: odds(0), turned: odds(1) })}`;
}
