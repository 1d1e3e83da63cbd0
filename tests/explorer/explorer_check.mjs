// Evaluate pages' programs on records: node explorer_check.mjs <folder of the modules> <file of cases>; prints JSON.
import { readFileSync } from "node:fs";

const [folder, file] = process.argv.slice(2);
const { answer } = await import(`${folder}/page.js`);
const { OPERATIONS, readSteps, below } = await import(`${folder}/evaluate.js`);
const { plain } = await import(`${folder}/words.js`);
const { programs, numbers, deviations } = JSON.parse(readFileSync(file, "utf8"));

const found = programs.map(({ program, records }) => {
  const steps = readSteps(program);
  return records.map((record) => {
    const { values, low, high, parts } = answer(program, steps, record);
    const added = parts.map((part) => part.adds[part.adds.length - 1]);
    return { values: [...values], low: low && [...low], high: high && [...high], added, texts: parts.map((part) => part.text) };
  });
});
const words = numbers.map((value) => plain(value));
console.log(JSON.stringify({ found, words, operations: Object.keys(OPERATIONS), below: deviations.map(below) }));
