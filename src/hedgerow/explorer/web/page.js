// @ts-check
/** The page: fields on one side, what the model makes of them on the other. */

import { added, along, bar, curve } from "./curve.js";
import { encode, evaluate, readSteps } from "./evaluate.js";
import { field } from "./form.js";
import { byId, el, measured, percent, plain, signed } from "./words.js";

const SHOWN = 12; // parts that are listed one by one; the others together: a screen holds no more

const WAIT = 80; // milliseconds after which the curve follows: 41 records are more work than one, and a slider moves fast
/** @type {ReturnType<typeof setTimeout> | undefined} */
let later;

/** What the model says of one record. @param {any} program @param {any[]} steps @param {(number | null)[]} record */
export function answer(program, steps, record) {
  const found = evaluate(steps, encode(program.inputs, record));
  const values = found[program.value];
  const ends = program.ends === null ? null : found[program.ends];
  const parts = program.parts.map((/** @type {any} */ part) => {
    const at = part.place === null ? null : found[part.place][0];
    return { name: part.name, adds: found[part.value], text: at === null ? "" : (part.texts[at] ?? ""), start: part.start };
  });
  return { values, low: ends && ends.slice(0, values.length), high: ends && ends.slice(values.length), parts };
}

export function start() {
  const program = JSON.parse(byId("model").textContent);
  const steps = readSteps(program);
  /** @type {ReturnType<typeof field>[]} */
  const fields = [];
  const update = () => show(program, steps, fields.map((one) => one.read()));
  program.inputs.forEach((/** @type {any} */ column, /** @type {number} */ j) => {
    fields.push(field(column, j, byId("fields"), update));
    byId("along").append(el("option", { value: String(j) }, column.name));
  });
  outputs(program).forEach((name, k) => byId("column").append(el("option", { value: String(k) }, name)));
  byId("column-line").hidden = outputs(program).length < 2;
  byId("column").addEventListener("change", () => {
    byId("column").dataset.chosen = "yes";
    update();
  });
  byId("along").addEventListener("change", update);
  window.addEventListener("resize", update);
  byId("record").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  byId("record").addEventListener("reset", (/** @type {Event} */ event) => {
    event.preventDefault();
    fields.forEach((one) => one.reset());
    update();
  });
  fields.forEach((one) => one.reset());
  byId("parts-section").hidden = program.parts.length === 0;
  update();
}

/** What there are numbers for: classes, or outputs where there are several. @param {any} program @returns {string[]} */
function outputs(program) {
  if (program.classes) return program.classes;
  const n = program.outputs ?? 1;
  return Array.from({ length: n }, (_, k) => (n === 1 ? program.target : `${program.target} ${k + 1}`));
}

/** @param {any} program @param {any[]} steps @param {(number | null)[]} record */
function show(program, steps, record) {
  const now = answer(program, steps, record);
  const list = byId("column");
  const best = now.values.indexOf(Math.max(...now.values));
  if (program.classes && list.dataset.chosen !== "yes") list.value = String(best);
  const k = Number(list.value);
  say(program, now, best);
  byId("range").replaceChildren(...inRange(program, now, k));
  parts(program, now, k);
  clearTimeout(later);
  later = setTimeout(() => move(program, steps, record, k), WAIT);
}

/** @param {any} program @param {any} now @param {number} best */
function say(program, now, best) {
  const level = percent(program.level);
  if (program.classes) {
    byId("prediction").textContent = `${program.classes[best]} (${percent(now.values[best])})`;
    const all = program.classes.map((/** @type {string} */ name, /** @type {number} */ k) => `${name} ${percent(now.values[k])}${now.low ? ` [${percent(now.low[k])}, ${percent(now.high[k])}]` : ""}`);
    byId("interval").textContent = `${all.join("; ")}.${now.low ? ` In brackets: ${level} intervals, for ${program.covers}.` : ""}`;
    return;
  }
  const shown = [...now.values].map((value) => (Number.isNaN(value) ? "no prediction: a value is missing" : measured(value, program.unit)));
  byId("prediction").textContent = shown.join("; ");
  if (!now.low) {
    byId("interval").textContent = "This model does not tell how sure it is.";
    return;
  }
  const ends = [...now.low].map((low, k) => `${plain(low)} to ${plain(now.high[k])}`);
  byId("interval").textContent = `${level} interval: ${ends.join("; ")}, for ${program.covers}.`;
}

/** @param {any} program @param {any} now @param {number} k */
function inRange(program, now, k) {
  const bounds = program.classes ? [0, 1] : program.bounds?.[k];
  if (!bounds || Number.isNaN(now.values[k])) return [];
  const low = now.low ? now.low[k] : now.values[k];
  const high = now.high ? now.high[k] : now.values[k];
  return [bar(low, high, now.values[k], bounds, `The prediction within the range of the label, ${plain(bounds[0])} to ${plain(bounds[1])}.`)];
}

