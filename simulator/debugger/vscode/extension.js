// The debug adapter of a session: a port, or a command in the workspace's folder. A package.json
// alone can name a command, too, but not the folder in which it runs, and `cargo xtask` needs that.
const vscode = require("vscode");

const ADAPTER = ["cargo", "xtask", "dap"];

function adapterOf(session) {
  const { port, adapter, cwd } = session.configuration;
  if (port !== undefined) {
    return new vscode.DebugAdapterServer(port, "127.0.0.1");
  }
  const [command, ...args] = adapter ?? ADAPTER;
  const folder = session.workspaceFolder?.uri.fsPath ?? cwd;
  return new vscode.DebugAdapterExecutable(command, args, { cwd: folder });
}

function activate(context) {
  const factory = { createDebugAdapterDescriptor: adapterOf };
  const registered = vscode.debug.registerDebugAdapterDescriptorFactory("lockstep", factory);
  context.subscriptions.push(registered);
}

module.exports = { activate };
