// Shared by Node and Chromium: run all vectors, return what differs; stop at the first difference if asked to.
export async function checkVectors(holder, data, stop = false) {
  const wrong = [];
  let [checked, parameters, worst] = [0, 0, 0];
  const tasks = [];
  const read = async ({ name, text, id, parameters: expected }) => {
    const task = await holder.readTask(text);
    if (task.id !== id) wrong.push(`${name}: id ${task.id}`);
    for (const [key, value] of Object.entries(expected)) {
      parameters += 1;
      if (task.parameters[key]?.toString(16) !== value) wrong.push(`${name}: ${key} ${task.parameters[key]?.toString(16)} not ${value}`);
    }
    return task;
  };
  const numbers = data.vectors.map((_, number) => number);
  if (stop) numbers.sort((a, b) => (a % 31) - (b % 31)); // some of every kind soon
  for (const number of numbers) {
    const vector = data.vectors[number];
    const source = new holder.GivenSource(holder.fromHex(vector.random));
    let body;
    try {
      const task = (tasks[vector.task] ??= await read(data.tasks[vector.task]));
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
    if (stop && (wrong.length || !(worst <= 1e-9))) break;
  }
  if (!(worst <= 1e-9)) wrong.push(`a prediction is off by ${worst} of itself`);
  return { checked, parameters, worst, wrong: wrong.slice(0, 20) };
}
