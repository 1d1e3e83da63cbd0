// @ts-check
/**
 * The page's elements, and what they show of a task and of a report.
 */

import { showPicture } from "./bars.js";
import { epsilonParts, percent, toHex } from "./basics.js";
import { budgetWords } from "./budget.js";
import { when } from "./device.js";
import { tag, words } from "./language.js";
import { ask } from "./wording.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./announcement.js").Notice} Notice */
/** @typedef {import("./odds.js").Row} Row */
/** @typedef {import("./task.js").Part} Part */
/** @typedef {import("./task.js").Task} Task */
/** @typedef {{task: Task, notice: Notice, fingerprint: string, passes: string, checked: boolean, base: string, given: URLSearchParams, known: boolean, closed: boolean, show: () => void}} State */

const DRAWN = ["svg", "rect", "line"];

/** Words from the curator only ever become text, never markup. @param {string} tag @param {Json} [attributes] @param {...(Node | string)} children */
export function el(tag, attributes = {}, ...children) {
  const made = DRAWN.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** @param {string} id */
export const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} text @param {"" | "warn" | "bad"} [mood] */
export function say(text, mood = "") {
  find("status").className = `notice ${mood}`;
  find("status").textContent = text;
}

/** Epsilon in words. @param {number} epsilon @param {number} delta */
function strength(epsilon, delta) {
  const { factor, most } = epsilonParts(epsilon);
  return delta ? words("fact.delta", { factor, delta }) : words("fact.epsilon", { factor, most: percent(most) });
}

/** Everything that a person should know before answering. @param {State} state */
export function showTask({ notice, task, fingerprint, passes, checked, known }) {
  const title = notice.title || words("page.question");
  document.title = words("page.title", { title });
  find("title").textContent = title;
  find("by").textContent = words("page.by", { curator: notice.curator || words("page.nameless") });
  const { epsilon, delta } = task;
  const protects = task.protects();
  const asked = task.questions().filter((question) => !question.number).map(({ name }) => ask(task.asking.get(name), name, tag()));
  const model = task.model();
  /** @type {[string, (Node | string)[]][]} */
  const facts = [
    ["purpose", [notice.purpose || words("fact.no_purpose")]],
    ["asked", [asked.join(", "), model ? `. ${model}` : ""]],
    ["leaves", [task.leaves()]],
    ["protected", [protects]],
    ["strength", [`Epsilon ${epsilon}${delta ? ` and delta ${delta}` : ""}${task.price()}. ${strength(epsilon, delta)}`]],
    ["learn", [el("ul", {}, ...["averages", "odds", "part"].map((what) => el("li", {}, words(`fact.learn_${what}`))))]],
    ["cannot", [delta ? words("fact.cannot_more") : words("fact.certain", { protects })]],
    ["so_far", [budgetWords(notice.public_key)]],
    ["open", [words("fact.window", { opens: when(notice.opens), closes: when(notice.closes) }), atMost(notice)]],
  ];
  find("facts").replaceChildren(...facts.flatMap(([term, shown]) => [el("dt", {}, words(`fact.${term}`)), el("dd", {}, ...shown)]));
  find("signature").replaceChildren(
    el("p", { class: checked ? "" : "notice warn" }, words(checked ? "fact.signed" : "fact.unsigned")),
    el("p", {}, words("fact.key"), " ", el("code", {}, fingerprint), `. ${words(known ? "fact.met" : "fact.unmet")}`),
    el("p", {}, words("fact.task"), " ", el("code", {}, task.id)),
    ...(passes ? [el("p", { id: "passes" }, words("join.passes", { key: passes }))] : []),
  );
  find("about").hidden = false;
}

/** How many reports are taken, where that is limited. @param {Notice} notice */
const atMost = ({ max_reports: most }) => (most ? `; ${words("fact.most", { most: most.toLocaleString(tag()) })}` : "");

/** What is true and what would leave, side by side. @param {Task} task @param {Uint8Array} body @param {Json | undefined} truth @param {Json} record @param {Json | null} kept of a first round */
export function showReport(task, body, truth, record, kept) {
  const { parts, rows, heading, label, words: said } = task.explain(body, truth);
  if (truth) {
    const values = Object.entries(record).flatMap(([name, value]) => showValue(name, String(value), task.inClear(name, truth, kept ?? undefined)));
    const more = task.truths(truth).flatMap(([term, text]) => [el("dt", { lang: "en" }, term), el("dd", { lang: "en" }, text)]);
    find("truth").replaceChildren(...values, ...more);
  } else find("truth").replaceChildren(el("dd", {}, words("page.drawn_before")));
  find("picture").replaceChildren(...(truth ? showPicture(task.picture(body, truth), task.target) : []));
  find("parts").replaceChildren(...parts.map(showPart));
  find("odds").replaceChildren(...showOdds(rows, said, heading), ...(label && !truth ? [el("p", {}, `${label.name} is sent as ${label.value}.`)] : []));
  find("fill").hidden = true;
  find("review").hidden = false;
}

/** @param {string} name @param {string} value @param {boolean} clear */
function showValue(name, value, clear) {
  return [el("dt", {}, name), el("dd", { class: clear ? "clear" : "" }, value, " ", el("span", { class: "tag" }, words(clear ? "page.in_clear" : "page.stays_here")))];
}

/** @param {Part} part */
function showPart({ name, bytes, tag }) {
  const mark = { clear: "in clear", noisy: "randomised", "": "" }[tag];
  const title = el("span", { class: "name" }, name, ...(mark ? [el("span", { class: "tag" }, mark)] : []));
  const hex = toHex(bytes).replace(/..(?=.)/g, "$& ");
  return el("li", { class: tag }, title, el("span", { class: "hex", tabindex: bytes.length > 200 ? "0" : undefined }, hex));
}

/** @param {Row[]} rows @param {string[]} said @param {string} [heading] */
function showOdds(rows, said, heading = "Group") {
  const shown = [el("h3", {}, "The odds"), ...said.map((text) => el("p", {}, text))];
  if (!rows.length) return shown;
  const sorted = [...rows.filter((row) => row.own), ...rows.filter((row) => !row.own)];
  const heads = [heading, "True", "Sent", "Chance of that"].map((text, i) => el("th", { scope: "col", class: i ? "number" : "" }, text));
  const body = sorted.map((row) => {
    const cells = [row.truth, row.sent, row.chance].map((text) => el("td", { class: "number" }, text));
    return el("tr", { class: row.own ? "own" : "" }, el("td", {}, row.own ? `${row.what} (yours)` : row.what), ...cells);
  });
  const caption = el("caption", {}, "Each line: what is true, what is sent, and how probable it was that this would be sent.");
  const table = el("table", {}, caption, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body));
  return [...shown, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The odds, line by line" }, table)];
}
