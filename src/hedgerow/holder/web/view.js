// @ts-check
/**
 * The page's elements, and what they show of a task and of a report.
 */

import { epsilonWords, percent, short, toHex } from "./basics.js";
import { budgetWords } from "./budget.js";
import { when } from "./device.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./announcement.js").Notice} Notice */
/** @typedef {import("./odds.js").Row} Row */
/** @typedef {import("./task.js").Part} Part */
/** @typedef {import("./task.js").Task} Task */
/** @typedef {{task: Task, notice: Notice, fingerprint: string, checked: boolean, base: string, given: URLSearchParams, known: boolean}} State */

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

/** Everything that a person should know before answering. @param {State} state */
export function showTask({ notice, task, fingerprint, checked, known }) {
  document.title = `${notice.title || "A question"}: answer privately`;
  find("title").textContent = notice.title || "A question";
  find("by").textContent = `Asked by ${notice.curator || "somebody without a name"}`;
  const { epsilon, delta, protects } = task;
  const asked = task.questions().filter((question) => !question.number).map((question) => question.name);
  const certain = `For certain, ${protects}: every report can come from any values of that, whatever else anybody knows.`;
  /** @type {[string, (Node | string)[]][]} */
  const facts = [
    ["What for", [notice.purpose || "The curator does not say."]],
    ["What is asked", [asked.join(", "), task.model() ? `. ${task.model()}` : ""]],
    ["What leaves", [task.leaves()]],
    ["What is protected", [protects]],
    ["How strongly", [`Epsilon ${epsilon}${delta ? ` and delta ${delta}` : ""}${task.price()}. ${epsilonWords(epsilon, delta)}`]],
    ["They can learn", [el("ul", {}, el("li", {}, "averages over many people"), el("li", {}, "about you, no more than these odds allow"), el("li", {}, "that you took part, when, and from which network address"))]],
    ["They cannot learn", [delta ? "More than these odds allow, whatever else anybody knows, now or later." : certain]],
    ["So far", [budgetWords(notice.public_key)]],
    ["Open", [`from ${when(notice.opens)} until before ${when(notice.closes)}`]],
  ];
  find("facts").replaceChildren(...facts.flatMap(([term, words]) => [el("dt", {}, term), el("dd", {}, ...words)]));
  const signed = checked ? "The signature was checked in this browser and holds: neither task nor window was changed." : "This browser cannot check Ed25519 signatures, so nobody vouches for this task here. Use a newer browser, or the command line.";
  const met = known ? "This browser has met this key before." : "This browser meets this key for the first time; compare it with what the curator published elsewhere.";
  find("signature").replaceChildren(
    el("p", { class: checked ? "" : "notice warn" }, signed),
    el("p", {}, "Key: ", el("code", {}, fingerprint), `. ${met}`),
    el("p", {}, "Task: ", el("code", {}, task.id), ", the SHA-256 of its text, checked here."),
  );
  find("about").hidden = false;
}

/** What is true and what would leave, side by side. @param {Task} task @param {Uint8Array} body @param {Json | undefined} truth @param {Json} record @param {Json | null} kept of a first round */
export function showReport(task, body, truth, record, kept) {
  const { parts, rows, heading, label, words } = task.explain(body, truth);
  if (truth) {
    const values = Object.entries(record).flatMap(([name, value]) => showValue(name, String(value), task.inClear(name, truth, kept ?? undefined)));
    const more = task.truths(truth).flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]);
    find("truth").replaceChildren(...values, ...more);
  } else find("truth").replaceChildren(el("dd", {}, "This report was drawn before. Your values were not kept, and whatever they are now, the same bytes are used: answering again tells nothing more."));
  find("parts").replaceChildren(...parts.map(showPart));
  find("odds").replaceChildren(...showOdds(rows, words, heading), ...(label ? showLabel(label) : []));
  find("fill").hidden = true;
  find("review").hidden = false;
  find("review").focus();
}

/** @param {string} name @param {string} value @param {boolean} clear */
function showValue(name, value, clear) {
  return [el("dt", {}, name), el("dd", { class: clear ? "clear" : "" }, value, " ", el("span", { class: "tag" }, clear ? "sent in clear" : "stays here"))];
}

/** @param {Part} part */
function showPart({ name, bytes, tag }) {
  const words = { clear: "in clear", noisy: "randomised", "": "" }[tag];
  const title = el("span", { class: "name" }, name, ...(words ? [el("span", { class: "tag" }, words)] : []));
  const hex = toHex(bytes).replace(/..(?=.)/g, "$& ");
  return el("li", { class: tag }, title, el("span", { class: "hex", tabindex: bytes.length > 200 ? "0" : undefined }, hex));
}

/** @param {Row[]} rows @param {string[]} words @param {string} [heading] */
function showOdds(rows, words, heading = "Group") {
  const shown = [el("h3", {}, "The odds"), ...words.map((text) => el("p", {}, text))];
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

/** A noisy label, with bars for everything that could have been sent. @param {Json} label see odds.js */
function showLabel({ name, value, label, low, high, bars }) {
  const sent = `${name} is sent as ${short(value)}`;
  if (!bars.length) return [el("p", {}, `${sent}.`)];
  const most = Math.max(...bars.map((/** @type {Json} */ bar) => bar.chance));
  const n = bars.length;
  const [left, right] = [bars[0].low, bars[n - 1].high];
  const clipped = Math.min(Math.max(label, low), high);
  const at = right > left ? ((clipped - left) / (right - left)) * (n - 1) + 0.5 : 0.5;
  const columns = bars.map((/** @type {Json} */ bar, /** @type {number} */ i) => {
    const height = (96 * bar.chance) / most;
    return el("rect", { class: bar.sent ? "bar sent" : "bar", x: i + 0.06, width: 0.88, y: 100 - height, height });
  });
  const chance = percent(bars.find((/** @type {Json} */ bar) => bar.sent).chance);
  const text = `Your ${name} is ${short(clipped)} (amber line); ${sent} (green). That bar comes up with probability ${chance}; the other bars show how probable everything else was.`;
  const line = el("line", { class: "mine", x1: at, x2: at, y1: 0, y2: 100, "vector-effect": "non-scaling-stroke" });
  const picture = el("svg", { viewBox: `0 0 ${n} 100`, preserveAspectRatio: "none", role: "img", "aria-label": text }, ...columns, line);
  const axis = el("div", { class: "axis", "aria-hidden": "true" }, el("span", {}, short(left)), el("span", {}, short(right)));
  return [el("figure", {}, el("h3", {}, `What ${name} could have been sent as`), picture, axis, el("figcaption", {}, text))];
}
