// Answer tasks that two servers share, as the page does, from given random bytes; or check countersignatures.
import { readFileSync } from "node:fs";

const { countersigned, fromHex, GivenSource, readTask, toHex } = await import(process.argv[2]);
const cases = JSON.parse(readFileSync(process.argv[3], "utf8"));
const results = [];
for (const given of cases) {
  try {
    const task = await readTask(given.task);
    if (given.read) {
      results.push({ id: task.id });
      continue;
    }
    if (given.witnesses) {
      results.push({ sure: await countersigned(task, given.witnesses) });
      continue;
    }
    const source = new GivenSource(fromHex(given.random));
    source.simulation = false;
    const { body, truth } = await task.finish(task.privatize(given.record, source));
    const { parts, words } = task.explain(body, truth);
    results.push({ body: toHex(body), used: source.used, leaves: task.leaves(), parts: parts.map(({ name, bytes }) => [name, bytes.length]), words });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify(results));
