/** A tool server whose lists, and how late it answers, are read from a JSON file at each request. Legacy era, stdio, by hand. */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file = ""] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const KINDS = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const { delayMs = 0, hang = "", lists = {} } = JSON.parse(readFileSync(file, "utf8"));
  if (method === "initialize") appendFileSync(`${file}.starts`, "start\n");
  if (hang === method) return;
  const answer = () => {
    if (method === "initialize") {
      const capabilities = { tools: {}, prompts: {}, resources: {} };
      const { protocolVersion } = params;
      return { result: { protocolVersion, capabilities, serverInfo: { name: "lists", version: "1" } } };
    }
    const kind = KINDS[method];
    if (kind) return { result: { [kind]: lists[kind] ?? [] } };
    if (method === "tools/call") return { result: { content: [{ type: "text", text: `called ${params.name}` }] } };
    return { error: { code: -32601, message: "Method not found" } };
  };
  if (method === "initialize" && delayMs > 0) setTimeout(() => send({ id, ...answer() }), delayMs);
  else send({ id, ...answer() });
});
