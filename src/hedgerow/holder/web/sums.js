// @ts-check
/**
 * Tasks that two servers share: a record becomes bits, one in each public tree, which are split into two shares and
 * sealed, one for each server. Neither can read its share; only noisy sums of many people leave them.
 *
 * As in assisted.js, a prediction may differ from Python's in the last digits, which can move a record to the group
 * beside it. From the same groups, level and random bytes come the same shares as in Python; what seals them is drawn
 * by the browser itself.
 */

import { fromBase64, join, short } from "./basics.js";
import { added, checkEarlier, checkProcess, checkRows, readStep, shapeOf } from "./chain.js";
import { seal } from "./hpke.js";
import { words } from "./language.js";
import { levelOf } from "./mechanisms.js";
import { design, predictWithin, reached, readGroups, readModel } from "./portable.js";
import { randSize, shard } from "./prio3.js";
import { budget, fields, insist, list, number, text, whole } from "./reader.js";
import { checkResiduals, readLabels, readRadius, readSpace } from "./schema.js";
import { CODES, Task } from "./task.js";

/** @typedef {import("./basics.js").Json} Json */
/** @typedef {import("./chain.js").Step} Step */
/** @typedef {import("./exact.js").Source} Source */
/** @typedef {import("./portable.js").Model} Model */
/** @typedef {import("./portable.js").Trees} Trees */
/** @typedef {import("./task.js").Cutter} Cutter */
/** @typedef {{operator: string, origin: string, sealing: Uint8Array, signing: Uint8Array}} Server */
/** @typedef {{leader: Server, helper: Server, collector: Uint8Array}} Servers */

const MOST_BITS = 2 ** 14; // these as in Python
const MOST_OFF = 1e-6;
const MOST = 2 ** 53 - 1;
const LONGEST = 200;
const KEY = 32;
const OVERHEAD = 48; // a one-time key and a tag
const [CLIENT, LEADER, HELPER] = [1, 2, 3];
const LABEL = new TextEncoder().encode("hedgerow sums 1 ");
const ORIGIN = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/;
const GRID = { low: -1, high: 1, n_steps: 1 };

/** @param {unknown} value */
function key(value) {
  const bytes = fromBase64(text(value, "a key"), "a key of this task is damaged: do not answer it");
  insist(bytes.length === KEY, "a key");
  return bytes;
}

/** @param {unknown} value @returns {Server} */
function readServer(value) {
  const found = fields(value, "a server", ["operator", "origin", "sealing_key", "signing_key"]);
  const [operator, origin] = [text(found.operator, "a server's operator"), text(found.origin, "a server's address")];
  const printable = operator !== "" && operator === operator.trim() && !/[\p{C}\p{Zl}\p{Zp}]/u.test(operator);
  insist(printable && [...operator].length <= LONGEST, "a server's operator");
  insist(origin.length <= LONGEST && ORIGIN.test(origin), "a server's address");
  return { operator, origin, sealing: key(found.sealing_key), signing: key(found.signing_key) };
}

/** @param {unknown} value @returns {Servers} */
function readServers(value) {
  const found = fields(value, "the servers", ["leader", "helper", "collector_key", "verify_key_digest"]);
  const [leader, helper] = [readServer(found.leader), readServer(found.helper)];
  const collector = key(found.collector_key);
  key(found.verify_key_digest);
  const [one, two] = [leader, helper].map(({ operator, origin, sealing, signing }) => [operator, origin, sealing.join(), signing.join()]);
  insist(one.every((each, i) => each !== two[i]), "leader and helper must be two");
  insist(![leader, helper].some((server) => server.sealing.join() === collector.join()), "the collector's key");
  return { leader, helper, collector };
}

/** Whether both servers are plainly of one operator: a demonstration. @param {Servers} servers */
function oneMachine({ leader, helper }) {
  const hosts = [leader, helper].map(({ origin }) => new URL(origin).hostname);
  const loopback = hosts.every((host) => host === "localhost" || host === "[::1]" || /^127\./.test(host));
  return loopback || hosts[0] === hosts[1];
}

