// Run by test_holder_browser.py: the device's side of the page without a browser; storage and locks are stood in for.
import { readFileSync } from "node:fs";

const storage = new Map();
globalThis.localStorage = { getItem: (key) => storage.get(key) ?? null, setItem: (key, value) => storage.set(key, String(value)) };
const locked = [];
const locks = { request: async (name, work) => (locked.push(name), work()) };
Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });

const holder = await import(process.argv[2]);
const steps = JSON.parse(readFileSync(process.argv[3], "utf8"));
const results = [];
for (const { forget, edit, closed, task, key = "key", record = {}, mask, pay, budget, cost } of steps) {
  if (forget) storage.clear();
  if (edit) storage.set(edit[0], JSON.stringify({ ...JSON.parse(storage.get(edit[0])), ...edit[1] }));
  locked.length = 0;
  try {
    if (cost) {
      results.push(cost.map(([epsilon, delta]) => holder.costOf({ epsilon, delta, first: null })));
      continue;
    }
    if (budget) {
      for (const given of budget) holder.charge({ delta: 0, first: null, ...given }, given.key);
      results.push({ total: holder.spentInAll() });
      continue;
    }
    const read = await holder.readTask(task);
    await holder.draw({ task: read, closed, notice: { opens: 0, closes: 2 ** 52, public_key: key } }, record, mask);
    if (pay) holder.charge(read, key);
    results.push({ body: JSON.parse(storage.get(`hedgerow:report:${read.id}`)).body, locked: [...locked] });
  } catch (error) {
    results.push({ error: error instanceof holder.HolderError ? error.message : `unforeseen: ${error.stack}`, locked: [...locked] });
  }
}
console.log(JSON.stringify(results));
