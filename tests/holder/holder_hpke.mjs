// Seal messages as the page does.
import { readFileSync } from "node:fs";

const { fromHex, toHex } = await import(process.argv[2]);
const { seal } = await import(new URL("./hpke.js", process.argv[2]));

const results = [];
for (const given of JSON.parse(readFileSync(process.argv[3], "utf8"))) {
  try {
    results.push({ sealed: toHex(await seal(...["key", "info", "aad", "message"].map((name) => fromHex(given[name])))) });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify(results));
