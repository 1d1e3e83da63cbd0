// Run by test_holder_values.py: the page's rule for values, and whether any record at all gets a report.
import { readFileSync } from "node:fs";

const holder = await import(process.argv[2]);
const { categoryOf, numberOf } = await import(new URL("schema.js", process.argv[2]).href);
const { floats, values, tasks } = JSON.parse(readFileSync(process.argv[3], "utf8"));

const thrower = () => {
  throw new Error("a value that fails");
};
const failing = new Proxy({}, { get: thrower, has: thrower, getOwnPropertyDescriptor: thrower, ownKeys: thrower });
const strange = [Symbol("x"), 5n, -(10n ** 400n), () => 1, new Date(0), new Map(), Object.create(null), { valueOf: thrower, toString: thrower }, undefined, NaN, -Infinity, failing];

function bytes(task, record) {
  const source = { simulation: true, take: (n) => new Uint8Array(n).fill(77) };
  const mask = task.columns.filter((column) => column.of === undefined).map(() => true);
  const secrets = task.first ? task.begun.privatize({}, source, { mask }).secrets : undefined;
  return holder.toHex(task.privatize(record, source, { mask, secrets }).body);
}

const wrong = [];
let answered = 0;
for (const { text, names } of tasks) {
  const task = await holder.readTask(text);
  const [empty, lengths] = [bytes(task, { record: 7 }), new Set()];
  const records = [...values, ...strange].flatMap((value) => [
    { ...Object.fromEntries(names.map((name) => [name, value])), record: 7 },
    ...names.map((name) => ({ [name]: value, record: 7 })),
  ]);
  // A record of which one value fails to be read counts as one in which everything is missing.
  const asked = task.questions().map(({ name }) => name);
  const broken = Object.defineProperty({ record: 7, [names[0]]: 1 }, asked[asked.length - 1], { get: thrower, enumerable: true });
  if (task.kind !== "label") records.push(null, undefined, 5, "text", [], failing);
  for (const record of [...records, broken])
    try {
      const body = bytes(task, record);
      answered += 1;
      lengths.add(body.length);
      if ([null, undefined, 5, "text", failing, broken].includes(record) && body !== empty) wrong.push(`${task.kind}: not as an empty record`);
    } catch (error) {
      wrong.push(`${task.kind}: ${error.stack}`);
    }
  if (lengths.size !== 1) wrong.push(`${task.kind}: ${lengths.size} lengths`);
}
const plain = (x) => (Number.isFinite(x) ? x : String(x));
console.log(JSON.stringify({ wrong, answered, texts: floats.map(holder.floatText), numbers: values.map((v) => plain(numberOf(v))), names: values.map(categoryOf) }));
