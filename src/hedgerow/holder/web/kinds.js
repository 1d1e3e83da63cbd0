// @ts-check
/**
 * The one registry of kinds of task: by the format that a task's content names.
 */

import { AssistedTask } from "./assisted.js";
import { AssistedClassTask } from "./assisted_classes.js";
import { require, sha256 } from "./basics.js";
import { FirstTask } from "./first_round.js";
import { LabelTask } from "./labels.js";
import { PilotTask } from "./pilot.js";
import { parsePublished } from "./reader.js";
import { ResidualTask } from "./residual.js";
import { SecondTask } from "./second_round.js";
import { SumsTask } from "./sums.js";
import { LocalTask } from "./tree.js";

/** @typedef {import("./task.js").Task} Task */

const KINDS = new Map([LocalTask, LabelTask, FirstTask, SecondTask, ResidualTask, AssistedTask, AssistedClassTask, PilotTask, SumsTask].map((kind) => [kind.format, kind]));

/**
 * A task with its id and digest, ready to answer. The id is the SHA-256 of the text, whatever the text claims.
 * @param {string} text @returns {Promise<Task>}
 */
export async function readTask(text) {
  const content = parsePublished(text);
  const kind = KINDS.get(/** @type {string} */ (content.get("format")));
  require(kind, "this page does not know this kind of task; use the command line");
  return kind.read(content, await sha256(text));
}
