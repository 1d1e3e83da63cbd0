// @ts-check
/**
 * The holder's side in a browser: plain modules, no dependencies. Nothing leaves the page but the body that `send` posts.
 *
 * From below: basics, reader (the one strict reader), exact (samplers), schema (values), mechanisms and
 * label_mechanisms and joint, partition and portable (what runs on the device), odds; task (what every kind is), one
 * module a kind, kinds (their registry); announcement; memory, budget, device; view, form and this, the page. A report
 * has the bytes that Python makes from the same random bytes: shared vectors prove it.
 */

import { readAnnouncement } from "./announcement.js";
import { fromHex, HolderError, require } from "./basics.js";
import { draw, keptReport, keptSecrets, send } from "./device.js";
import { pointAt, showForm } from "./form.js";
import { remembered } from "./memory.js";
import { find, say, showReport, showTask } from "./view.js";

export { readAnnouncement } from "./announcement.js";
export { fromHex, HolderError, percent, toHex } from "./basics.js";
export { checkBudget, charge, costOf, spentInAll, spentOn } from "./budget.js";
export { draw, send } from "./device.js";
export { GivenSource } from "./exact.js";
export { readTask } from "./kinds.js";
export { floatText } from "./reader.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./view.js").State} State */

/** Draw the report, if there is none, and show it. @param {State} state @param {Json} record @param {boolean[]} mask */
async function answer(state, record, mask) {
  pointAt(state.task, record);
  const truth = await draw(state, record, mask);
  review(state, truth ?? undefined, record);
}

/** @param {State} state @param {Json} [truth] @param {Json} [record] */
function review(state, truth, record = {}) {
  const { task } = state;
  const kept = keptReport(task.id);
  const body = fromHex(kept.body);
  showReport(task, body, truth, record, keptSecrets(task));
  const accepted = kept.state === "accepted";
  find("send").textContent = accepted ? "Send the same bytes again" : `Send these ${body.length} bytes`;
  find("send").onclick = () => void guarded(() => deliver(state));
  const fresh = truth ? "Drawn, and kept in this browser. Nothing has been sent yet." : "A report to this task is kept here. It has not been acknowledged yet.";
  say(accepted ? "The curator has this report already." : fresh);
}

/** @param {State} state */
async function deliver(state) {
  const button = /** @type {HTMLButtonElement} */ (find("send"));
  button.disabled = true;
  say("Sending.");
  try {
    const receipt = await send({ ...state, token: state.given.get("token") ?? undefined });
    say(receipt.accepted ? "The curator has your report. Thank you." : "The curator had this very report already; it counts once.");
  } finally {
    button.disabled = false;
    button.textContent = "Send the same bytes again";
  }
}

/** Say what went wrong instead of failing in silence. @param {() => Promise<void>} work */
async function guarded(work) {
  try {
    await work();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "bad");
    if (!(error instanceof HolderError)) console.error(error);
  }
}

/** @param {Location} place */
async function start(place) {
  const found = place.pathname.match(/^(.*)\/join\/([0-9a-f]{64})\/?$/);
  require(found, "This link does not name a task.");
  require(globalThis.crypto?.subtle, "This browser hides its cryptography from pages without https. Open the link with https.");
  const [base, id] = [`${place.origin}${found[1]}`, found[2]];
  const response = await fetch(`${base}/v1/tasks/${id}`, { credentials: "omit", headers: { Accept: "application/json" } });
  require(response.ok, response.status === 404 ? "There is no such task here." : `The server answered ${response.status}; try again later.`);
  const read = await readAnnouncement(await response.text(), id);
  const seen = remembered(`key:${base}`);
  require(!seen || seen === read.notice.public_key, "This address used another key before. Do not answer; ask the curator by another way what happened.");
  const given = new URLSearchParams(place.hash.slice(1));
  if (place.hash) history.replaceState(null, "", place.pathname); // a token is not for the history
  const state = { ...read, base, given, known: seen !== null };
  showTask(state);
  if (!read.checked) say("This browser cannot check the signature of this task. See below before you answer.", "warn");
  else say("The task was checked: it is as its curator signed it.");
  if (keptReport(id)) review(state);
  else showForm(state.task, given, (record, mask) => void guarded(() => answer(state, record, mask)));
}

if (typeof document !== "undefined" && document.getElementById("form")) void guarded(() => start(location));