export class SumsTask extends Task {
  static format = "hedgerow/sums-task";
  static version = 2;
  static kind = "sums";
  static names = [
    "epsilon", "delta", "label_bounds", "space", "public_model", "steps", "trees", "radius", "levels", "sizes", "group",
    "residuals", "reference", "places", "min_batch_size", "servers", "target", "missing", "earlier", "process",
  ];

  /** @type {Model} */
  base = /** @type {any} */ (null);
  /** @type {Trees} */
  trees = /** @type {any} */ (null);
  /** @type {Step[]} */
  steps = [];
  radius = 0;
  least = 0;
  /** @type {Servers | null} */
  servers = null;

  /** @param {Json} found */
  fill(found) {
    this.target = text(found.target, "the label's name");
    this.epsilon = budget(found.epsilon);
    this.delta = number(found.delta, "delta");
    insist(this.delta > 0 && this.delta < 1, "delta");
    this.labels = readLabels(found.label_bounds, found.missing);
    this.columns = readSpace(found.space);
    [this.base, this.trees] = [readModel(found.public_model), readGroups(found.trees)];
    this.steps = list(found.steps, "the steps", readStep);
    this.radius = readRadius(found.radius);
    this.checkTrees();
    this.checkChain(found);
    this.least = whole(found.min_batch_size, "the least batch", 1, MOST);
    this.servers = found.servers === null ? null : readServers(found.servers);
  }

  checkTrees() {
    const columns = this.base.column.length + 2; // the prediction and what the steps add come last
    const widest = Math.max(0, ...this.steps.map(({ trees }) => trees.features));
    insist(this.base.columns === this.columns.length && Math.max(this.trees.features, widest) <= columns, "the public model");
    insist(this.steps.every(({ smooth }) => !smooth.parts.length || smooth.columns === this.base.column.length), "the public model");
    insist(this.length >= 2 && this.length <= MOST_BITS, "the trees");
    let from = 0;
    const shares = this.trees.value.filter((_, node) => this.trees.column[node] < 0);
    for (const leaves of this.trees.leaves) {
      const own = shares.slice(from, from + leaves);
      insist(Math.abs(own.reduce((a, b) => a + b, 0) - 1) < MOST_OFF && own.every((share) => share >= 0), "public shares");
      from += leaves;
    }
  }

  /** What the curator needs, and holders do not. @param {Json} found */
  checkChain(found) {
    const levels = list(found.levels, "the levels", number);
    insist(levels.length === 0 || levels.length === this.length / 2, "the levels");
    const sizes = list(found.sizes, "the groups", (size) => whole(size, "the groups", 1, MOST));
    insist(sizes.length > whole(found.group, "the groups", 0, MOST), "the groups");
    checkResiduals(found.residuals);
    insist(this.steps.length > 0, "the steps");
    const last = this.steps[this.steps.length - 1];
    const rows = checkRows(found.reference, this.trees.leaves);
    insist(rows > 0 && checkRows(found.places, last.trees.leaves) === rows, "public rows");
    list(found.earlier, "the groups before", (before) => checkEarlier(before, rows));
    insist(found.process === null || checkProcess(found.process, rows) === shapeOf(last.smooth), "the process");
  }

  /** Bits of a vector: two a leaf. */
  get length() {
    return 2 * this.trees.leaves.reduce((a, b) => a + b, 0);
  }

  /** The circuit, as in Python. */
  get circuit() {
    const [length, maxWeight] = [this.length, this.trees.leaves.length];
    const measured = length + maxWeight.toString(2).length;
    return { length, maxWeight, chunk: Math.floor(Math.sqrt(measured - 1)) + 1, servers: 2 };
  }

  // -------------------------------------------------------------- the report

  /** @param {Json} record */
  place(record) {
    const { z, label } = super.place(record, {});
    const prediction = predictWithin(this.base, z, this.labels);
    const row = [...design(this.base, z), prediction, 0];
    for (const step of this.steps) row[row.length - 1] += added(step, row);
    const leaves = reached(this.trees, row).map((node) => this.trees.number[node]);
    return { z, label, prediction, added: row[row.length - 1], residual: label - prediction - row[row.length - 1], leaves };
  }

