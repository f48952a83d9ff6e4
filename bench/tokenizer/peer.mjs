// Hugging Face's tokenizers over a text: node peer.mjs TOKENIZER.json TEXT. Every line on standard input starts a pass,
// whose seconds and tokens are told as JSON. Only the engine's own time counts: reading the text, cutting it into
// lines and taking the ids out of it do not.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { Tokenizer } = createRequire(import.meta.url)("tokenizers");
const LINES_TOGETHER = 1000;

const [tokenizerFile, textFile] = process.argv.slice(2);
const tokenizer = Tokenizer.fromFile(tokenizerFile);
const lines = readFileSync(textFile, "utf8").replace(/\n$/, "").split("\n");

async function pass() {
  let seconds = 0;
  let tokens = 0;
  for (let begin = 0; begin < lines.length; begin += LINES_TOGETHER) {
    const batch = lines.slice(begin, begin + LINES_TOGETHER);
    const start = process.hrtime.bigint();
    const encodings = await tokenizer.encodeBatch(batch, { addSpecialTokens: false });
    seconds += Number(process.hrtime.bigint() - start) * 1e-9;
    for (const encoding of encodings) tokens += encoding.getLength();
  }
  return { seconds, tokens };
}

console.log(JSON.stringify({ lines: lines.length }));
for await (const _ of createInterface({ input: process.stdin })) console.log(JSON.stringify(await pass()));