/** @param {any} program @param {any} now @param {number} k */
function parts(program, now, k) {
  const all = now.parts.map((/** @type {any} */ part) => ({ ...part, adds: part.adds.length === 1 ? part.adds[0] : part.adds[k] }));
  if (all.length === 0) return;
  const sorted = all.sort((/** @type {any} */ a, /** @type {any} */ b) => Number(b.start) - Number(a.start) || Math.abs(b.adds) - Math.abs(a.adds));
  const folded = sorted.slice(SHOWN).reduce((sum, part) => sum + part.adds, 0);
  const shown = sorted.slice(0, SHOWN);
  if (sorted.length > SHOWN) shown.push({ name: `${sorted.length - SHOWN} more, together`, adds: folded, text: "", start: false });
  const rest = now.values[k] - sorted.reduce((sum, part) => sum + part.adds, 0);
  if (Math.abs(rest) > 1e-9 * Math.max(1, Math.abs(now.values[k]))) shown.push({ name: "cut to what is possible", adds: rest, text: "", start: false });
  const most = Math.max(...shown.map((part) => (part.start ? 0 : Math.abs(part.adds))));
  const unit = program.classes ? `chance of ${program.classes[k]}` : program.unit || "in the label's unit";
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "part"), el("th", { scope: "col", class: "number" }, "adds"), el("th", { scope: "col" }, "")));
  const rows = shown.map((part) =>
    el("tr", {}, el("th", { scope: "row" }, part.name, ...(part.text ? [el("span", {}, part.text)] : [])), el("td", { class: "number" }, part.start ? plain(part.adds) : signed(part.adds)), el("td", {}, ...(part.start ? [] : [added(part.adds, most)]))),
  );
  const foot = el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "prediction"), el("td", { class: "number" }, plain(now.values[k])), el("td", {})));
  byId("parts").replaceChildren(el("caption", {}, `Parts that add up to the prediction (${unit}), the largest first.`), head, el("tbody", {}, ...rows), foot);
}

/** @param {any} program @param {any[]} steps @param {(number | null)[]} record @param {number} k */
function move(program, steps, record, k) {
  const j = Number(byId("along").value);
  const column = program.inputs[j];
  const values = along(column);
  const points = values.map(({ at }) => {
    const { values: v, low, high } = answer(program, steps, record.map((old, i) => (i === j ? at : old)));
    return { value: v[k], low: low ? low[k] : v[k], high: high ? high[k] : v[k] };
  });
  const now = answer(program, steps, record).values[k];
  const words = `How the prediction moves with ${column.name}, all else as in the record: from ${plain(points[0].value)} at ${values[0].name} to ${plain(points[points.length - 1].value)} at ${values[values.length - 1].name}.`;
  if (points.every((point) => Number.isFinite(point.value))) {
    const note = program.ends === null ? "" : ` Band: the ${percent(program.level)} interval.`;
    byId("curve").replaceChildren(curve(points, values.map((one) => one.name), placeOf(column, record[j], values), now, words), el("p", { class: "note" }, `${words}${note}`));
  } else byId("curve").replaceChildren();
  table(program, column, values, points);
}

/** Where a value lies among those of the curve; -1 for nowhere. @param {any} column @param {number | null} value @param {{at: number | null}[]} values */
function placeOf(column, value, values) {
  if (value === null || Number.isNaN(value)) return -1;
  if (column.kind === "text") return values.findIndex((one) => one.at === value);
  const low = Number(values[0].at);
  const high = Number(values[values.length - 1].at);
  return ((Math.min(Math.max(value, low), high) - low) / (high - low || 1)) * (values.length - 1);
}

/** @param {any} program @param {any} column @param {{name: string}[]} values @param {{value: number, low: number, high: number}[]} points */
function table(program, column, values, points) {
  const every = column.kind === "text" ? 1 : 5;
  const sure = program.ends !== null;
  const names = ["prediction", ...(sure ? ["from", "to"] : [])];
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, column.name), ...names.map((name) => el("th", { scope: "col", class: "number" }, name))));
  const rows = points.flatMap((point, i) => {
    if (i % every !== 0) return [];
    const cells = [point.value, ...(sure ? [point.low, point.high] : [])];
    return [el("tr", {}, el("th", { scope: "row" }, values[i].name), ...cells.map((cell) => el("td", { class: "number" }, plain(cell))))];
  });
  byId("curve-table").replaceChildren(head, el("tbody", {}, ...rows));
}
