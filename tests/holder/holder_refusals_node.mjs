// Run by test_holder_refusals.py: judge mutated tasks in Node.
import { readFileSync } from "node:fs";

const holder = await import(process.argv[2]);
const { check, data } = JSON.parse(readFileSync(process.argv[3], "utf8"));
const { checkRefusals } = await import(check);
console.log(JSON.stringify(await checkRefusals(holder, data)));
