// @ts-check
/**
 * The holder's side of a browser, without the page: draw once, keep, pay, send, and send the same again if need be.
 */

import { fromBase64url } from "./announcement.js";
import { HolderError, fromHex, join, require, toBase64url, toHex } from "./basics.js";
import { blind, drawBlinding, finalize, packBlinding, unpackBlinding } from "./blind.js";
import { charge, charged, checkBudget } from "./budget.js";
import { SecureSource } from "./exact.js";
import { language, words } from "./language.js";
import * as memory from "./memory.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./announcement.js").Notice} Notice */
/** @typedef {import("./task.js").Task} Task */
/** @typedef {{task: Task, notice: Notice, closed?: boolean}} Invitation a closed one is said to be, by the server */

const MEDIA_TYPE = "application/vnd.hedgerow.reports+bin; version=1";
const MOST_WAIT = 60; // seconds between two attempts, whatever a server says; by hand
const AGAIN = [408, 425, 429, 500, 502, 503, 504];

/** @param {number} seconds */
export const when = (seconds) => new Date(seconds * 1000).toLocaleString(language() === "en" ? "en-GB" : language(), { dateStyle: "long", timeStyle: "short" });

/** The report to a task, as it was drawn; null if it never was. @param {string} id */
export const keptReport = (id) => memory.read(`report:${id}`);

/** What this browser kept of the first round of a task. @param {Task} task */
export const keptSecrets = (task) => memory.read(`secrets:${task.first ?? task.id}`);

/**
 * Draw the report, once and for all, and remember it before anybody sees it; null if it was drawn before. Both rounds
 * of a task wait for the same lock, so that no two tabs can answer a second round twice.
 * @param {Invitation} invitation @param {Json} record @param {boolean[]} [mask] @returns {Promise<Json | null>} the truth
 */
export async function draw({ task, notice, closed }, record, mask) {
  const now = Date.now() / 1000;
  require(now >= notice.opens, words("page.not_open", { when: when(notice.opens) }));
  require(now < notice.closes, words("page.closed", { when: when(notice.closes) }));
  require(!closed, words("page.ended"));
  checkBudget(task, notice.public_key);
  return memory.alone(task.first ?? task.id, async () => {
    if (keptReport(task.id)) return null;
    const secrets = task.first ? openSecrets(task, notice) : undefined;
    const made = await task.finish(task.privatize(record, new SecureSource(), { mask, secrets }));
    if (secrets) memory.write(`secrets:${task.first}`, { ...secrets, second: task.id });
    if (made.secrets) memory.write(`secrets:${task.id}`, made.secrets);
    memory.write(`report:${task.id}`, { body: toHex(made.body), drawn: Math.floor(now), state: "drawn" });
    return made.truth;
  });
}

/** What the first round left here, if this second round may use it. @param {Task} task @param {Notice} notice */
function openSecrets(task, notice) {
  const secrets = keptSecrets(task);
  require(secrets, "This is a second round, and this browser did not answer the first.");
  require(charged(notice.public_key, /** @type {string} */ (task.first)), "The first round was not sent to this curator from here.");
  require(!secrets.second || secrets.second === task.id, "The second round was answered already under another task.");
  return secrets;
}

/** Book the cost, then post the bytes that were kept; the same ones on every retry. @param {Invitation & {base: string, token?: string}} invitation */
export async function send({ task, notice, closed, base, token }) {
  const name = `report:${task.id}`;
  require(!closed || charged(notice.public_key, task.id), words("page.ended")); // what was paid for may have arrived
  const code = token ?? keptReport(task.id).token;
  require(!notice.tokens || code, "This task takes one report a token: open the whole link that you were sent.");
  const shown = notice.pass_key ? await passFor({ task, notice, base }, code) : code;
  const kept = await memory.alone("spent", async () => {
    charge(task, notice.public_key);
    memory.write(`key:${base}`, notice.public_key);
    const now = keptReport(task.id);
    memory.write(name, { ...now, token: shown, state: now.state === "accepted" ? "accepted" : "ready" });
    return now;
  });
  const receipt = await post(`${base}/v1/tasks/${task.id}/reports`, fromHex(kept.body), shown);
  memory.write(name, { ...keptReport(task.id), state: "accepted" });
  return receipt;
}

/** The pass for a task: what was kept, or the invitation exchanged for one that does not say whose it is. @param {Invitation & {base: string}} invitation @param {string} code */
function passFor({ task, notice, base }, code) {
  const name = `pass:${task.id}`;
  return memory.alone(name, async () => {
    const known = memory.read(name);
    if (known?.pass) return known.pass;
    if (code.startsWith("hp_")) return code;
    const key = fromBase64url(notice.pass_key, 256);
    if (!known) memory.write(name, packBlinding(drawBlinding(key)));
    const kept = unpackBlinding(memory.read(name));
    const message = new TextEncoder().encode(`hedgerow/pass/1\n${task.id}`);
    const headers = { "Content-Type": "application/octet-stream", Authorization: `Bearer ${code}` };
    const said = await ask(`${base}/v1/tasks/${task.id}/passes`, await blind(key, message, kept), headers);
    require(said?.ok, `The server did not take the invitation (${said?.status ?? "no answer"}). Nothing was sent or spent; try again later.`);
    const signature = await finalize(key, message, kept, said.data);
    const pass = `hp_${toBase64url(join([kept.prefix, signature]))}`;
    memory.write(name, { pass }); // and forget the blinding, which alone tells whose it is
    return pass;
  });
}

/** @param {string} url @param {Uint8Array} body @param {string | undefined} token */
async function post(url, body, token) {
  const headers = { "Content-Type": MEDIA_TYPE, Accept: "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const said = await ask(url, body, headers);
  const answer = said ? readJson(said.data) : {};
  if (said?.ok && answer.accepted + answer.duplicates === 1) return answer;
  const failure = answer.failures?.[0]?.code ?? answer.code ?? "";
  const problem = said ? `the server answered ${said.status} ${failure} ${answer.detail ?? answer.title ?? ""}`.trim() : "the server cannot be reached";
  throw new HolderError(`Not acknowledged: ${problem}. The report is kept here; send the same bytes again later.`);
}

/** @param {Uint8Array} data @returns {Json} nothing where it is not JSON */
function readJson(data) {
  try {
    return JSON.parse(new TextDecoder().decode(data)) ?? {};
  } catch {
    return {};
  }
}

/**
 * Post something, again where that may help: the same bytes twice do no harm. A server that is busy says how long to wait.
 * @param {string} url @param {Uint8Array} body @param {Record<string, string>} headers
 * @returns {Promise<{ok: boolean, status: number, data: Uint8Array} | null>} the last answer; null if there was none
 */
async function ask(url, body, headers, attempts = 4) {
  for (let attempt = 1; ; attempt += 1) {
    let said = null;
    let told = 0;
    try {
      const response = await fetch(url, { method: "POST", headers, body: /** @type {BodyInit} */ (body), credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
      told = Math.min(Number(response.headers.get("Retry-After")) || 0, MOST_WAIT);
      said = { ok: response.ok, status: response.status, data: new Uint8Array(await response.arrayBuffer()) };
    } catch {
      // no answer, or half of one: what was sent may have arrived
    }
    if (attempt === attempts || (said && !AGAIN.includes(said.status))) return said;
    await new Promise((done) => setTimeout(done, Math.max(400 * 2 ** attempt, 1000 * told)));
  }
}
