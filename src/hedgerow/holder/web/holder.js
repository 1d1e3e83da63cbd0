// @ts-check
/**
 * The holder's side in a browser: plain modules, no dependencies.
 *
 * exact.js draws from exact laws with integers only; mechanisms.js, portable.js, assisted.js, pilot.js and parts 1 and
 * 2 here turn a record into the bytes of a report, byte for byte as hedgerow's Python does from the same random bytes (shared
 * vectors prove it); part 3 checks signatures; part 4 says the odds; part 5 is the page. Nothing leaves the page but
 * the body that `send` posts.
 */

import { bernoulli, bernoullis, capped, discreteLaplace, flipChance, fromHex, HolderError, join, littleBytes, littleEndian, ONE, pack, percent, require, SecureSource, shareBelow, short, toHex, uniformSubset } from "./exact.js";
import { aboutAssisted, assist, assistedWords, groupWords, readAssisted } from "./assisted.js";
import { clamp, kAry, laplace, levelMechanism, levelOf, position, readEpsilon, splitEpsilon, toNumber } from "./mechanisms.js";
import { aboutPilot, binWords, pilot, pilotWords, readPilot } from "./pilot.js";

export { drawMessage, place } from "./assisted.js";
export { fromHex, GivenSource, HolderError, percent, toHex } from "./exact.js";
export { drawBin } from "./pilot.js";
export { predict } from "./portable.js";

/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./exact.js").Json} Json */

// ---------------------------------------------------------------- 1. tasks and records

const KINDS = /** @type {{[format: string]: string}} */ ({
  "hedgerow/local-task": "local",
  "hedgerow/label-task": "label",
  "hedgerow/semi-task": "semi-first",
  "hedgerow/cell-task": "semi-second",
  "hedgerow/assisted-task": "assisted",
  "hedgerow/pilot-task": "pilot",
});

/** Whether a public model, which came with the task, runs on the device. @param {Json} task */
const runsModel = ({ kind }) => kind === "assisted" || kind === "pilot";

/** @param {string} text */
async function sha256(text) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/**
 * A task with its id and digest, ready to answer. The id is the SHA-256 of the text, whatever the text claims.
 * @param {string} text @returns {Promise<Json>}
 */
export async function readTask(text) {
  const content = JSON.parse(text);
  const kind = KINDS[content.format];
  require(kind && content.version === (kind === "assisted" ? 2 : 1), "this page does not know this kind of task; use the command line");
  const digest = await sha256(text);
  const first = kind === "semi-second" ? content.first : content;
  const features = (kind === "local" ? content.partition.space : first.space ?? { features: [] }).features;
  const epsilon = readEpsilon(kind === "label" ? content.mechanism.epsilon : first.epsilon);
  require(epsilon > 0 && epsilon < Infinity, "this task gives no privacy at all (infinite epsilon): do not answer it");
  const task = { kind, content, digest, id: toHex(digest), features, epsilon, grid: first.grid, first, target: first.target };
  // A value that is to be randomised under a name must not be sent in clear because something public has the same one.
  const taken = kind === "label" ? ["record"] : features.map((/** @type {Json} */ f) => f.name);
  require(!taken.includes(first.target), `this task calls both a feature and the label ${first.target}; do not answer it`);
  if (content.partition) checkTree(content.partition);
  const known = { ...task, message: message(task) };
  return { ...known, labels: runsModel(task) ? known.message.bounds : first.grid };
}

/** Refuse a tree in which a walk could go astray. @param {Json} tree */
function checkTree(tree) {
  const n = tree.feature.length;
  for (let k = 0; k < n; k += 1) {
    const [feature, left] = [tree.feature[k], tree.left[k]];
    require(feature === -1 || (feature < tree.space.features.length && left > k && left + 1 < n), "the tree of this task is damaged");
  }
}

/** Numbers of the leaves from left to right, by node. @param {Json} tree */
function leafNumbers(tree) {
  /** @type {number[]} */
  const numbers = [];
  let count = 0;
  for (const stack = [0]; stack.length; ) {
    const node = /** @type {number} */ (stack.pop());
    if (tree.feature[node] < 0) numbers[node] = count++;
    else stack.push(tree.left[node] + 1, tree.left[node]);
  }
  return { numbers, count };
}

/** Whether a record goes right at a node. @param {Json} tree @param {number} node @param {number[]} z */
function goesRight(tree, node, z) {
  const [column, offset] = [tree.feature[node], tree.subset_offset[node]];
  return offset < 0 ? z[column] >= tree.threshold[node] : !tree.subsets[offset + z[column]];
}

/** @param {Json} tree @param {number[]} z */
function leafOf(tree, z) {
  let node = 0;
  while (tree.feature[node] >= 0) node = tree.left[node] + (goesRight(tree, node, z) ? 1 : 0);
  return leafNumbers(tree).numbers[node];
}

/** Cells that agree with the public features, as booleans. @param {Json} tree @param {number[]} z @param {boolean[]} hidden */
function candidates(tree, z, hidden) {
  const { numbers, count } = leafNumbers(tree);
  const reach = new Array(count).fill(false);
  for (const stack = [0]; stack.length; ) {
    const node = /** @type {number} */ (stack.pop());
    const [column, left] = [tree.feature[node], tree.left[node]];
    if (column < 0) reach[numbers[node]] = true;
    else if (hidden[column]) stack.push(left, left + 1);
    else stack.push(left + (goesRight(tree, node, z) ? 1 : 0));
  }
  return reach;
}

/** A finite number from a form or a record. @param {unknown} value @param {string} name */
function number(value, name) {
  const text = typeof value === "string" ? value.trim() : value;
  const result = typeof text === "number" ? text : text === "" || typeof text !== "string" ? NaN : Number(text);
  require(Number.isFinite(result), `${name}: enter a number`);
  return result;
}

/** Numbers clipped to their public range, categories as codes. @param {Json[]} features @param {Json} record */
export function encodeRecord(features, record) {
  return features.map((feature) => {
    const value = record[feature.name];
    if (!feature.categories) return Math.min(Math.max(number(value, feature.name), feature.low), feature.high);
    const code = feature.categories.indexOf(String(value));
    require(code >= 0, `${feature.name}: choose one of ${feature.categories.slice(0, 10).join(", ")}`);
    return code;
  });
}

/** The label as a number: a class is its position. @param {Json} task @param {unknown} label */
export function encodeLabel(task, label) {
  const classes = task.content.classes;
  if (!classes) return number(label, task.target);
  const code = classes.indexOf(String(label));
  require(code >= 0, `${task.target}: choose one of ${classes.slice(0, 10).join(", ")}`);
  return code;
}

// ---------------------------------------------------------------- 2. messages

