// @ts-check
/**
 * What this browser remembers, and how tabs keep out of each other's way.
 */

import { HolderError, require } from "./basics.js";

const PREFIX = "hedgerow:";

/** @param {string} key @returns {any} null if there is nothing; what cannot be read is an error, never nothing */
export function read(key) {
  const text = localStorage.getItem(PREFIX + key);
  return text === null ? null : JSON.parse(text);
}

/** A browser that does not keep data must not draw: a retry would need a second draw. @param {string} key @param {unknown} value */
export function write(key, value) {
  const text = JSON.stringify(value);
  localStorage.setItem(PREFIX + key, text);
  require(localStorage.getItem(PREFIX + key) === text, "this browser does not keep data; nothing was drawn");
}

/** @param {string} key */
export function remembered(key) {
  try {
    return read(key);
  } catch {
    throw new HolderError("This browser keeps no data for this page, so it could not remember your report. Allow it to, or use another browser.");
  }
}

/** One at a time, over all tabs. @template T @param {string} name @param {() => Promise<T>} work @returns {Promise<T>} */
export async function alone(name, work) {
  require(globalThis.navigator?.locks, "This browser cannot keep two tabs apart, which might answer twice. Use a newer one, or the command line.");
  return navigator.locks.request(PREFIX + name, work);
}
