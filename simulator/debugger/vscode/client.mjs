// A client of Microsoft's, made to test debug adapters, drives the debugger.
//
//   cargo build -p lockstep-debugger --example dap
//   npm install --no-save @vscode/debugadapter-testsupport
//   node client.mjs ../../../target/debug/examples/dap
//
// It needs npm's registry, so it is no part of `cargo test`.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(path.join(process.cwd(), "client.mjs"));
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const program = path.resolve(process.argv[2] ?? "../../../target/debug/examples/dap");
const here = path.dirname(fileURLToPath(import.meta.url));
const source = path.resolve(here, "../tests/fixtures/rotate.cu");

// A breakpoint is verified once a kernel with its code is launched, and not when it is set.

/** A client with what it has been told. */
async function client(adapterArguments) {
  const client = new DebugClient(program, adapterArguments, "lockstep", { cwd: here });
  client.defaultTimeout = 30000;
  const output = [];
  client.on("output", (event) => output.push(event.body.output));
  await client.start();
  return { client, output };
}

/** The thread's innermost frame. */
async function frame(client, threadId) {
  const { body } = await client.stackTraceRequest({ threadId, startFrame: 0, levels: 20 });
  return body.stackFrames[0];
}

async function bothWays() {
  const { client: dc } = await client("");
  await dc.hitBreakpoint({}, { path: source, line: 15, verified: false });
  const { body } = await dc.threadsRequest();
  console.log("threads:", body.threads.map((thread) => thread.name).join("; "));
  const at = async (move, line) => {
    const [event] = await Promise.all([dc.waitForEvent("stopped"), move({ threadId: 1 })]);
    const { line: now } = await frame(dc, event.body.threadId);
    console.log(`${event.body.reason} at line ${now}`);
    assert.equal(now, line);
  };
  await at((thread) => dc.stepBackRequest(thread), 14);
  await at((thread) => dc.nextRequest(thread), 15);
  const top = await frame(dc, 1);
  const { body: scopes } = await dc.scopesRequest({ frameId: top.id });
  console.log("scopes:", scopes.scopes.map((scope) => scope.name).join(", "));
  const memory = scopes.scopes.find((scope) => scope.name === "Memory");
  const all = await dc.variablesRequest(memory);
  for (const variable of all.body.variables) {
    console.log(`  ${variable.name}: ${variable.type} = ${variable.value}`);
  }
  const watch = { expression: "tile[(tid.x + 1) % 64]", frameId: top.id, context: "watch" };
  console.log(watch.expression, "=", (await dc.evaluateRequest(watch)).body.result);
  await dc.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
  // The third launch has a race.
  const [race] = await Promise.all([
    dc.waitForEvent("stopped"),
    dc.continueRequest({ threadId: 1 }),
  ]);
  console.log(`${race.body.reason}: ${race.body.description}`);
  assert.equal(race.body.reason, "exception");
  await Promise.all([dc.waitForEvent("terminated"), dc.continueRequest({ threadId: 1 })]);
  await dc.stop();
}

async function aProgram() {
  const { client: dc, output } = await client("--adapter");
  const command = [program, "--program"];
  await dc.hitBreakpoint({ command, cwd: here }, { path: source, line: 12, verified: false });
  await dc.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
  await dc.setExceptionBreakpointsRequest({ filters: [] });
  await Promise.all([dc.waitForEvent("terminated"), dc.continueRequest({ threadId: 1 })]);
  console.log("output:", JSON.stringify(output.join("")));
  assert.equal(output.filter((text) => text.includes("a launch begins")).length, 3);
  await dc.stop();
}

await bothWays();
await aProgram();
console.log("all is as it should be");
