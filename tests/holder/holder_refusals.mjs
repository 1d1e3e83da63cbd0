// Shared by Node and Chromium: judge every mutated task as Python does, return where the two differ.
class CountedSource {
  simulation = true;
  state = 1;

  take(n) {
    return Uint8Array.from({ length: n }, () => {
      this.state = (Math.imul(1664525, this.state) + 1013904223) >>> 0;
      return this.state >>> 24;
    });
  }
}

// The report to an empty record; of a task with personal masks, every second feature is private.
function answer(task) {
  const [source, record] = [new CountedSource(), { record: 7 }];
  const mask = task.columns.filter((column) => column.of === undefined).map((_, j) => j % 2 === 0);
  if (!task.first) return task.privatize(record, source, { mask }).body;
  const { secrets } = task.begun.privatize(record, source, { mask });
  return task.privatize(record, source, { secrets }).body;
}

export async function checkRefusals(holder, { tasks, cases }) {
  const wrong = [];
  let [refused, accepted] = [0, 0];
  for (const [number, start, drop, put, expected] of cases) {
    const { name, text } = tasks[number];
    const changed = text.slice(0, start) + put + text.slice(start + drop);
    let found;
    try {
      const body = answer(await holder.readTask(changed));
      found = holder.toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", body))).slice(0, 8);
      accepted += 1;
    } catch (error) {
      found = error instanceof holder.HolderError ? "" : String(error.stack);
      refused += 1;
      if (!found && expected) found = `refused: ${error.message}`;
    }
    if (found !== expected) wrong.push(`${name}: ${text.slice(Math.max(0, start - 30), start)}[${text.slice(start, start + drop)}|${put.slice(0, 200)}]: ${found || "refused"} not ${expected || "refused"}`);
  }
  return { refused, accepted, wrong };
}
