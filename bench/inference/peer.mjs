// ONNX Runtime over a model of one input: node peer.mjs MODEL.onnx THREADS. Every line on standard input is a batch,
// "1x128 5", and a number of passes, whose milliseconds, and those of all threads' processor time, are told as JSON.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const ort = createRequire(import.meta.url)("onnxruntime-node");

const [modelFile, threads] = process.argv.slice(2);
const session = await ort.InferenceSession.create(modelFile, {
  graphOptimizationLevel: "all",
  intraOpNumThreads: Number(threads),
  interOpNumThreads: 1,
  executionMode: "sequential",
});

async function passes(sequences, length, count) {
  const ids = Int32Array.from({ length: sequences * length }, (_, i) => (i * 7919) % 30000);
  const feeds = { ids: new ort.Tensor("int32", ids, [sequences, length]) };
  const told = { milliseconds: [], processor_milliseconds: [] };
  for (let i = 0; i < count; ++i) {
    const start = process.hrtime.bigint();
    const before = process.cpuUsage();
    await session.run(feeds);
    const used = process.cpuUsage(before);
    told.milliseconds.push(Number(process.hrtime.bigint() - start) * 1e-6);
    told.processor_milliseconds.push((used.user + used.system) * 1e-3);
  }
  return told;
}

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [sequences, length, count] = line.split(/[x ]/).map(Number);
  console.log(JSON.stringify(await passes(sequences, length, count)));
}
