// @ts-check
/** Pictures: where the prediction lies in the range, and how it moves with one value. */

import { byId, draw, plain } from "./words.js";

const MOST = 640;
const LEAST = 300;
const HEIGHT = 240;
const LEFT = 70;
const RIGHT = 20;
const TOP = 15;
const BOTTOM = 40;
export const POINTS = 41; // of a curve: 40 pieces of 14 pixels

/** The values along a column, with what each is called. @param {any} column @returns {{at: number | null, name: string}[]} */
export function along(column) {
  if (column.kind === "text") return [...column.keys.map((/** @type {string} */ key, /** @type {number} */ at) => ({ at, name: key || "(empty)" })), { at: -1, name: "(any other)" }];
  const low = column.low ?? column.start - 1;
  const high = column.high ?? column.start + 1;
  return Array.from({ length: POINTS }, (_, i) => {
    const at = low + ((high - low) * i) / (POINTS - 1);
    return { at, name: plain(at) };
  });
}

/** How wide a picture is drawn: so that letters have their size on a phone, too. @param {string} id */
function room(id) {
  return Math.min(Math.max(byId(id).clientWidth, LEAST), MOST);
}

/** @param {{value: number, low: number, high: number}[]} points */
function extent(points) {
  const low = Math.min(...points.map((p) => p.low));
  const high = Math.max(...points.map((p) => p.high));
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return [low - margin, high + margin];
}

/** The curve with its band, and where the record is. @param {{value: number, low: number, high: number}[]} points @param {string[]} names @param {number} here place among the points, a fraction between two @param {number} now @param {string} words */
export function curve(points, names, here, now, words) {
  const width = room("curve");
  const [low, high] = extent([...points, { value: now, low: now, high: now }]);
  const x = (/** @type {number} */ i) => LEFT + ((width - LEFT - RIGHT) * i) / Math.max(points.length - 1, 1);
  const y = (/** @type {number} */ v) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - v)) / (high - low);
  const upper = points.map((p, i) => `${x(i)},${y(p.high)}`);
  const lower = points.map((p, i) => `${x(i)},${y(p.low)}`).reverse();
  const picture = draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": words });
  picture.append(draw("polygon", { class: "band", points: [...upper, ...lower].join(" ") }));
  picture.append(draw("polyline", { class: "line", points: points.map((p, i) => `${x(i)},${y(p.value)}`).join(" ") }));
  picture.append(draw("polyline", { class: "axis", points: `${LEFT},${TOP} ${LEFT},${HEIGHT - BOTTOM} ${width - RIGHT},${HEIGHT - BOTTOM}` }));
  for (const value of [low, (low + high) / 2, high]) picture.append(draw("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, plain(value, 3)));
  for (const [i, anchor] of /** @type {[number, string][]} */ ([[0, "start"], [points.length - 1, "end"]])) picture.append(draw("text", { x: x(i), y: HEIGHT - 18, "text-anchor": anchor }, short(names[i])));
  if (here >= 0) picture.append(draw("circle", { class: "point", cx: x(here), cy: y(now), r: 6 }));
  return picture;
}

/** @param {string} name */
function short(name) {
  return name.length > 24 ? `${name.slice(0, 23)}…` : name;
}

/** A bar between two ends with a point in it. @param {number} low @param {number} high @param {number} value @param {number[]} bounds @param {string} words */
export function bar(low, high, value, [least, most], words) {
  const width = room("range");
  const x = (/** @type {number} */ v) => 10 + ((width - 20) * (v - least)) / (most - least || 1);
  const picture = draw("svg", { viewBox: `0 0 ${width} 44`, role: "img", "aria-label": words });
  picture.append(draw("line", { class: "axis", x1: 10, x2: width - 10, y1: 14, y2: 14 }));
  picture.append(draw("rect", { class: "band", x: x(low), y: 7, width: Math.max(x(high) - x(low), 1), height: 14 }));
  picture.append(draw("circle", { class: "point", cx: x(value), cy: 14, r: 6 }));
  picture.append(draw("text", { x: 10, y: 38 }, plain(least)), draw("text", { x: width - 10, y: 38, "text-anchor": "end" }, plain(most)));
  return picture;
}

/** What a part adds, to the left or to the right of nothing. @param {number} value @param {number} most */
export function added(value, most) {
  const half = 60;
  const width = most > 0 ? (half * Math.abs(value)) / most : 0;
  const picture = draw("svg", { viewBox: `0 0 ${2 * half} 16`, width: 2 * half, height: 16, "aria-hidden": "true" });
  picture.append(draw("rect", { class: value < 0 ? "less" : "more", x: value < 0 ? half - width : half, y: 2, width: Math.max(width, 0.5), height: 12 }));
  picture.append(draw("line", { class: "axis", x1: half, x2: half, y1: 0, y2: 16 }));
  return picture;
}
