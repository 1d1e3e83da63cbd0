// @ts-check
/**
 * The holder's side in a browser: plain modules, no dependencies. Nothing leaves the page but the body that `send` posts.
 *
 * From below: basics, reader (the one strict reader), exact (samplers), schema (values), mechanisms and
 * label_mechanisms and joint, partition and portable (what runs on the device), odds; task (what every kind is), one
 * module a kind, kinds (their registry); announcement; memory, budget, device; view, form and this, the page. A report
 * has the bytes that Python makes from the same random bytes: shared vectors prove it.
 */

import { countersigned, readAnnouncement } from "./announcement.js";
import { fromHex, HolderError, require } from "./basics.js";
import { draw, keptReport, keptSecrets, send } from "./device.js";
import { pointAt, showForm } from "./form.js";
import { language, languages, showTexts, speak, words } from "./language.js";
import { remembered } from "./memory.js";
import { el, find, say, showReport, showTask } from "./view.js";

export { countersigned, readAnnouncement } from "./announcement.js";
export { fromHex, HolderError, percent, toHex } from "./basics.js";
export { checkBudget, charge, costOf, spentInAll, spentOn } from "./budget.js";
export { draw, send } from "./device.js";
export { GivenSource } from "./exact.js";
export { readTask } from "./kinds.js";
export { speak } from "./language.js";
export { seal } from "./hpke.js";
export { shard } from "./prio3.js";
export { floatText } from "./reader.js";
export { readNumber } from "./typed.js";

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
  const accepted = kept.state === "accepted";
  const show = () => {
    showReport(task, body, truth, record, keptSecrets(task));
    find("send").textContent = keptReport(task.id).state === "accepted" ? words("page.again") : words("page.send", { n: body.length });
  };
  state.show = show;
  show();
  find("review").focus();
  find("send").onclick = () => void guarded(() => deliver(state));
  say(words(accepted ? "page.has" : truth ? "page.drawn" : "page.waiting"));
}

/** @param {State} state */
async function deliver(state) {
  const button = /** @type {HTMLButtonElement} */ (find("send"));
  button.disabled = true;
  say(words("page.sending"));
  try {
    const receipt = await send({ ...state, token: state.given.get("token") ?? undefined });
    say(words(receipt.accepted ? "page.thanks" : "page.had"));
  } finally {
    button.disabled = false;
    button.textContent = words("page.again");
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

/** Whether both servers of a task have agreed to it, as far as this browser can tell. @param {State["task"]} task @param {string} base @param {string} id */
async function agreed(task, base, id) {
  require(base === task.origin, `This task is answered at ${task.origin}. Open it there.`);
  const response = await fetch(`${base}/v1/tasks/${id}/witnesses`, { credentials: "omit", headers: { Accept: "application/json" } });
  require(response.ok, "The servers of this task do not say that they have agreed to it. Do not answer it.");
  return countersigned(task, await response.json());
}

/** @param {Location} place */
async function start(place) {
  const found = place.pathname.match(/^(.*)\/join\/([0-9a-f]{64})\/?$/);
  require(found, "This link does not name a task.");
  require(globalThis.crypto?.subtle, "This browser hides its cryptography from pages without https. Open the link with https.");
  const [base, id] = [`${place.origin}${found[1]}`, found[2]];
  const response = await fetch(`${base}/v1/tasks/${id}`, { credentials: "omit", headers: { Accept: "application/json" } });
  require(response.ok, response.status === 404 ? "There is no such task here." : `The server answered ${response.status}; try again later.`);
  const closed = response.headers.has("Hedgerow-Closed");
  const read = await readAnnouncement(await response.text(), id);
  if (read.task.witnesses().length) read.checked &&= await agreed(read.task, base, id);
  const seen = remembered(`key:${base}`);
  require(!seen || seen === read.notice.public_key, "This address used another key before. Do not answer; ask the curator by another way what happened.");
  const given = new URLSearchParams(place.hash.slice(1));
  if (place.hash) history.replaceState(null, "", place.pathname); // a token is not for the history
  /** @type {State} */
  const state = { ...read, base, given, known: seen !== null, closed, show: () => {} };
  showTask(state);
  const saySo = () => (read.checked ? say(words("page.checked")) : say(words("page.unchecked"), "warn"));
  saySo();
  offerLanguages(() => {
    showTask(state);
    state.show();
  });
  state.show = () => {
    saySo();
    if (closed) return say(words("page.ended"), "bad");
    showForm(state.task, given, (record, mask) => void guarded(() => answer(state, record, mask)));
  };
  if (keptReport(id)) review(state);
  else state.show();
}

/** The switch of languages: all texts are here already, so that nobody is told. @param {() => void} show again */
function offerLanguages(show) {
  const chosen = /** @type {HTMLSelectElement} */ (find("language"));
  chosen.replaceChildren(...languages().map(([name, own]) => el("option", { value: name, lang: name, selected: name === language() ? "" : undefined }, own)));
  chosen.onchange = () => {
    speak([chosen.value]);
    showTexts();
    show();
  };
}

if (typeof document !== "undefined" && document.getElementById("form")) {
  speak(navigator.languages ?? [navigator.language]);
  showTexts();
  void guarded(() => start(location));
}
