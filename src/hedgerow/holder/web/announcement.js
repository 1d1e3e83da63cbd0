// @ts-check
/**
 * The signed envelope of a task: who asks, what for, from when to when.
 */

import { fromBase64, require, sha256, toHex } from "./basics.js";
import { readTask } from "./kinds.js";
import { fields, insist, parsePublished, spell, text, whole } from "./reader.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./task.js").Task} Task */
/** @typedef {{kind: string, title: string, purpose: string, curator: string, task_text: string, opens: number, closes: number, tokens: boolean, pass_key: string, max_reports: number, public_key: string}} Notice */

const NAMES = ["closes", "curator", "format", "kind", "max_reports", "opens", "pass_key", "public_key", "purpose", "signature", "task_text", "title", "tokens", "version"];
const WHAT = "its announcement";
const LATEST = 253402300799; // the last second of the year 9999, beyond which calendars fail
const MOST_REPORTS = 1e12; // as Python has it
const LONGEST = { title: 200, curator: 200, purpose: 2000 };

/** @param {unknown} value @param {number} size */
export function fromBase64url(value, size) {
  const message = "a key or signature of this task is damaged";
  require(typeof value === "string" && /^[\w-]*$/.test(value), message);
  const padded = value.replace(/-/g, "+").replace(/_/g, "/").padEnd(Math.ceil(value.length / 4) * 4, "=");
  const bytes = fromBase64(padded, message);
  require(bytes.length === size, message);
  return bytes;
}

/** A key's name for people, as Python writes it. @param {Uint8Array} key */
export async function fingerprint(key) {
  const digest = toHex(await sha256(key));
  return /** @type {string[]} */ (digest.slice(0, 20).match(/.{4}/g)).join(" ");
}

/** Whether an Ed25519 signature holds; null if this browser cannot tell. @param {Uint8Array} key @param {Uint8Array} signature @param {Uint8Array} data */
async function signatureHolds(key, signature, data) {
  /** @param {Uint8Array} bytes */
  const buffer = (bytes) => /** @type {BufferSource} */ (bytes);
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", buffer(key), { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error instanceof DOMException && error.name === "DataError") return false;
    return null;
  }
  return crypto.subtle.verify({ name: "Ed25519" }, imported, buffer(signature), buffer(data));
}

/**
 * Refuse a task that not all who must have countersigned it have.
 * @param {Task} task @param {Json} signatures by role, in base64url @returns {Promise<boolean>} whether this browser can tell
 */
export async function countersigned(task, signatures) {
  let sure = true;
  for (const { role, key, statement } of task.witnesses()) {
    const holds = await signatureHolds(key, fromBase64url(signatures?.[role], 64), statement);
    require(holds !== false, `the ${role} has not countersigned this task. Do not answer it`);
    sure &&= holds === true;
  }
  return sure;
}

/** @param {Map<string, unknown>} content @returns {Notice} */
function readNotice(content) {
  const found = fields(content, WHAT, NAMES);
  insist(found.format === "hedgerow/announcement" && whole(found.version, WHAT, 0, LATEST) === 1, "another version of an announcement");
  insist(typeof found.tokens === "boolean", WHAT);
  const [opens, closes] = [whole(found.opens, WHAT, 0, LATEST), whole(found.closes, WHAT, 0, LATEST)];
  insist(opens < closes, "its window");
  for (const [name, most] of Object.entries(LONGEST)) insist([...text(found[name], WHAT)].length <= most, WHAT);
  const words = { title: found.title, curator: found.curator, purpose: found.purpose };
  const passKey = text(found.pass_key, WHAT);
  if (passKey) {
    const modulus = fromBase64url(passKey, 256);
    insist(found.tokens && modulus[0] >= 128 && modulus[255] % 2 === 1, "its key for passes");
  }
  const most = whole(found.max_reports, WHAT, 0, MOST_REPORTS);
  return { ...words, opens, closes, tokens: found.tokens, pass_key: passKey, max_reports: most, kind: text(found.kind, WHAT), task_text: text(found.task_text, WHAT), public_key: text(found.public_key, WHAT) };
}

/**
 * Read an announcement: refuse any change, another task than asked for, or unknown fields.
 * @param {string} served @param {string} id
 * @returns {Promise<{notice: Notice, task: Task, fingerprint: string, passes: string, checked: boolean}>}
 */
export async function readAnnouncement(served, id) {
  const content = parsePublished(served);
  const notice = readNotice(content);
  const key = fromBase64url(notice.public_key, 32);
  const signature = fromBase64url(content.get("signature"), 64);
  const signed = new Map(content);
  signed.delete("signature");
  const holds = await signatureHolds(key, signature, new TextEncoder().encode(`hedgerow/announcement/1\n${spell(signed)}`));
  require(holds !== false, "the signature does not hold: the task was changed after it was signed. Do not answer it");
  const task = await readTask(notice.task_text);
  require(task.id === id, "the server sent another task than this link names. Do not answer it");
  require(task.kind === notice.kind, "the announcement names another kind of task");
  const passes = notice.pass_key ? await fingerprint(fromBase64url(notice.pass_key, 256)) : "";
  return { notice, task, fingerprint: await fingerprint(key), passes, checked: holds === true };
}
