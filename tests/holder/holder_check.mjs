// Shared by Node and Chromium: run all vectors, return what differs.
export async function checkVectors(holder, data) {
  const wrong = [];
  let [checked, parameters, worst] = [0, 0, 0];
  const tasks = [];
  for (const { name, text, id, parameters: expected } of data.tasks) {
    const task = await holder.readTask(text);
    if (task.id !== id) wrong.push(`${name}: id ${task.id}`);
    const found = task.parameters;
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
      const made = task.privatize(vector.record, source, vector);
      body = holder.toHex(made.body);
      if (vector.place) {
        const { prediction, ...exact } = vector.place; // leaves and level, or a bin
        worst = Math.max(worst, Math.abs(made.truth.prediction - prediction) / Math.max(1, Math.abs(prediction)));
        for (const [name, value] of Object.entries(exact))
          if (JSON.stringify(made.truth[name]) !== JSON.stringify(value)) wrong.push(`vector ${number}: ${name} ${made.truth[name]} not ${value}`);
      }
    } catch (error) {
      body = String(error);
    }
    checked += 1;
    if (body !== vector.body) wrong.push(`vector ${number} (${data.tasks[vector.task].name}): ${body} not ${vector.body}`);
    else if (source.used !== source.bytes.length) wrong.push(`vector ${number}: ${source.bytes.length - source.used} bytes left over`);
  });
  if (!(worst <= 1e-9)) wrong.push(`a prediction is off by ${worst} of itself`);
  return { checked, parameters, worst, wrong: wrong.slice(0, 20) };
}