/** @param {number} k @param {number} epsilon */
function subsetSize(k, epsilon) {
  const size = k / (Math.exp(Math.min(epsilon, 700)) + 1);
  // Python's exponential may differ in the last digit, and it rounds halves to even: insist that neither matters.
  require(Math.abs(size - Math.floor(size) - 0.5) > 1e-9 * Math.max(1, size), "this task's set size lies on an edge");
  return Math.max(1, Math.min(k - 1, Math.round(size)));
}

/** The mechanisms of a task, with all probabilities worked out. @param {Json} task @returns {Json} */
function message(task) {
  const { kind, content, grid, epsilon } = task;
  if (kind === "label") return { label: levelMechanism(content.mechanism, grid.n_steps) };
  if (kind === "local") return localMessage(content, epsilon, grid.n_steps);
  if (kind === "assisted") return readAssisted(content, epsilon);
  if (kind === "pilot") return readPilot(content, epsilon);
  const share = task.first.label_share;
  const [coarseEpsilon, cellEpsilon] = share === 1 ? [epsilon, 0] : splitEpsilon(epsilon, share);
  const [fine, coarse] = [laplace(epsilon, grid.n_steps), laplace(coarseEpsilon, grid.n_steps)];
  return { fine, coarse, stay: stayChance(coarse.ratio, fine.ratio), cellEpsilon };
}

/** floor(2^64 b (1-a)^2 / (a (1-b)^2)). @param {bigint} a @param {bigint} b */
const stayChance = (a, b) => (a === b ? ONE : (b * (ONE - a) ** 2n * ONE) / (a * (ONE - b) ** 2n));

/** @param {Json} content @param {number} epsilon @param {number} steps */
function localMessage(content, epsilon, steps) {
  const leaves = leafNumbers(content.partition).count;
  if (content.response === "bits") {
    const [cell, rest] = splitEpsilon(epsilon, content.cell_share);
    const label = laplace(rest, steps);
    return { code: 1, leaves, flip: flipChance(capped(cell / 2)), label, labelBytes: steps + 2 * label.reach < 65536 ? 2 : 4 };
  }
  const k = leaves * (steps + 1);
  if (content.response === "unary") return { code: 2, leaves, k, rare: flipChance(capped(epsilon)) };
  if (content.response === "k_ary") return { code: 3, leaves, k, response: kAry(epsilon, k) };
  require(content.response === "subset", `this page does not know the response ${content.response}`);
  const size = subsetSize(k, epsilon);
  return { code: 4, leaves, k, size, hold: shareBelow(epsilon, BigInt(size), BigInt(k - size)) };
}

/** @param {Json} task @param {number} leaf @param {number} level @param {Source} source */
function localPayload(task, leaf, level, source) {
  const m = task.message;
  if (m.code === 1) {
    const noisy = m.label.draw(level, source) + m.label.reach;
    const bits = bernoullis(m.flip, m.leaves, source).map((flip, j) => flip !== (j === leaf));
    return join([littleBytes(noisy, m.labelBytes), pack(bits)]);
  }
  const own = leaf * (task.grid.n_steps + 1) + level;
  if (m.code === 2) {
    const bits = bernoullis(m.rare, m.k, source);
    bits[own] = bernoulli(ONE / 2n, source);
    return pack(bits);
  }
  if (m.code === 3) return littleBytes(m.response.draw(own, source), 4);
  const hold = bernoulli(m.hold, source);
  const others = uniformSubset(m.k - 1, m.size, hold, source);
  return pack([...others.slice(0, own), hold, ...others.slice(own)]);
}

/** @param {string} magic @param {number} code @param {Uint8Array} digest */
function header(magic, code, digest) {
  return join([new TextEncoder().encode(magic), Uint8Array.of(1, 0, code, 0), digest, littleBytes(1, 8)]);
}

/**
 * Randomise one record. The body is a batch of one report; secrets are what the second of two rounds needs.
 * @param {Json} task @param {Json} record @param {Source} source
 * @param {{mask?: boolean[], secrets?: Json}} [more]
 * @returns {{body: Uint8Array, secrets?: Json, truth: Json}}
 */
export function privatize(task, record, source, more = {}) {
  const mark = source.simulation ? 0x80 : 0;
  if (task.kind === "semi-second") return secondRound(task, record, source, more.secrets ?? {});
  if (task.kind === "semi-first") return firstRound(task, record, source, more.mask);
  const label = encodeLabel(task, record[task.target]);
  if (task.kind === "label") {
    const numbered = number(record.record, "record number");
    require(Number.isSafeInteger(numbered) && numbered >= 0, "record number: enter a whole number");
    const level = levelOf(task.grid, label, source);
    const code = task.message.label.draw(level, source);
    const row = [Uint8Array.of(1, 1 | mark), task.digest.slice(0, 4), source.take(12), littleBytes(numbered, 8)];
    return { body: join([header("HDGL", 1, task.digest), ...row, signed32(code)]), truth: { label, level, code } };
  }
  const z = encodeRecord(task.features, record);
  if (runsModel(task)) {
    const { payload, truth } = (task.kind === "pilot" ? pilot : assist)(task.message, z, label, source);
    return { body: join([header("HDGR", task.message.code | mark, task.digest), source.take(12), payload]), truth: { z, label, ...truth } };
  }
  const leaf = leafOf(task.content.partition, z);
  const level = levelOf(task.grid, label, source);
  const payload = localPayload(task, leaf, level, source);
  const body = join([header("HDGR", task.message.code | mark, task.digest), source.take(12), payload]);
  return { body, truth: { z, label, leaf, level } };
}

/** @param {number} value */
function signed32(value) {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setInt32(0, value, true);
  return out;
}

/** Which features a holder keeps private. @param {Json} task @param {boolean[] | undefined} chosen @returns {boolean[]} */
export function effectiveMask(task, chosen) {
  const { masks, private: names } = task.first;
  if (masks === "hidden") return task.features.map(() => true);
  if (masks === "policy") return task.features.map((/** @type {Json} */ f) => names.includes(f.name));
  require(chosen && chosen.length === task.features.length, "say for each feature whether it is private");
  return chosen;
}

