// @ts-check
/**
 * What people type, as numbers, as in Python's hedgerow.holder.typed: "0,5" becomes 0.5 where the language writes so, and
 * what can be read in two ways is asked back. The task itself knows no comma.
 */

const ONE_SIGN = /^([+-]?)([0-9]*)([.,])([0-9]*)([eE][+-]?[0-9]+)?$/;
const GROUPED = /^[+-]?[0-9][0-9.,'_\u2019\u00a0\u202f\u2009 ]*[0-9](?:[eE][+-]?[0-9]+)?$/;
const BLANKS = /^[ \t\n\r\v\f]+|[ \t\n\r\v\f]+$/g;
const MOST_BEFORE_GROUP = 3; // digits: 1.234, 12.345 and 123.456 may be thousands, 1234.567 cannot

/** A typed number as tasks read it, other text as it is; null if it can be read in two ways. @param {string} text @param {string} decimal @returns {string | null} */
export function readNumber(text, decimal) {
  const bare = text.replace(BLANKS, "");
  const found = ONE_SIGN.exec(bare);
  if (found) {
    const [, sign, before, mark, after, power = ""] = found;
    const thousands = after.length === 3 && before.length >= 1 && before.length <= MOST_BEFORE_GROUP && before[0] !== "0" && !power;
    return mark !== decimal && thousands ? null : `${sign}${before}.${after}${power}`;
  }
  return /[^0-9+eE-]/.test(bare) && GROUPED.test(bare) ? null : text;
}
