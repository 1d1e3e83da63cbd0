// Make a pass as the page does, of given random numbers or of its own.
import { readFileSync } from "node:fs";

const { fromHex, toHex } = await import(process.argv[2]);
const { blind, drawBlinding, finalize, packBlinding, unpackBlinding } = await import(new URL("./blind.js", process.argv[2]));

const results = [];
for (const given of JSON.parse(readFileSync(process.argv[3], "utf8"))) {
  const [key, message] = [fromHex(given.key), fromHex(given.message)];
  const kept = given.kept ?? packBlinding(drawBlinding(key));
  const blinding = unpackBlinding(kept);
  try {
    const blinded = toHex(await blind(key, message, blinding));
    const signature = given.signed ? toHex(await finalize(key, message, blinding, fromHex(given.signed))) : undefined;
    results.push({ kept, blinded, signature });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify(results));
