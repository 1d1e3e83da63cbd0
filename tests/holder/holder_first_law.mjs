// Run by test_holder_first_law.py: answer a first round many times from seeded bytes, and count what was sent.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const holder = await import(process.argv[2]);
const { text, record, mask, draws } = JSON.parse(readFileSync(process.argv[3], "utf8"));
const task = await holder.readTask(text);
let [block, used, counter] = [new Uint8Array(0), 0, 0];
const source = {
  simulation: true,
  take(n) {
    if (used + n > block.length) {
      block = new Uint8Array(createHash("shake128", { outputLength: 1 << 20 }).update(`${text}/${counter++}`).digest());
      used = 0;
    }
    used += n;
    return block.slice(used - n, used);
  },
};
const counts = {};
for (let i = 0; i < draws; i += 1) {
  const { secrets } = task.privatize(record, source, { mask });
  const key = `${secrets.coarse} ${secrets.fine}`;
  counts[key] = (counts[key] ?? 0) + 1;
}
console.log(JSON.stringify(counts));
