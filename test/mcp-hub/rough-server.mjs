/** A tool server that behaves badly on demand. Legacy era, stdio, by hand: the SDK would not let it. */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";

const [mode = "", file = ""] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const note = (line) => file && mode !== "names" && appendFileSync(file, `${line}\n`);

const TOOLS =
  mode === "names"
    ? JSON.parse(file)
    : [
        "echo",
        "wait",
        "huge",
        "large",
        "log",
        "crash",
        "say.it",
        "report",
        "env",
        "slow-progress",
        "touch",
        "storm",
        "deep",
      ];
let description = "A tool";
let extra = [];

if (mode === "flood") setInterval(() => process.stderr.write("x".repeat(65_536)), 5);
if (mode === "banner") process.stdout.write("Welcome!\n{not json\n");
if (mode === "deaf") process.on("SIGTERM", () => {});
if (mode === "deaf" || mode === "child") {
  // Ignores the end of its input, and so does its child.
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], {
    stdio: "ignore",
  });
  note(`pid ${process.pid}`);
  note(`pid ${child.pid}`);
  setInterval(() => {}, 1000);
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      ...(mode === "resources" ? { resources: { subscribe: true } } : {}),
    },
    serverInfo: { name: "rough", version: "1" },
  }),
  "tools/list": () => ({
    tools: [...TOOLS, ...extra].map((name) => ({ name, description, inputSchema: { type: "object" } })),
  }),
  "logging/setLevel": () => ({}),
  "resources/list": () => ({ resources: [{ uri: "rough://one", name: "one" }] }),
  "resources/subscribe": ({ uri }) => {
    note(`subscribed ${uri}`);
    return {};
  },
  "resources/unsubscribe": ({ uri }) => {
    note(`unsubscribed ${uri}`);
    return {};
  },
};

function call(id, { name, arguments: args = {}, _meta }) {
  const says = (text) => send({ id, result: { content: [{ type: "text", text }] } });
  switch (name) {
    case "wait":
      note(`started ${id}`);
      return;
    case "large": {
      const { progressToken } = _meta ?? {};
      if (args.after) send({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      return setTimeout(() => says("é".repeat(args.bytes / 2)), args.after ?? 0);
    }
    case "huge":
      process.stdout.write("x".repeat(40 * 2 ** 20));
      return;
    case "crash":
      process.stderr.write(`about to crash, token ${process.env.SECRET ?? ""}\n`);
      return process.exit(7);
    case "report":
      description = args.description ?? description;
      extra = args.extra ?? extra;
      send({ method: "notifications/tools/list_changed" });
      send({ method: "notifications/tools/list_changed" });
      return says("changed");
    case "deep": {
      const nested = `${"[".repeat(args.depth)}${"]".repeat(args.depth)}`;
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"it":${nested}}}}\n`;
      return setTimeout(() => process.stdout.write(text), args.after);
    }
    case "touch":
      send({ method: "notifications/resources/updated", params: { uri: args.uri } });
      return says("touched");
    case "storm": {
      let left = args.count;
      const timer = setInterval(() => {
        for (let i = 0; i < 20 && left > 0; i++, left--) send({ method: "notifications/tools/list_changed" });
        if (left > 0) return;
        clearInterval(timer);
        says("over");
      }, 10);
      return;
    }
    case "log": {
      const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "a line" } })}\n`;
      process.stdout.write(line.repeat(args.count));
      return says("logged");
    }
    case "env":
      return says(JSON.stringify(process.env));
    case "slow-progress": {
      let step = 0;
      const timer = setInterval(() => {
        send({ method: "notifications/progress", params: { progressToken: _meta?.progressToken, progress: ++step } });
        if (step < args.steps) return;
        clearInterval(timer);
        says("done");
      }, args.every);
      return;
    }
    default:
      return says(String(args.text ?? name));
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") return note(`cancelled ${params.requestId}`);
  if (id === undefined || method === undefined) return;
  if (mode === "mute") return;
  if (method === "initialize" && mode === "fail-first" && !existsSync(file)) {
    note("failed");
    process.exit(3);
  }
  if (method === "tools/call") return call(id, params);
  const answer = answers[method];
  send(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: "Method not found" } });
});
