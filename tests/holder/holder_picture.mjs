// Draw the pictures of vectors: what could have been sent, how likely, and what was.
import { readFileSync } from "node:fs";

const holder = await import(process.argv[2]);
const { tasks, vectors } = JSON.parse(readFileSync(process.argv[3], "utf8"));
const read = await Promise.all(tasks.map(({ text }) => holder.readTask(text)));
const pictures = vectors.map((vector) => {
  const task = read[vector.task];
  const made = task.privatize(vector.record, new holder.GivenSource(holder.fromHex(vector.random)), vector);
  return task.picture(made.body, made.truth);
});
console.log(JSON.stringify(pictures));