/** @param {Json} task @param {Json} record @param {Source} source @param {boolean[] | undefined} chosen */
function firstRound(task, record, source, chosen) {
  const { fine, coarse, stay } = task.message;
  const steps = task.grid.n_steps;
  const z = encodeRecord(task.features, record);
  const label = encodeLabel(task, record[task.target]);
  const mask = effectiveMask(task, chosen);
  const level = levelOf(task.grid, label, source);
  const near = BigInt(level) + discreteLaplace(fine.ratio, source);
  const far = near + (bernoulli(stay, source) ? 0n : discreteLaplace(coarse.ratio, source));
  const fineLevel = clamp(near, -fine.reach, steps + fine.reach);
  // Nothing is private but the label: the cell is certain, so all of epsilon is the label's.
  const sent = mask.some(Boolean) ? clamp(far, -coarse.reach, steps + coarse.reach) : fineLevel;
  const token = source.take(12);
  const parts = [header("HDGR", 16 | (source.simulation ? 0x80 : 0), task.digest), token, littleBytes(sent + coarse.reach, 4)];
  if (task.first.masks === "personal") parts.push(pack(mask));
  z.forEach((value, j) => {
    if (task.first.masks === "personal" || !mask[j]) parts.push(double(mask[j] ? 0 : value + 0));
  });
  const secrets = { task: task.id, token: toHex(token), coarse: sent, fine: fineLevel, mask, clear: z.map((value, j) => (mask[j] ? null : value)) };
  return { body: join(parts), secrets, truth: { z, label, level, mask } };
}

/** @param {number} value */
function double(value) {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setFloat64(0, value, true);
  return out;
}

/** @param {Json} task @param {Json} record @param {Source} source @param {Json} secrets of the first round */
function secondRound(task, record, source, secrets) {
  require(secrets.task === task.first.id, "this device did not answer the first round of this task");
  const z = encodeRecord(task.features, record);
  const same = z.every((value, j) => secrets.mask[j] || (secrets.clear ?? z)[j] === value);
  require(same, "the features in clear differ from the first round's; answer with the same record");
  const tree = task.content.partition;
  const own = leafOf(tree, z);
  const reach = candidates(tree, z, secrets.mask);
  const cells = reach.flatMap((may, cell) => (may ? [cell] : []));
  const certain = cells.length === 1;
  require(certain || task.message.cellEpsilon > 0, "this task leaves no budget for cells");
  const level = certain ? secrets.fine : secrets.coarse;
  const byName = task.content.response === "k_ary";
  let answer;
  if (byName) {
    const named = certain ? own : cells[kAry(task.message.cellEpsilon, cells.length).draw(cells.indexOf(own), source)];
    answer = littleBytes(named, 4);
  } else {
    const flips = certain ? [false] : bernoullis(flipChance(capped(task.message.cellEpsilon / 2)), cells.length, source);
    const bits = reach.slice();
    cells.forEach((cell, i) => (bits[cell] = flips[i] !== (cell === own)));
    answer = pack(bits);
  }
  const code = (byName ? 17 : 18) | (source.simulation ? 0x80 : 0);
  const parts = [littleBytes(level + task.message.coarse.reach, 4), pack(reach), answer];
  return { body: join([header("HDGR", code, task.digest), fromHex(secrets.token), ...parts]), truth: { z, leaf: own, cells } };
}

// ---------------------------------------------------------------- 3. announcements

const FIELDS = "closes,curator,format,kind,opens,public_key,purpose,signature,task_text,title,tokens,version";

/** JSON with sorted keys, no spaces and ASCII only, as Python writes it. @param {Json} flat */
export function canonical(flat) {
  const text = `{${Object.keys(flat).sort().map((key) => `${JSON.stringify(key)}:${JSON.stringify(flat[key])}`).join(",")}}`;
  return text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @param {string} text @param {number} size */
function fromBase64url(text, size) {
  require(typeof text === "string" && /^[\w-]*$/.test(text), "a key or signature of this task is damaged");
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  require(bytes.length === size, "a key or signature of this task is damaged");
  return bytes;
}

/** A key's name for people, as Python writes it. @param {Uint8Array} key */
export async function fingerprint(key) {
  const digest = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (key))));
  return /** @type {string[]} */ (digest.slice(0, 20).match(/.{4}/g)).join(" ");
}

/** Whether an Ed25519 signature holds; null if this browser cannot tell. @param {Uint8Array} key @param {Uint8Array} signature @param {Uint8Array} data */
async function signatureHolds(key, signature, data) {
  /** @param {Uint8Array} bytes */
  const buffer = (bytes) => /** @type {BufferSource} */ (bytes);
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", buffer(key), { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error instanceof DOMException && error.name === "DataError") return false;
    return null;
  }
  return crypto.subtle.verify({ name: "Ed25519" }, imported, buffer(signature), buffer(data));
}

/**
 * Read an announcement: refuse any change, another task than asked for, or unknown fields.
 * @param {string} text @param {string} id
 * @returns {Promise<{notice: Json, task: Json, fingerprint: string, checked: boolean}>}
 */
export async function readAnnouncement(text, id) {
  const notice = JSON.parse(text);
  require(Object.keys(notice).sort().join(",") === FIELDS, "this announcement has other fields than this page knows");
  require(notice.format === "hedgerow/announcement" && notice.version === 1, "this announcement has another version");
  require(Number.isSafeInteger(notice.opens) && Number.isSafeInteger(notice.closes), "the window of this task is damaged");
  const key = fromBase64url(notice.public_key, 32);
  const { signature, ...content } = notice;
  const data = new TextEncoder().encode(`hedgerow/announcement/1\n${canonical(content)}`);
  const holds = await signatureHolds(key, fromBase64url(signature, 64), data);
  require(holds !== false, "the signature does not hold: the task was changed after it was signed. Do not answer it");
  const task = await readTask(notice.task_text);
  require(task.id === id, "the server sent another task than this link names. Do not answer it");
  require(task.kind === notice.kind, "the announcement names another kind of task");
  return { notice, task, fingerprint: await fingerprint(key), checked: holds === true };
}

// ---------------------------------------------------------------- 4. what the bytes say, and the odds

/** Round up to some digits: claims are never rounded down. @param {number} value @param {number} digits */
const upTo = (value, digits) => {
  const step = 10 ** (Math.floor(Math.log10(value)) + 1 - digits);
  return Number((Math.ceil(value / step) * step).toPrecision(digits));
};

/** Epsilon in words. @param {number} epsilon @param {number} delta */
export function epsilonWords(epsilon, delta = 0) {
  const factor = upTo(Math.exp(Math.min(epsilon, 700)), 3);
  if (delta) return `Whatever anybody checks in your report is at most ${factor} times as probable for your values as for any others, plus ${delta}.`;
  const exact = 1 / (1 + Math.exp(-epsilon));
  const most = exact < 0.99 ? Math.ceil(exact * 1000) / 1000 : Math.min(1, Math.ceil(exact * 1e6) / 1e6);
  return `No report is more than ${factor} times as probable for your values as for any others. Whoever held two possibilities about you for equally likely can be at most ${percent(most)} sure of one afterwards.`;
}

