// @ts-check
/** Numbers and elements: everything that comes from a model gets into the page as text. */

/** A number with as many digits as are meant, as in hedgerow.digits. @param {number} value @param {number} [digits] */
export function plain(value, digits = 4) {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size >= 1e15 || (size > 0 && size < 1e-4)) return Number.isFinite(value) ? value.toPrecision(digits) : String(value);
  const rounded = Number(value.toPrecision(digits));
  if (rounded === 0) return "0";
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  const [whole, rest = ""] = rounded.toFixed(places).split(".");
  const grouped = Math.abs(rounded) < 10000 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const kept = rest.replace(/0+$/, "");
  return kept ? `${grouped}.${kept}` : grouped;
}

/** What is added, with its sign. @param {number} value */
export function signed(value) {
  const text = plain(value);
  return value > 0 && text !== "0" ? `+${text}` : text;
}

/** @param {number} share */
export function percent(share) {
  return `${plain(100 * share, 3)} %`;
}

/** A number and its unit. @param {number} value @param {string} unit */
export function measured(value, unit) {
  return unit ? `${plain(value)} ${unit}` : plain(value);
}

/** An element with attributes and children; texts are text nodes. @param {string} tag @param {{[name: string]: string}} [attributes] @param {(Node | string)[]} children @returns {any} */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The same in a picture. @param {string} tag @param {{[name: string]: string | number}} [attributes] @param {(Node | string)[]} children */
export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}
