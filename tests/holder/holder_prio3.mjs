// Share measurements as the page does, from given random bytes.
import { readFileSync } from "node:fs";

const { fromHex, toHex } = await import(process.argv[2]);
const { randSize, shard } = await import(new URL("./prio3.js", process.argv[2]));
const { elements } = await import(new URL("./field128.js", process.argv[2]));

const cases = JSON.parse(readFileSync(process.argv[3], "utf8"));
const results = cases.map((given) => {
  try {
    if (given.stream) {
      let at = 0;
      const next = (n) => fromHex(given.stream).slice(at, (at += n));
      return { elements: elements({ next }, given.n).map(String) };
    }
    const { circuit, ctx, bits, nonce, rand } = given;
    const { publicShare, inputShares } = shard(circuit, fromHex(ctx), bits, fromHex(nonce), fromHex(rand));
    return { randSize: randSize(circuit), publicShare: toHex(publicShare), inputShares: inputShares.map(toHex) };
  } catch (error) {
    return { error: error.message };
  }
});
console.log(JSON.stringify(results));