/** What is done to the values before they leave. @param {Json} task @returns {string} */
export function leavesWords(task) {
  const { message: m, target, kind, first } = task;
  if (kind === "label") return `The number of your record, in clear, and your ${target}, rounded to a grid and replaced at random.`;
  if (kind === "assisted") return assistedWords(m, target);
  if (kind === "pilot") return pilotWords(m, target);
  if (kind === "local") {
    if (m.code === 1) return `One bit for each of ${m.leaves} groups of people, each told truly with probability ${percent(1 - toNumber(m.flip))} and flipped otherwise; and your ${target}, rounded to a grid, with random noise.`;
    if (m.code === 2) return `One bit for each of ${m.k} pairs of a group and a value: yours is set with probability 50 %, every other one with ${percent(toNumber(m.rare))}.`;
    if (m.code === 3) return `One of ${m.k} pairs of a group and a value: yours with probability ${percent(toNumber(m.response.truth))}, else any other.`;
    return `A set of ${m.size} out of ${m.k} pairs of a group and a value: yours is in it with probability ${percent(toNumber(m.hold))}.`;
  }
  const clear = { hidden: "no feature in clear", personal: "the features that you do not mark as private, in clear", policy: `in clear: ${task.features.map((/** @type {Json} */ f) => f.name).filter((/** @type {string} */ n) => !first.private.includes(n)).join(", ") || "no feature"}` }[/** @type {string} */ (first.masks)];
  return kind === "semi-first" ? `Your ${target} with random noise; ${clear}. A second round asks for your group.` : `A random answer among the groups that fit what is public about you; your ${target} with the noise of the first round.`;
}

/** The conditions that lead to each leaf, in words. @param {Json} tree @returns {string[]} */
export function leafWords(tree) {
  /** @type {string[]} */
  const words = [];
  const { numbers } = leafNumbers(tree);
  /** @param {number} node @param {Map<number, {low?: number, high?: number, names?: string[]}>} limits */
  const walk = (node, limits) => {
    const column = tree.feature[node];
    if (column < 0) {
      words[numbers[node]] = [...limits].map(([c, limit]) => inWords(tree.space.features[c], limit)).join(", ") || "everybody";
      return;
    }
    const feature = tree.space.features[column];
    const known = limits.get(column) ?? { names: feature.categories };
    for (const right of [0, 1]) {
      /** @type {{low?: number, high?: number, names?: string[]}} */
      const next = { ...known };
      if (!feature.categories) next[right ? "low" : "high"] = tree.threshold[node];
      else next.names = (known.names ?? []).filter((/** @type {string} */ n) => !tree.subsets[tree.subset_offset[node] + feature.categories.indexOf(n)] === !!right);
      walk(tree.left[node] + right, new Map(limits).set(column, next));
    }
  };
  walk(0, new Map());
  return words;
}

/** @param {Json} feature @param {{low?: number, high?: number, names?: string[]}} limit */
function inWords(feature, { low, high, names }) {
  if (feature.categories) return `${feature.name} is ${(names ?? []).join(" or ") || "none"}`;
  if (low === undefined) return `${feature.name} below ${short(/** @type {number} */ (high))}`;
  return high === undefined ? `${feature.name} from ${short(low)}` : `${feature.name} from ${short(low)} to below ${short(high)}`;
}

/** How probable an output is for a label: it is rounded to one of two levels first. @param {Json} task @param {Json} mechanism @param {number} label @param {number} code */
export function labelChance(task, mechanism, label, code) {
  const place = position(task.grid, label) / 256;
  const [level, share] = [Math.floor(place), place % 1];
  return (1 - share) * mechanism.chance(level, code) + (share ? share * mechanism.chance(level + 1, code) : 0);
}

/** What an output stands for, in units of the label. @param {Json} task @param {number} code */
function labelValue(task, code) {
  const { low, high, n_steps } = task.grid;
  const m = task.content.mechanism ?? {};
  return low + ((m.kind === "bins" ? m.values[code] : m.kind === "matrix" ? m.outputs[code] : code) * (high - low)) / n_steps;
}

/** All outputs that the label's mechanism can send. @param {Json} task @param {Json} mechanism */
function codeRange(task, mechanism) {
  const m = task.content.mechanism ?? {};
  if (m.kind === "bins") return [0, m.values.length - 1];
  if (m.kind === "matrix") return [0, m.outputs.length - 1];
  if (m.kind === "interval") return [m.low - m.radius, m.high + m.radius];
  return [-mechanism.reach, task.grid.n_steps + mechanism.reach];
}

/**
 * Cut a body into named parts, and say what each stands for and how probable that was.
 * `rows` are bits or choices, of what `heading` says; `label` is the noisy label; `clear` marks parts that are sent as they are.
 * @param {Json} task @param {Uint8Array} body @param {Json} [truth]
 * @returns {{parts: {name: string, bytes: Uint8Array, clear?: boolean}[], rows: Json[], heading?: string, label?: Json, words: string[]}}
 */
export function explain(task, body, truth) {
  let at = 0;
  /** @type {{name: string, bytes: Uint8Array, clear?: boolean}[]} */
  const parts = [];
  /** @param {string} name @param {number} size @param {boolean} [clear] */
  const cut = (name, size, clear) => {
    const bytes = body.slice(at, at + size);
    parts.push({ name, bytes, clear });
    at += size;
    return bytes;
  };
  cut("format and version", 8);
  cut("which task this answers (its id)", 32);
  cut("number of reports: 1", 8);
  if (task.kind === "label") {
    cut("format, and the task's tag", 6);
    cut("random name of this report", 12);
    cut("number of your record", 8, true);
    const code = new DataView(cut(`your ${task.target}, randomised`, 4).buffer).getInt32(0, true);
    return { parts, rows: [], label: aboutLabel(task, task.message.label, code, truth), words: [] };
  }
  cut("random name of this report", 12);
  if (task.kind === "local") return { parts, ...aboutLocal(task, cut, truth) };
  if (task.kind === "assisted") return { parts, ...aboutAssisted(task, cut, truth) };
  if (task.kind === "pilot") return { parts, ...aboutPilot(task, cut, truth) };
  const reach = task.message.coarse.reach;
  const code = Number(littleEndian(cut(`your ${task.target}, with noise`, 4))) - reach;
  const noise = task.kind === "semi-first" && truth?.mask.some(Boolean) === false ? task.message.fine : task.message.coarse;
  if (task.kind === "semi-first") {
    if (task.first.masks === "personal") cut("which features you keep private", (task.features.length + 7) >> 3, true);
    const mask = task.first.masks === "personal" ? null : effectiveMask(task, undefined);
    for (const [j, feature] of task.features.entries())
      if (!mask || !mask[j]) cut(`${feature.name}${mask ? "" : ", or 0 if private"}`, 8, true);
    return { parts, rows: [], label: aboutLabel(task, noise, code, truth), words: ["A second round will ask for your group. Both together cost the epsilon of this task once."] };
  }
  const cells = leafNumbers(task.content.partition).count;
  cut("groups that fit what is public about you", (cells + 7) >> 3, true);
  const byName = task.content.response === "k_ary";
  cut(byName ? "the group that is named" : "one bit for each of these groups", byName ? 4 : (cells + 7) >> 3);
  const k = truth?.cells.length;
  /** @type {string[]} */
  const words = [];
  if (k === 1) words.push("What is public about you leaves one group only: it is named as it is.");
  else if (k && byName) words.push(`Of ${k} groups that fit, yours is named with probability ${percent(toNumber(kAry(task.message.cellEpsilon, k).truth))}.`);
  else if (k) words.push(`Each of ${k} bits is told truly with probability ${percent(1 - toNumber(flipChance(capped(task.message.cellEpsilon / 2))))}.`);
  return { parts, rows: [], words };
}

