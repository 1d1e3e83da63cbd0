// @ts-check
/** The fields of a record: a slider with a number beside it, or a list; each with what stands for a missing value. */

import { el, plain } from "./words.js";

const SLIDES = 200; // steps of a slider: a phone is 375 pixels wide

/** @typedef {{read: () => number | null, reset: () => void}} Field */

/** @param {any} column @param {number} index @param {Element} into @param {() => void} changed @returns {Field} */
export function field(column, index, into, changed) {
  const name = column.unit ? `${column.name} (${column.unit})` : column.name;
  const set = el("fieldset", {}, el("legend", {}, name));
  into.append(set);
  return column.kind === "text" ? choice(column, index, set, changed) : number(column, index, set, changed);
}

/** @param {any} column @param {number} index @param {any} set @param {() => void} changed @returns {Field} */
function choice(column, index, set, changed) {
  const list = el("select", { id: `f${index}`, "aria-label": column.name });
  column.keys.forEach((/** @type {string} */ key, /** @type {number} */ at) => list.append(el("option", { value: String(at) }, key || "(empty)")));
  list.append(el("option", { value: "-1" }, "(any other)"), el("option", { value: "" }, "(missing)"));
  list.addEventListener("change", changed);
  set.append(list);
  return {
    read: () => (list.value === "" ? null : Number(list.value)),
    reset: () => (list.selectedIndex = 0),
  };
}

/** The step of a slider between two ends. @param {any} column */
export function stepOf(column) {
  const width = column.high - column.low;
  const whole = column.whole || (width >= SLIDES && Number.isInteger(column.low) && Number.isInteger(column.high));
  return whole ? Math.max(1, Math.round(width / SLIDES)) : width / SLIDES;
}

/** @param {any} column @param {number} index @param {any} set @param {() => void} changed @returns {Field} */
function number(column, index, set, changed) {
  const box = el("input", { id: `f${index}`, type: "number", step: "any", inputmode: "decimal", "aria-label": column.name });
  const pair = el("div", { class: "pair" });
  const gone = el("input", { type: "checkbox", id: `m${index}` });
  const slides = column.low !== null && column.high !== null && column.high > column.low;
  const slider = el("input", { type: "range", "aria-label": `${column.name}, slider` });
  if (slides) {
    for (const [key, value] of Object.entries({ min: column.low, max: column.high, step: stepOf(column) })) slider.setAttribute(key, String(value));
    slider.addEventListener("input", () => {
      // Where the last step does not reach the end, the end is meant by its neighbour.
      box.value = Number(slider.value) + stepOf(column) > column.high ? String(column.high) : String(Number(Number(slider.value).toPrecision(6)));
      changed();
    });
    pair.append(slider);
  }
  pair.append(box);
  box.addEventListener("input", () => {
    slider.value = box.value;
    changed();
  });
  gone.addEventListener("change", () => {
    box.disabled = gone.checked;
    slider.disabled = gone.checked;
    changed();
  });
  set.append(pair);
  if (slides) set.append(el("p", { class: "note" }, `${plain(column.low, 6)} to ${plain(column.high, 6)}; beyond counts as the nearest end`));
  if (column.missing !== null || column.indicator || slides) set.append(el("label", {}, gone, " missing"));
  return {
    read: () => (gone.checked || box.value === "" ? null : Number(box.value)),
    reset: () => {
      gone.checked = false;
      box.disabled = slider.disabled = false;
      box.value = String(Number(column.start.toPrecision(6)));
      slider.value = box.value;
    },
  };
}
