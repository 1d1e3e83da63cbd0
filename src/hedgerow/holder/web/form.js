// @ts-check
/**
 * The form that a task's questions make, in the holder's language. It never keeps anybody from answering: an empty or
 * unreadable value, or one out of range, counts as the task says, which is shown at once; only what can be read in two
 * ways has to be written in another.
 */

import { HolderError } from "./basics.js";
import { decimal, showNumber, tag, words } from "./language.js";
import { categoryOf, inputsOf, numberOf } from "./schema.js";
import { readNumber } from "./typed.js";
import { el, find } from "./view.js";
import { ask } from "./wording.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./task.js").Question} Question */
/** @typedef {import("./task.js").Task} Task */
/** @typedef {{text: string, must: boolean}} Note */

/** @param {number} i */
const fieldId = (i) => `f${i}`;
/** @param {number} i */
const choiceId = (i) => `m${i}`;

/** @param {Task} task @param {string} name */
const kindOf = (task, name) => task.asking.get(name)?.kind ?? "";

/** A number within the range, to show how one is written. @param {number} low @param {number} high @param {boolean} whole */
function exampleOf(low, high, whole) {
  const third = low + (high - low) / 3;
  const found = whole ? Math.round(third) : Number(third.toPrecision(3));
  return found >= low && found <= high ? found : low;
}

/** Which values there are, with unit and example. @param {Task} task @param {Question} question */
function hintOf(task, { name, low, high, categories, number }) {
  if (number) return words("hint.record");
  const kind = kindOf(task, name);
  if (categories || kind === "yes/no" || low === undefined || high === undefined) return "";
  const whole = kind === "whole number";
  const unit = task.asking.get(name)?.unit;
  const range = words(whole ? "hint.whole" : "hint.range", { low: showNumber(low), high: showNumber(high) });
  const example = words("hint.example", { example: showNumber(exampleOf(low, high, whole)) });
  return [range, ...(unit ? [words("hint.unit", { unit })] : []), example].join(", ");
}

/** What a list offers: value and word. @param {Task} task @param {Question} question @returns {[string, string][] | null} */
function choicesOf(task, { name, categories }) {
  if (categories) return categories.map((category) => [category, category]);
  return kindOf(task, name) === "yes/no" ? [["0", words("no")], ["1", words("yes")]] : null;
}

/** @param {Task} task @param {Question} question @param {number} i @param {string} value */
function showQuestion(task, question, i, value) {
  const id = fieldId(i);
  const { name, number, choice } = question;
  const title = number ? words("hint.record_title") : ask(task.asking.get(name), name, tag());
  const about = { id, required: "", "aria-describedby": `${id}-hint ${id}-error` };
  const choices = choicesOf(task, question);
  let input = el("input", { ...about, inputmode: number ? "numeric" : "decimal", value });
  if (choices) input = el("select", about, el("option", { value: "" }, words("hint.choose")), ...choices.map(([c, word]) => el("option", { value: c, selected: c === value ? "" : undefined }, word)));
  // While it is typed, not when it is left: words that appear as the button is pressed would move it away.
  input.addEventListener("input", () => showNote(task, question, i));
  const shown = [el("label", { for: id }, title), input, el("p", { class: "hint", id: `${id}-hint` }, hintOf(task, question)), el("p", { class: "error", id: `${id}-error`, hidden: "" })];
  if (choice) shown.push(el("label", { class: "check" }, el("input", { type: "checkbox", id: choiceId(i), checked: "" }), words("page.keep", { name })));
  return shown;
}

/** What is typed now. @param {number} i */
const typed = (i) => /** @type {HTMLInputElement | null} */ (document.getElementById(fieldId(i)))?.value ?? "";

/** @param {Task} task @param {URLSearchParams} given by the link @param {(record: Json, mask: boolean[]) => void} submit */
export function showForm(task, given, submit) {
  const kept = task.questions().map(({ name, number }, i) => typed(i) || (number ? given.get(name) ?? "" : ""));
  const fields = task.questions().flatMap((question, i) => showQuestion(task, question, i, kept[i]));
  find("stays").textContent = `${task.stays()} ${words("page.beyond")}`;
  find("form").replaceChildren(...fields, el("button", { type: "submit" }, words("page.randomise")));
  find("form").onsubmit = (event) => {
    event.preventDefault();
    submit(...readForm(task));
  };
  find("fill").hidden = false;
}

/** A value as tasks read it; as it is if it can be read in two ways. @param {Question} question @param {string} value */
const read = ({ categories, number }, value) => (categories || number ? value : readNumber(value, decimal()) ?? value);

/** @param {Task} task @returns {[Json, boolean[]]} the record, and what is to be private */
function readForm(task) {
  /** @type {Json} */
  const record = {};
  task.questions().forEach((question, i) => (record[question.name] = read(question, typed(i))));
  const mask = inputsOf(task.columns).map((_, j) => /** @type {HTMLInputElement | null} */ (document.getElementById(choiceId(j)))?.checked ?? false);
  return [record, mask];
}

/** What becomes of a value that is not simply taken as it is. @param {Task} task @param {Question} question @param {string} value as typed @returns {Note} */
export function noteOf(task, question, value) {
  const { name, categories, unknown = "", missing = 0, number, low = 0, high = 0 } = question;
  /** @param {string} text */
  const note = (text) => ({ text, must: false });
  if (number) return /^\d{1,15}$/.test(value) ? note("") : { text: words("note.record"), must: true };
  if (categories) {
    if (categories.includes(/** @type {string} */ (categoryOf(value)))) return note("");
    return note(value ? words("note.unknown", { value, other: unknown }) : words("note.not_chosen", { value: String(missing) }));
  }
  const found = readNumber(value, decimal());
  if (found === null) return { text: words("note.unclear", { value: value.trim(), decimal: decimal() }), must: true };
  const x = numberOf(found);
  if (Number.isNaN(x)) return note(words(value.trim() ? "note.no_number" : "note.empty", { value: showNumber(/** @type {number} */ (missing)) }));
  if (x > high) return note(words("note.above", { value: showNumber(x), end: showNumber(high) }));
  if (x < low) return note(words("note.below", { value: showNumber(x), end: showNumber(low) }));
  return note(kindOf(task, name) && !Number.isInteger(x) ? words("note.not_whole", { value: showNumber(x) }) : "");
}

/** @param {Task} task @param {Question} question @param {number} i */
function showNote(task, question, i) {
  const note = noteOf(task, question, typed(i));
  find(fieldId(i)).setAttribute("aria-invalid", String(note.text !== ""));
  find(`${fieldId(i)}-error`).textContent = note.text;
  find(`${fieldId(i)}-error`).hidden = !note.text;
  return note;
}

let pointedAt = "";

/** Point once at values that are not simply taken; when they come again, they are meant. @param {Task} task @param {Json} record */
export function pointAt(task, record) {
  const notes = task.questions().map((question, i) => showNote(task, question, i));
  const first = notes.findIndex((note) => note.text);
  const seen = JSON.stringify(notes.map((note, i) => note.text && typed(i)));
  const must = notes.some((note) => note.must);
  const again = seen === pointedAt && !must;
  pointedAt = seen;
  if (first < 0 || again) return;
  find(fieldId(must ? notes.findIndex((note) => note.must) : first)).focus();
  throw new HolderError(words(must ? "page.must" : "page.correct"));
}