/** @param {Json} task @param {(name: string, size: number) => Uint8Array} cut @param {Json} [truth] @returns {{rows: Json[], label?: Json, words: string[]}} */
function aboutLocal(task, cut, truth) {
  const m = task.message;
  const groups = leafWords(task.content.partition);
  const levels = task.grid.n_steps + 1;
  if (m.code === 1) {
    const code = Number(littleEndian(cut(`your ${task.target}, with noise`, m.labelBytes))) - m.label.reach;
    const bits = cut(`one bit for each of ${m.leaves} groups`, (m.leaves + 7) >> 3);
    const kept = 1 - toNumber(m.flip);
    const rows = groups.map((what, j) => bitRow(what, bits, j, truth && truth.leaf === j, kept, 1 - kept));
    const words = [`Each bit is told truly with probability ${percent(kept)}, and flipped with ${percent(1 - kept)}.`];
    return { rows, label: aboutLabel(task, m.label, code, truth), words };
  }
  const own = truth && truth.leaf * levels + truth.level;
  /** @param {number} cell */
  const pair = (cell) => {
    const level = cell % levels;
    const value = task.content.classes?.[level] ?? short(labelValue(task, level));
    return `${groups[Math.floor(cell / levels)]}; ${task.target} ${value}`;
  };
  const rounded = task.content.classes || !truth ? [] : [`Your ${task.target} was first rounded at random to ${short(labelValue(task, truth.level))}, in a way that keeps averages right.`];
  if (m.code === 3) {
    const sent = Number(littleEndian(cut(`one of ${m.k} groups and values, by number`, 4)));
    const p = toNumber(m.response.truth);
    const rest = percent((1 - p) / Math.max(1, m.k - 1));
    const rows = [{ what: pair(sent), truth: truth && own === sent ? "yours" : "", sent: "named", chance: !truth ? "" : own === sent ? percent(p) : rest }];
    if (truth && own !== sent) rows.unshift({ what: pair(own), truth: "yours", sent: "not named", chance: percent(1 - p) });
    return { rows, words: [...rounded, `Yours is named with probability ${percent(p)}, each of the other ${m.k - 1} with ${rest}.`] };
  }
  const bits = cut(`one bit for each of ${m.k} groups and values`, (m.k + 7) >> 3);
  const [p, q] = m.code === 2 ? [0.5, toNumber(m.rare)] : [toNumber(m.hold), (m.size - toNumber(m.hold)) / (m.k - 1)];
  const rows = Array.from({ length: Math.min(m.k, 2048) }, (_, j) => bitRow(pair(j), bits, j, truth && own === j, truth && own === j ? p : 1 - q, q));
  const words = m.code === 2
    ? [`The bit of yours is set with probability 50 %, each other bit with ${percent(q)}.`]
    : [`Exactly ${m.size} of ${m.k} bits are set. Yours is among them with probability ${percent(p)}, each other one with ${percent(q)}.`];
  return { rows, words: [...rounded, ...words] };
}

/** One bit: its truth, what is sent, and how probable that was. @param {string} what @param {Uint8Array} bits @param {number} j @param {boolean | undefined} own @param {number} ifTrue @param {number} other */
function bitRow(what, bits, j, own, ifTrue, other) {
  const set = (bits[j >> 3] >> (j & 7)) & 1;
  if (own === undefined) return { what, truth: "", sent: String(set), chance: "" };
  const chance = own ? (set ? ifTrue : 1 - ifTrue) : set ? other : 1 - other;
  return { what, truth: own ? "1" : "0", sent: String(set), chance: percent(chance), own };
}

/** @param {Json} task @param {Json} mechanism @param {number} code @param {Json} [truth] @returns {Json} */
function aboutLabel(task, mechanism, code, truth) {
  const [from, to] = codeRange(task, mechanism);
  const about = { code, value: labelValue(task, code), label: truth?.label, bars: /** @type {Json[]} */ ([]) };
  if (!truth || to - from > 200000) return about;
  // Bars of equal width over what comes up in all but one case in a thousand.
  const chances = Array.from({ length: to - from + 1 }, (_, i) => labelChance(task, mechanism, truth.label, from + i));
  let [first, last, left, right] = [0, chances.length - 1, 0, 0];
  while (first < code - from && left + chances[first] < 5e-4) left += chances[first++];
  while (last > code - from && right + chances[last] < 5e-4) right += chances[last--];
  const width = Math.max(1, Math.ceil((last - first + 1) / 48));
  for (let i = first; i <= last; i += width) {
    const end = Math.min(i + width, last + 1);
    const chance = chances.slice(i, end).reduce((a, b) => a + b, 0);
    about.bars.push({ low: labelValue(task, from + i), high: labelValue(task, from + end - 1), chance, sent: code - from >= i && code - from < end });
  }
  return { ...about, chance: chances[code - from] };
}

// ---------------------------------------------------------------- 5. the page

const MEDIA_TYPE = "application/vnd.hedgerow.reports+bin; version=1";
const LIMIT = 4_000_000; // millionths of epsilon for one curator, in this browser, for good

/** Words from the curator only ever become text, never markup. @param {string} tag @param {Json} [attributes] @param {...(Node | string)} children */
function el(tag, attributes = {}, ...children) {
  const made = tag === "svg" || tag === "rect" || tag === "line" ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** @param {string} id */
const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} text @param {"" | "warn" | "bad"} [mood] */
function say(text, mood = "") {
  find("status").className = `notice ${mood}`;
  find("status").textContent = text;
}

/** @param {number} seconds */
const when = (seconds) => new Date(seconds * 1000).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });

/** What this browser remembers. A browser that cannot must not draw: a retry would need a second draw. */
class Memory {
  /** @param {string} key */
  static read(key) {
    const text = localStorage.getItem(`hedgerow:${key}`);
    return text === null ? null : JSON.parse(text);
  }

  /** @param {string} key @param {unknown} value */
  static write(key, value) {
    const text = JSON.stringify(value);
    localStorage.setItem(`hedgerow:${key}`, text);
    require(localStorage.getItem(`hedgerow:${key}`) === text, "this browser does not keep data; nothing was drawn");
  }

