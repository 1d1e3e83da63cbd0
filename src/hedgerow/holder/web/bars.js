// @ts-check
/**
 * The picture of an answer, for people who have never heard of it: bars, and words that say the same.
 */

import { percent } from "./basics.js";
import { decimal, showNumber, words } from "./language.js";
import { el } from "./view.js";

/** @typedef {import("./picture.js").Bar} Bar */
/** @typedef {import("./picture.js").Panel} Panel */

/** @param {number} chance */
const share = (chance) => percent(chance).replace(".", decimal());
/** @param {number} value */
const brief = (value) => showNumber(Number(value.toPrecision(5)));
/** @param {Panel} panel @param {Bar} bar */
const chanceOf = (panel, bar) => (panel.kind === "named" ? bar.chance * bar.count : bar.chance);

/** What a bar stands for. @param {Panel} panel @param {Bar} bar */
function barWords(panel, { what, chance, count, low, high }) {
  if (what === "value") {
    const [from, to] = [brief(low), brief(high)];
    return from === to ? words("picture.value", { low: from }) : words("picture.span", { low: from, high: to });
  }
  if (what === "other" && panel.kind === "named" && count === 1) return words("picture.other_one");
  const suffix = what !== "own" && what !== "other" ? "" : { marked: "_marked", told: "_told", named: "", values: "" }[panel.kind];
  return words(`picture.${what}${suffix}`, { n: count, each: share(chance) });
}

/** Whether it was sent, or how many were. @param {Bar} bar */
function sentWords({ what, sent, count }) {
  if (count > 1 && what === "other" && sent !== 1) return words("picture.some", { m: sent, n: count });
  return words(sent ? "picture.sent" : "picture.not_sent");
}

/** A few bars below each other, each with its words: a list that is read out as it is seen. @param {Panel} panel */
function showRows(panel) {
  const most = Math.max(...panel.bars.map((bar) => chanceOf(panel, bar)), 1e-12);
  return panel.bars.map((bar) => {
    const chance = chanceOf(panel, bar);
    const drawn = el("rect", { class: bar.sent ? "bar sent" : "bar", x: 0, y: 0, height: 10, width: (100 * chance) / most });
    const picture = el("svg", { class: "row", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, drawn);
    const text = el("span", { class: bar.sent ? "was" : "" }, barWords(panel, bar), ` · ${share(chance)} · `, el("strong", {}, sentWords(bar)));
    return el("li", {}, text, picture);
  });
}

/** Many bars side by side; what they say is in one sentence. @param {Panel} panel */
function showColumns(panel) {
  const { bars } = panel;
  const truth = panel.truth ?? 0;
  const most = Math.max(...bars.map((bar) => bar.chance));
  const sent = /** @type {Bar} */ (bars.find((bar) => bar.sent));
  const [left, right] = [bars[0].low, bars[bars.length - 1].high];
  const at = right > left ? ((truth - left) / (right - left)) * (bars.length - 1) + 0.5 : 0.5;
  const columns = bars.map((bar, i) => el("rect", { class: bar.sent ? "bar sent" : "bar", x: i + 0.06, width: 0.88, y: 100 - (96 * bar.chance) / most, height: (96 * bar.chance) / most }));
  const line = el("line", { class: "mine", x1: at, x2: at, y1: 0, y2: 100, "vector-effect": "non-scaling-stroke" });
  const text = words("picture.truth", { truth: brief(truth), sent: barWords(panel, sent), chance: share(sent.chance) });
  const picture = el("svg", { viewBox: `0 0 ${bars.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": text }, ...columns, line);
  const axis = el("div", { class: "axis", "aria-hidden": "true" }, el("span", {}, brief(left)), el("span", {}, brief(right)));
  return [picture, axis, el("figcaption", {}, text)];
}

/** @param {Panel[]} panels @param {string} name of the label @returns {Node[]} */
export function showPicture(panels, name) {
  const shown = panels.filter((panel) => panel.bars.length);
  if (!shown.length) return [];
  const figures = shown.map((panel) => {
    const title = el("h4", {}, words(`picture.${panel.kind}`, { name: panel.error ? words("picture.error", { name }) : name }));
    return panel.kind === "values" ? el("figure", {}, title, ...showColumns(panel)) : el("figure", {}, title, el("ul", { class: "bars" }, ...showRows(panel)));
  });
  return [el("h3", {}, words("picture.title")), el("p", {}, words("picture.intro")), ...figures];
}
