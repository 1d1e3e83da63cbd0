// Run by test_holder_vectors.py: node --test, with the module and the vectors in the environment.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

const { checkVectors } = await import(process.env.HOLDER_CHECK);
const vectors = JSON.parse(gunzipSync(readFileSync(process.env.HOLDER_VECTORS)).toString());

test("every vector gives the same body from the same bytes", async () => {
  const holder = await import(process.env.HOLDER_MODULE);
  const result = await checkVectors(holder, vectors, Boolean(process.env.HOLDER_STOP));
  assert.deepEqual(result.wrong, []);
  console.log(`checked ${result.checked} vectors and ${result.parameters} parameters; predictions differ by ${result.worst}`);
});