  /** Millionths of epsilon that a curator was given, in all. @param {string} publicKey */
  static spent(publicKey) {
    return Object.values(Memory.read(`spent:${publicKey}`) ?? {}).reduce((sum, cost) => sum + cost, 0);
  }
}

/** @param {string} key */
function remembered(key) {
  try {
    return Memory.read(key);
  } catch {
    throw new HolderError("This browser keeps no data for this page, so it could not remember your report. Allow it to, or use another browser.");
  }
}

/** One at a time, over all tabs. @template T @param {string} id @param {() => Promise<T>} work @returns {Promise<T>} */
const alone = async (id, work) => (navigator.locks ? await navigator.locks.request(`hedgerow:${id}`, work) : await work());

/** @param {Json} state */
function cost({ task }) {
  return task.kind === "semi-second" ? 0 : Math.ceil(Number((task.epsilon * 1e6).toPrecision(15)));
}

/** @param {Json} state */
function showTask(state) {
  const { notice, task, fingerprint: name, checked, known } = state;
  document.title = `${notice.title || "A question"}: answer privately`;
  find("title").textContent = notice.title || "A question";
  find("by").textContent = `Asked by ${notice.curator || "somebody without a name"}`;
  const delta = task.content.mechanism?.delta ?? 0;
  const asked = [...task.features.map((/** @type {Json} */ f) => f.name), ...(task.kind === "semi-second" ? [] : [task.target])];
  const protects = { local: "all of these values together", assisted: "all of these values together", pilot: "all of these values together", label: `${task.target} (the rest of your record is public already)` }[/** @type {string} */ (task.kind)] ?? `${task.target}, and the features that are kept private`;
  /** @type {[string, (Node | string)[]][]} */
  const facts = [
    ["What for", [notice.purpose || "The curator does not say."]],
    ["What is asked", [asked.join(", "), ...(runsModel(task) ? [`. A public model, which came with this task, predicts ${task.target} on this device; the message is about how wrong it is for you${task.kind === "assisted" ? ", and about your group in one tree drawn at random" : ""}.`] : [])]],
    ["What leaves", [leavesWords(task)]],
    ["What is protected", [protects]],
    ["How strongly", [`Epsilon ${task.epsilon}${delta ? ` and delta ${delta}` : ""}${task.kind === "semi-second" ? " for both rounds, paid with the first" : ""}. ${epsilonWords(task.epsilon, delta)}`]],
    ["They can learn", [el("ul", {}, el("li", {}, "averages over many people"), el("li", {}, "about you, no more than these odds allow"), el("li", {}, "that you took part, when, and from which network address"))]],
    ["They cannot learn", [delta ? "More than these odds allow, whatever else anybody knows, now or later." : `For certain, ${protects}: every report can come from any values of that, whatever else anybody knows.`]],
    ["So far", [`You gave this curator epsilon ${Memory.spent(notice.public_key) / 1e6} from this browser; ${LIMIT / 1e6} is the most it gives.`]],
    ["Open", [`from ${when(notice.opens)} until before ${when(notice.closes)}`]],
  ];
  find("facts").replaceChildren(...facts.flatMap(([term, words]) => [el("dt", {}, term), el("dd", {}, ...words)]));
  const signed = checked ? "The signature was checked in this browser and holds: neither task nor window was changed." : "This browser cannot check Ed25519 signatures, so nobody vouches for this task here. Use a newer browser, or the command line.";
  const met = known ? "This browser has met this key before." : "This browser meets this key for the first time; compare it with what the curator published elsewhere.";
  find("signature").replaceChildren(
    el("p", { class: checked ? "" : "notice warn" }, signed),
    el("p", {}, "Key: ", el("code", {}, name), `. ${met}`),
    el("p", {}, "Task: ", el("code", {}, task.id), ", the SHA-256 of its text, checked here."),
  );
  find("about").hidden = false;
}

/** @param {string} name @param {string} title @param {Node} input @param {string} hint */
function field(name, title, input, hint) {
  const [hintId, errorId] = [`${name}-hint`, `${name}-error`];
  /** @type {Element} */ (input).setAttribute("aria-describedby", `${hintId} ${errorId}`);
  return [el("label", { for: name }, title), input, el("p", { class: "hint", id: hintId }, hint), el("p", { class: "error", id: errorId, hidden: "" })];
}

/** @param {string} name @param {string} title @param {Json} about */
function question(name, title, { categories, low, high }) {
  if (!categories) return field(name, title, el("input", { id: name, inputmode: "decimal", required: "" }), low === undefined ? "" : `a number from ${low} to ${high}`);
  const options = categories.map((/** @type {string} */ c) => el("option", { value: c }, c));
  return field(name, title, el("select", { id: name, required: "" }, el("option", { value: "" }, "Choose"), ...options), "");
}

/** @param {Json} state */
function showForm(state) {
  const { task } = state;
  const personal = task.kind === "semi-first" && task.first.masks === "personal";
  const fields = task.features.flatMap((/** @type {Json} */ feature, /** @type {number} */ j) => [
    ...question(`f${j}`, feature.name, feature),
    ...(personal ? [el("label", { class: "check" }, el("input", { type: "checkbox", id: `m${j}`, checked: "" }), `Keep ${feature.name} private. (Your choice itself is sent in clear.)`)] : []),
  ]);
  if (task.kind === "label") fields.push(...field("record", "Number of your record", el("input", { id: "record", inputmode: "numeric", required: "", value: state.given.get("record") ?? "" }), "public; from your invitation"));
  if (task.kind !== "semi-second") fields.push(...question("label", task.target, { categories: task.content.classes, low: task.labels.low, high: task.labels.high }));
  find("stays").textContent = `${staysWords(task)} Values beyond a range count as its nearest end.`;
  const button = el("button", { type: "submit" }, "Randomise on this device");
  find("form").replaceChildren(...fields, button);
  find("form").onsubmit = (event) => {
    event.preventDefault();
    void guarded(() => draw(state));
  };
  find("fill").hidden = false;
}

