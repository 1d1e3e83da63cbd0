// @ts-check
/**
 * The form that a task's questions make. It never keeps anybody from answering: an empty or unreadable value counts as
 * the task says, and is pointed at once, so that slips can be corrected before anything is drawn.
 */

import { require, short } from "./basics.js";
import { categoryOf, numberOf } from "./schema.js";
import { el, find } from "./view.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./task.js").Question} Question */
/** @typedef {import("./task.js").Task} Task */

/** @param {number} i */
const fieldId = (i) => `f${i}`;
/** @param {number} i */
const choiceId = (i) => `m${i}`;

/** @param {Question} question @param {number} i @param {URLSearchParams} given */
function showQuestion(question, i, given) {
  const id = fieldId(i);
  const { name, title = name, categories, low, high, number, choice } = question;
  const about = { id, required: "", "aria-describedby": `${id}-hint ${id}-error` };
  let input = el("input", { ...about, inputmode: number ? "numeric" : "decimal", value: number ? given.get(name) ?? "" : undefined });
  if (categories) input = el("select", about, el("option", { value: "" }, "Choose"), ...categories.map((c) => el("option", { value: c }, c)));
  const hint = question.hint ?? (low === undefined ? "" : `a number from ${low} to ${high}`);
  const shown = [el("label", { for: id }, title), input, el("p", { class: "hint", id: `${id}-hint` }, hint), el("p", { class: "error", id: `${id}-error`, hidden: "" })];
  if (choice) shown.push(el("label", { class: "check" }, el("input", { type: "checkbox", id: choiceId(i), checked: "" }), `Keep ${name} private. ${choice}`));
  return shown;
}

/** @param {Task} task @param {URLSearchParams} given by the link @param {(record: Json, mask: boolean[]) => void} submit */
export function showForm(task, given, submit) {
  const fields = task.questions().flatMap((question, i) => showQuestion(question, i, given));
  find("stays").textContent = `${task.stays()} Values beyond a range count as its nearest end.`;
  find("form").replaceChildren(...fields, el("button", { type: "submit" }, "Randomise on this device"));
  find("form").onsubmit = (event) => {
    event.preventDefault();
    submit(...readForm(task));
  };
  find("fill").hidden = false;
}

/** @param {Task} task @returns {[Json, boolean[]]} the record as typed, and what is to be private */
function readForm(task) {
  /** @type {Json} */
  const record = {};
  task.questions().forEach(({ name }, i) => (record[name] = /** @type {HTMLInputElement} */ (find(fieldId(i))).value));
  const mask = task.columns.map((_, j) => /** @type {HTMLInputElement | null} */ (document.getElementById(choiceId(j)))?.checked ?? false);
  return [record, mask];
}

/** What is said of a value that cannot be read; nothing of one that can. @param {Question} question @param {string} value */
function trouble({ categories, unknown, missing, number }, value) {
  if (number) return /^\d{1,15}$/.test(value) ? "" : "enter a whole number";
  if (categories) return categories.includes(/** @type {string} */ (categoryOf(value))) ? "" : `not chosen: counts as ${unknown}`;
  const what = value.trim() ? "not a number" : "empty";
  return Number.isNaN(numberOf(value)) ? `${what}: counts as ${short(/** @type {number} */ (missing))}` : "";
}

let pointedAt = "";

/** Point once at values that cannot be read; when they come again, they are meant. @param {Task} task @param {Json} record */
export function pointAt(task, record) {
  const questions = task.questions();
  const troubles = questions.map((question) => trouble(question, record[question.name]));
  troubles.forEach((message, i) => {
    find(fieldId(i)).setAttribute("aria-invalid", String(message !== ""));
    find(`${fieldId(i)}-error`).textContent = message;
    find(`${fieldId(i)}-error`).hidden = !message;
  });
  const first = troubles.findIndex(Boolean);
  const seen = JSON.stringify(troubles.map((message, i) => message && record[questions[i].name]));
  const must = questions.some((question, i) => question.number && troubles[i]);
  const again = seen === pointedAt && !must;
  pointedAt = seen;
  if (first < 0 || again) return;
  find(fieldId(first)).focus();
  require(false, "Some values are missing or cannot be read; see below. Correct them, or press the button again to have them count as it says there.");
}
