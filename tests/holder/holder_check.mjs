// Shared by Node and Chromium: run all vectors, return what differs.
export async function checkVectors(holder, data) {
  const wrong = [];
  let [checked, parameters] = [0, 0];
  const tasks = [];
  for (const { name, text, id, parameters: expected } of data.tasks) {
    const task = await holder.readTask(text);
    if (task.id !== id) wrong.push(`${name}: id ${task.id}`);
    const m = task.message;
    const found = { ...m.response, ...m.label, ratio: m.fine?.ratio ?? m.label?.ratio, coarse: m.coarse?.ratio, flip: m.flip, rare: m.rare, hold: m.hold, stay: m.stay, size: m.size };
    for (const key of Object.keys(expected)) {
      parameters += 1;
      if (found[key]?.toString(16) !== expected[key]) wrong.push(`${name}: ${key} ${found[key]?.toString(16)} not ${expected[key]}`);
    }
    tasks.push(task);
  }
  data.vectors.forEach((vector, number) => {
    const task = tasks[vector.task];
    const source = new holder.GivenSource(holder.fromHex(vector.random));
    let body;
    try {
      body = holder.toHex(holder.privatize(task, vector.record, source, vector).body);
    } catch (error) {
      body = String(error);
    }
    checked += 1;
    if (body !== vector.body) wrong.push(`vector ${number} (${data.tasks[vector.task].name}): ${body} not ${vector.body}`);
    else if (source.used !== source.bytes.length) wrong.push(`vector ${number}: ${source.bytes.length - source.used} bytes left over`);
  });
  return { checked, parameters, wrong: wrong.slice(0, 20) };
}
