// Read typed numbers as English and as German write them.
import { readFileSync } from "node:fs";

const { readNumber } = await import(process.argv[2]);
const texts = JSON.parse(readFileSync(process.argv[3], "utf8"));
console.log(JSON.stringify(texts.map((text) => [text, readNumber(text, "."), readNumber(text, ",")])));