/** Read the form; put errors next to their fields. @param {Json} state */
function readForm({ task }) {
  /** @param {string} id */
  const value = (id) => /** @type {HTMLInputElement} */ (find(id)).value;
  /** @type {Json} */
  const record = {};
  /** @type {HTMLElement | null} */
  let wrong = null;
  /** @param {string} id @param {string} name @param {() => void} check */
  const take = (id, name, check) => {
    record[name] = value(id);
    let message = "";
    try {
      check();
    } catch (error) {
      message = error instanceof HolderError ? error.message : String(error);
      wrong ??= find(id);
    }
    find(id).setAttribute("aria-invalid", String(message !== ""));
    find(`${id}-error`).textContent = message;
    find(`${id}-error`).hidden = !message;
  };
  task.features.forEach((/** @type {Json} */ f, /** @type {number} */ j) => take(`f${j}`, f.name, () => encodeRecord([f], record)));
  if (task.kind === "label") take("record", "record", () => require(/^\d{1,15}$/.test(record.record), "enter a whole number"));
  if (task.kind !== "semi-second") take("label", task.target, () => encodeLabel(task, record[task.target]));
  if (wrong) {
    /** @type {HTMLElement} */ (wrong).focus();
    throw new HolderError("Some values are missing or cannot be used; see below.");
  }
  const mask = task.features.map((/** @type {Json} */ _, /** @type {number} */ j) => /** @type {HTMLInputElement | null} */ (document.getElementById(`m${j}`))?.checked ?? false);
  return { record, mask };
}

/** Draw the report, once and for all, and remember it before it is shown. @param {Json} state */
async function draw(state) {
  const { task, notice } = state;
  const { record, mask } = readForm(state);
  const now = Date.now() / 1000;
  require(now >= notice.opens, `This task opens on ${when(notice.opens)}. Nothing was drawn.`);
  require(now < notice.closes, `This task closed on ${when(notice.closes)}. Nothing was drawn.`);
  checkBudget(state);
  await alone(task.id, async () => {
    let truth;
    if (!Memory.read(`report:${task.id}`)) {
      const secrets = task.kind === "semi-second" ? firstSecrets(state) : undefined;
      const made = privatize(task, record, new SecureSource(), { mask, secrets });
      truth = made.truth;
      if (secrets) Memory.write(`secrets:${task.first.id}`, { ...secrets, second: task.id });
      if (made.secrets) Memory.write(`secrets:${task.id}`, made.secrets);
      Memory.write(`report:${task.id}`, { body: toHex(made.body), drawn: Math.floor(now), state: "drawn" });
    }
    showReport(state, truth, record);
  });
}

/** @param {Json} state */
function firstSecrets({ task, notice }) {
  const secrets = Memory.read(`secrets:${task.first.id}`);
  require(secrets, "This is a second round, and this browser did not answer the first.");
  require((Memory.read(`spent:${notice.public_key}`) ?? {})[task.first.id] !== undefined, "The first round was not sent to this curator from here.");
  require(!secrets.second || secrets.second === task.id, "The second round was answered already under another task.");
  return secrets;
}

/** @param {Json} state */
function checkBudget(state) {
  const { notice, task } = state;
  if ((Memory.read(`spent:${notice.public_key}`) ?? {})[task.id] !== undefined) return;
  const total = Memory.spent(notice.public_key) + cost(state);
  require(total <= LIMIT, `This report costs epsilon ${cost(state) / 1e6}; with what you gave before, this curator would have ${total / 1e6}, more than ${LIMIT / 1e6}. Nothing was sent.`);
}

/** @param {Json} state @param {Json} [truth] @param {Json} [record] */
function showReport(state, truth, record) {
  const { task } = state;
  const kept = Memory.read(`report:${task.id}`);
  const body = fromHex(kept.body);
  const { parts, rows, heading, label, words } = explain(task, body, truth);
  const values = truth ? Object.entries(record ?? {}) : [];
  find("truth").replaceChildren(...values.flatMap(([name, value]) => showValue(name, String(value), inClear(task, name, truth))));
  const groups = truth?.leaf === undefined ? [] : task.kind === "assisted" ? groupWords(task, truth.tree) : leafWords(task.content.partition);
  if (groups.length) find("truth").append(el("dt", {}, task.kind === "assisted" ? "your group in the tree that was drawn" : "your group"), el("dd", {}, groups[truth?.leaf]));
  if (truth && task.kind === "pilot") find("truth").append(el("dt", {}, `your bin (${heading})`), el("dd", {}, binWords(task.message.edges)[truth.bin]));
  if (!truth) find("truth").replaceChildren(el("dd", {}, "This report was drawn before. Your values were not kept, and whatever they are now, the same bytes are used: answering again tells nothing more."));
  find("parts").replaceChildren(...parts.map((part, i) => showPart(part, i, task)));
  find("odds").replaceChildren(...showOdds(rows, words, heading), ...(label ? showLabel(task, label) : []));
  find("send").textContent = kept.state === "accepted" ? "Send the same bytes again" : `Send these ${body.length} bytes`;
  find("send").onclick = () => void guarded(() => send(state));
  find("fill").hidden = true;
  find("review").hidden = false;
  find("review").focus();
  say(kept.state === "accepted" ? "The curator has this report already." : truth ? "Drawn, and kept in this browser. Nothing has been sent yet." : "A report to this task is kept here. It has not been acknowledged yet.");
}

/** Whether a value is sent as it is. @param {Json} task @param {string} name @param {Json} [truth] @returns {boolean} */
function inClear(task, name, truth) {
  if (task.kind === "label") return name === "record";
  if (task.kind === "local" || runsModel(task)) return false;
  const mask = truth?.mask ?? Memory.read(`secrets:${task.first.id}`)?.mask ?? [];
  return task.features.some((/** @type {Json} */ f, /** @type {number} */ j) => f.name === name && !mask[j]);
}

/** @param {string} name @param {string} value @param {boolean} clear */
function showValue(name, value, clear) {
  return [el("dt", {}, name), el("dd", { class: clear ? "clear" : "" }, value, " ", el("span", { class: "tag" }, clear ? "sent in clear" : "stays here"))];
}

/** What stays on the device, in words. @param {Json} task */
function staysWords(task) {
  if (runsModel(task)) return "They stay on this device, where the public model runs.";
  const simple = { local: "They stay on this device.", label: `Your ${task.target} stays on this device; the number of your record is sent in clear.` }[/** @type {string} */ (task.kind)];
  if (simple) return simple;
  if (task.first.masks === "hidden") return "They stay on this device.";
  const mine = task.first.masks === "policy" ? [...task.first.private, task.target].join(", ") : `${task.target}, and what you mark as private`;
  return `What stays on this device: ${mine}. Other values are sent in clear.`;
}

/** @param {{name: string, bytes: Uint8Array, clear?: boolean}} part @param {number} i @param {Json} task */
function showPart(part, i, task) {
  const noisy = !part.clear && i >= ({ label: 6, assisted: 5 }[/** @type {string} */ (task.kind)] ?? 4);
  const tag = part.clear ? "in clear" : noisy ? "randomised" : "";
  const hex = toHex(part.bytes).replace(/..(?=.)/g, "$& ");
  const name = el("span", { class: "name" }, part.name, ...(tag ? [el("span", { class: "tag" }, tag)] : []));
  return el("li", { class: part.clear ? "clear" : noisy ? "noisy" : "" }, name, el("span", { class: "hex", tabindex: part.bytes.length > 200 ? "0" : undefined }, hex));
}