  /** What is to be sealed: only `finish` makes a body of it. @param {Json} place @param {Source} source */
  report(place, source) {
    insist(this.servers, "it names no servers, and is for simulation only");
    const level = levelOf(GRID, place.residual / this.radius, source);
    const bits = new Array(this.length).fill(0);
    let first = 0;
    /** @type {number[]} */ (place.leaves).forEach((leaf, t) => {
      bits[2 * (first + leaf) + level] = 1;
      first += this.trees.leaves[t];
    });
    const token = source.take(12);
    const rand = source.take(randSize(this.circuit));
    const id = join([this.digest.slice(0, 4), token]);
    const shares = shard(this.circuit, join([LABEL, this.digest]), bits, id, rand);
    return { body: new Uint8Array(0), truth: { ...place, level }, pending: { id, token, shares, source } };
  }

  /** Seal each share for its server. @param {import("./task.js").Made} made @returns {Promise<import("./task.js").Made>} */
  async finish({ truth, pending }) {
    const { id, token, shares, source } = /** @type {Json} */ (pending);
    const { leader, helper } = /** @type {Servers} */ (this.servers);
    const length = shares.publicShare.length;
    const aad = join([this.digest, id, Uint8Array.of(length >> 8, length & 255), shares.publicShare]);
    /** @param {number} role */
    const info = (role) => join([LABEL, Uint8Array.of(CLIENT, role)]);
    const first = await seal(leader.sealing, info(LEADER), aad, shares.inputShares[0]);
    const second = await seal(helper.sealing, info(HELPER), aad, shares.inputShares[1]);
    return { body: this.frame(CODES.sums, token, [shares.publicShare, first, second], source), truth };
  }

  witnesses() {
    if (!this.servers) return [];
    const { leader, helper } = this.servers;
    /** @param {number} role */
    const statement = (role) => join([LABEL, new TextEncoder().encode("witness\n"), Uint8Array.of(role), this.digest]);
    return [
      { role: "leader", key: leader.signing, statement: statement(LEADER) },
      { role: "helper", key: helper.signing, statement: statement(HELPER) },
    ];
  }

  get origin() {
    return this.servers?.leader.origin ?? "";
  }

  // -------------------------------------------------------------- for people

  model() {
    return words("task.model", { target: this.target });
  }

  stays() {
    return words("task.stays_model");
  }

  leaves() {
    if (!this.servers) return "";
    const { leader, helper } = this.servers;
    const names = { leader: leader.operator, helper: helper.operator };
    const said = words("task.leaves_sums", { ...names, target: this.target, trees: this.trees.leaves.length, least: this.least });
    return `${said} ${words(oneMachine(this.servers) ? "task.one_operator" : "task.two_operators", names)}`;
  }

  /** @param {Cutter} cutter @param {Json} [truth] */
  about(cutter, truth) {
    const { leader, helper } = /** @type {Servers} */ (this.servers);
    cutter.cut("share that both servers see; random by itself", 64);
    const small = 64 + OVERHEAD;
    cutter.cut(`sealed for ${leader.operator}: nobody else can open it`, cutter.body.length - cutter.at - small, "noisy");
    cutter.cut(`sealed for ${helper.operator}: nobody else can open it`, small, "noisy");
    const said = [
      `${leader.operator} (${leader.origin}) and ${helper.operator} (${helper.origin}) get one sealed part each. Either part alone is chance, whatever you hold; both together would show your ${this.trees.leaves.length} groups.`,
      `Each server adds noise of its own to every sum before anything leaves it, and releases nothing of fewer than ${this.least} people.`,
    ];
    if (truth) said.unshift(`The public model predicts ${short(truth.prediction + truth.added)}; your ${this.target} is ${short(Math.abs(truth.residual))} ${truth.residual < 0 ? "below" : "above"} that. What is shared is only the direction, rounded at random.`);
    return { rows: [], words: said };
  }
}
