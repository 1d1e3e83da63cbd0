// @ts-check
/**
 * How people are asked for a value, as the task says it: unit, question by language, and whether a number is whole, or
 * 0 and 1 for no and yes. Whoever wrote that may be an enemy of who reads it: the limits are those of Python
 * (hedgerow.wording, where they are derived), and the words only ever become text.
 */

import { fields, insist, text, word } from "./reader.js";

/** @typedef {import("./task.js").Question} Question */
/** @typedef {"" | "whole number" | "yes/no"} Kind */
/** @typedef {{name: string, kind: Kind, unit: string, question: Map<string, string>}} Wording */

const LONGEST_UNIT = 40;
const LONGEST_QUESTION = 480;
const MOST_LANGUAGES = 24;
const LONGEST_LANGUAGE = 35;
const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/u;

/** A text of one line that is not too long. @param {unknown} value @param {number} most */
function line(value, most) {
  const found = text(value, "words");
  insist([...found].length <= most && !HIDDEN.test(found), "words");
  return found;
}

/** @param {unknown} value @returns {Wording} */
function readWording(value) {
  const found = fields(value, "words", ["name", "kind", "unit", "question"]);
  const kind = word(found.kind, "words", /** @type {const} */ (["", "whole number", "yes/no"]));
  insist(found.question instanceof Map && found.question.size <= MOST_LANGUAGES, "words");
  for (const [language, asked] of found.question) {
    insist(language.length <= LONGEST_LANGUAGE && LANGUAGE.test(language), "words");
    insist(line(asked, LONGEST_QUESTION), "words");
  }
  const unit = line(found.unit, LONGEST_UNIT);
  insist(kind || unit || found.question.size, "words");
  return { name: text(found.name, "words"), kind, unit, question: found.question };
}

/** What a task says of its questions: in their order, each once, and numbers only are called whole or yes and no. @param {unknown} value @param {Question[]} questions @returns {Map<string, Wording>} */
export function readAsking(value, questions) {
  insist(Array.isArray(value), "words");
  const words = value.map(readWording);
  const asked = questions.filter((question) => !question.number);
  const places = words.map(({ name }) => asked.findIndex((question) => question.name === name));
  insist(places.every((place, i) => place > (i ? places[i - 1] : -1)), "words");
  words.forEach(({ kind }, i) => {
    const { low, high, categories } = asked[places[i]];
    insist(!kind || !categories, "words");
    insist(kind !== "yes/no" || (low === 0 && high === 1), "words");
  });
  return new Map(words.map((wording) => [wording.name, wording]));
}

/** The question in a language; else in English, in any, or the name. @param {Wording | undefined} wording @param {string} name @param {string} language */
export function ask(wording, name, language) {
  const questions = wording?.question ?? new Map();
  const wanted = [language, language.split("-")[0], "en", ...[...questions.keys()].sort()];
  return questions.get(wanted.find((tag) => questions.has(tag)) ?? "") ?? name;
}