/** @param {Json[]} rows @param {string[]} words @param {string} [heading] */
function showOdds(rows, words, heading = "Group") {
  const shown = [el("h3", {}, "The odds"), ...words.map((text) => el("p", {}, text))];
  if (!rows.length) return words.length ? shown : shown.slice(0, 1);
  const sorted = [...rows.filter((row) => row.own), ...rows.filter((row) => !row.own)];
  const heads = [heading, "True", "Sent", "Chance of that"].map((text, i) => el("th", { scope: "col", class: i ? "number" : "" }, text));
  const body = sorted.map((row) => el("tr", { class: row.own ? "own" : "" }, el("td", {}, row.own ? `${row.what} (yours)` : row.what), ...[row.truth, row.sent, row.chance].map((text) => el("td", { class: "number" }, text))));
  const caption = el("caption", {}, "Each line: what is true, what is sent, and how probable it was that this would be sent.");
  return [...shown, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The odds, line by line" }, el("table", {}, caption, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body)))];
}

/** @param {Json} task @param {Json} label */
function showLabel(task, label) {
  const sent = `${task.target} is sent as ${short(label.value)}`;
  if (!label.bars.length) return [el("p", {}, `${sent}.`)];
  const most = Math.max(...label.bars.map((/** @type {Json} */ b) => b.chance));
  const n = label.bars.length;
  const [left, right] = [label.bars[0].low, label.bars[n - 1].high];
  const clipped = Math.min(Math.max(label.label, task.grid.low), task.grid.high);
  const at = right > left ? ((clipped - left) / (right - left)) * (n - 1) + 0.5 : 0.5;
  const bars = label.bars.map((/** @type {Json} */ b, /** @type {number} */ i) => el("rect", { class: b.sent ? "bar sent" : "bar", x: i + 0.06, width: 0.88, y: 100 - (96 * b.chance) / most, height: (96 * b.chance) / most }));
  const text = `Your ${task.target} is ${short(clipped)} (amber line); ${sent} (green). That bar comes up with probability ${percent(label.bars.find((/** @type {Json} */ b) => b.sent).chance)}; the other bars show how probable everything else was.`;
  const picture = el("svg", { viewBox: `0 0 ${n} 100`, preserveAspectRatio: "none", role: "img", "aria-label": text }, ...bars, el("line", { class: "mine", x1: at, x2: at, y1: 0, y2: 100, "vector-effect": "non-scaling-stroke" }));
  return [el("figure", {}, el("h3", {}, `What ${task.target} could have been sent as`), picture, el("div", { class: "axis", "aria-hidden": "true" }, el("span", {}, short(left)), el("span", {}, short(right))), el("figcaption", {}, text))];
}

/** Book the cost, then post the bytes that were shown; the same ones on every retry. @param {Json} state */
async function send(state) {
  const { task, notice, base, given } = state;
  const button = /** @type {HTMLButtonElement} */ (find("send"));
  const kept = Memory.read(`report:${task.id}`);
  const token = given.get("token") ?? kept.token;
  require(!notice.tokens || token, "This task takes one report a token: open the whole link that you were sent.");
  await alone(notice.public_key, async () => {
    checkBudget(state);
    Memory.write(`spent:${notice.public_key}`, { ...Memory.read(`spent:${notice.public_key}`), [task.id]: cost(state) });
    Memory.write(`key:${base}`, notice.public_key);
    Memory.write(`report:${task.id}`, { ...kept, token, state: kept.state === "accepted" ? "accepted" : "ready" });
  });
  button.disabled = true;
  say("Sending.");
  try {
    const receipt = await post(`${base}/v1/tasks/${task.id}/reports`, fromHex(kept.body), token);
    Memory.write(`report:${task.id}`, { ...Memory.read(`report:${task.id}`), state: "accepted" });
    say(receipt.accepted ? "The curator has your report. Thank you." : "The curator had this very report already; it counts once.");
  } finally {
    button.disabled = false;
    button.textContent = "Send the same bytes again";
  }
}

/** @param {string} url @param {Uint8Array} body @param {string | undefined} token */
async function post(url, body, token, attempts = 4) {
  const headers = { "Content-Type": MEDIA_TYPE, Accept: "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  for (let attempt = 1; ; attempt += 1) {
    let problem = "the server cannot be reached";
    let again = true;
    try {
      const response = await fetch(url, { method: "POST", headers, body: /** @type {BodyInit} */ (body), credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
      const answer = await response.json().catch(() => ({}));
      if (response.ok && answer.accepted + answer.duplicates === 1) return answer;
      again = [408, 425, 429, 500, 502, 503, 504].includes(response.status);
      const failure = answer.failures?.[0]?.code ?? answer.code ?? "";
      problem = `the server answered ${response.status} ${failure} ${answer.detail ?? answer.title ?? ""}`.trim();
    } catch {
      // no answer: the report may have arrived, and the same bytes again do no harm
    }
    require(again && attempt < attempts, `Not acknowledged: ${problem}. The report is kept here; send the same bytes again later.`);
    await new Promise((done) => setTimeout(done, 400 * 2 ** attempt));
  }
}

/** Say what went wrong instead of failing in silence. @param {() => Promise<void>} work */
async function guarded(work) {
  try {
    await work();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "bad");
    if (!(error instanceof HolderError)) console.error(error);
  }
}

/** @param {Location} place */
async function start(place) {
  const found = place.pathname.match(/^(.*)\/join\/([0-9a-f]{64})\/?$/);
  require(found, "This link does not name a task.");
  require(globalThis.crypto?.subtle, "This browser hides its cryptography from pages without https. Open the link with https.");
  const [base, id] = [`${place.origin}${found[1]}`, found[2]];
  const response = await fetch(`${base}/v1/tasks/${id}`, { credentials: "omit", headers: { Accept: "application/json" } });
  require(response.ok, response.status === 404 ? "There is no such task here." : `The server answered ${response.status}; try again later.`);
  const read = await readAnnouncement(await response.text(), id);
  const seen = remembered(`key:${base}`);
  require(!seen || seen === read.notice.public_key, "This address used another key before. Do not answer; ask the curator by another way what happened.");
  const given = new URLSearchParams(place.hash.slice(1));
  if (place.hash) history.replaceState(null, "", place.pathname); // a token is not for the history
  const state = { ...read, base, given, known: seen !== null };
  showTask(state);
  if (!read.checked) say("This browser cannot check the signature of this task. See below before you answer.", "warn");
  else say("The task was checked: it is as its curator signed it.");
  if (Memory.read(`report:${id}`)) showReport(state);
  else showForm(state);
}

if (typeof document !== "undefined" && document.getElementById("form")) void guarded(() => start(location));
