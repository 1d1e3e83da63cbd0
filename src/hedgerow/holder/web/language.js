// @ts-check
/**
 * The language of the page: texts.js has all texts (made of the files in hedgerow/holder/texts, one a language), so that
 * a switch asks the server for nothing, and tells it nothing.
 */

import { TEXTS } from "./texts.js";

/** What is spoken, and the whole tag that was asked for ("de-CH"), by which questions are chosen. */
const spoken = { name: "en", tag: "en" };

/** Names and own names of the languages. @returns {[string, string][]} */
export const languages = () => Object.entries(TEXTS).map(([name, texts]) => [name, texts.language]);

export const language = () => spoken.name;
export const tag = () => spoken.tag;

/** The first of some tags that there are texts in, else English. @param {readonly string[]} tags */
export function speak(tags) {
  const found = tags.find((wanted) => Object.hasOwn(TEXTS, wanted.split("-")[0]));
  spoken.tag = found ?? "en";
  spoken.name = spoken.tag.split("-")[0];
}

/** A text with its values filled in. @param {string} key @param {{[name: string]: string | number}} [values] */
export const words = (key, values = {}) => TEXTS[spoken.name][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** "3", or "3 to 8". @param {number[]} values @param {(value: number) => string} [show] */
export function range(values, show = String) {
  const [least, most] = [show(Math.min(...values)), show(Math.max(...values))];
  return least === most ? least : words("task.to", { least, most });
}

/** The decimal sign. */
export const decimal = () => TEXTS[spoken.name].decimal;

/** A number as the language writes it, without signs between thousands. @param {number} value */
export const showNumber = (value) => String(Number(value.toPrecision(12))).replace(".", decimal());

/** Put the texts of the language where the page has a place for them. */
export function showTexts() {
  document.documentElement.lang = spoken.name;
  for (const place of document.querySelectorAll("[data-text]")) place.textContent = words(/** @type {string} */ (place.getAttribute("data-text")));
}
