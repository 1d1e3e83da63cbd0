// Run by test_holder_law.py and test_holder_pilot.py: draw many messages from seeded bytes, and count them.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const holder = await import(process.env.HOLDER_MODULE);
const cases = JSON.parse(readFileSync(process.env.HOLDER_CASES, "utf8"));

class SeededSource {
  simulation = true;
  used = 0;
  block = new Uint8Array(0);
  counter = 0;

  constructor(seed) {
    this.seed = seed;
  }

  take(n) {
    if (this.used + n > this.block.length) {
      const digest = createHash("shake128", { outputLength: 1 << 20 }).update(`${this.seed}/${this.counter++}`).digest();
      [this.block, this.used] = [new Uint8Array(digest), 0];
    }
    this.used += n;
    return this.block.slice(this.used - n, this.used);
  }
}

const results = [];
for (const { text, draws, leaves, level, bin } of cases) {
  const task = await holder.readTask(text);
  const source = new SeededSource(text);
  const counts = {};
  for (let i = 0; i < draws; i += 1) {
    const { payload } = bin === undefined ? task.drawMessage(leaves, level, source) : task.message({ bin }, source);
    const key = holder.toHex(payload);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  results.push({ counts, odds: task.odds ?? task.joint.map((joint) => joint.odds) });
}
console.log(JSON.stringify(results));
