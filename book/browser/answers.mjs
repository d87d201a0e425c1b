// Asks the simulator in WebAssembly: node answers.mjs live.wasm < questions > answers,
// a question or an answer a line.
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { memory, room, answer, length } = instance.exports;

function ask(question) {
  const bytes = new TextEncoder().encode(question);
  const at = room(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const start = answer(at, bytes.length);
  return new TextDecoder().decode(new Uint8Array(memory.buffer, start, length()));
}

const questions = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
process.stdout.write(questions.map((question) => ask(question) + "\n").join(""));
