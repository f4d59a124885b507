/** `sessarc waiting --tool t` as an assistant's hook runs it: prints nothing and ends with 0, whatever happens. Loads nothing but Node's own modules. */
import { readFile } from "node:fs/promises";
import type { QuickIo } from "sessarc";

const PATIENCE_MS = 100;
const MOST_BYTES = 1 << 20;

/** Undefined for other forms of the command. */
export async function run(io: QuickIo): Promise<number | undefined> {
  const at = io.args.indexOf("--tool");
  const tool = at < 0 ? undefined : io.args[at + 1];
  if (tool === undefined || !io.stdin) return undefined;
  try {
    const report = reportOf(tool, await readAll(io.stdin()));
    if (report) await send(io.path, JSON.stringify(report));
  } catch {
    // The assistant goes on as if there were no hook.
  }
  return 0;
}

/** What the service has to know, nothing of the content; undefined if the hook does not report a waiting. */
function reportOf(tool: string, text: string): { tool: string; session: string; event: string } | undefined {
  const input: unknown = JSON.parse(text);
  const session = textIn(input, "session_id");
  const event = eventOf(textIn(input, "hook_event_name"), textIn(input, "notification_type"), textIn(input, "message"));
  return session === undefined || event === undefined ? undefined : { tool, session, event };
}

function eventOf(name: string | undefined, type: string | undefined, message: string | undefined): string | undefined {
  if (name === "Stop" || name === "AfterAgent") return "answer";
  if (name === "SessionEnd") return "ended";
  if (name !== "Notification") return undefined;
  // Earlier versions of Claude Code name no type.
  if (type === undefined) return /permission/i.test(message ?? "") ? "permission" : "answer";
  if (/permission/i.test(type)) return "permission";
  return /idle|elicitation_dialog/.test(type) ? "answer" : undefined;
}

async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // All of it is read: an assistant may take a closed pipe for a failure.
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes <= MOST_BYTES) chunks.push(chunk);
  }
  return bytes > MOST_BYTES ? "" : Buffer.concat(chunks).toString("utf8");
}

async function send(path: QuickIo["path"], body: string): Promise<void> {
  const [lock, access] = await Promise.all(["lock.json", "access.json"].map((name) => readJson(path(name))));
  const url = textIn(lock, "url");
  if (url === undefined) return;
  const token = textIn(access, "url") === url ? textIn(access, "token") : undefined;
  const { request } = await import("node:http");
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(token && { authorization: `Bearer ${token}` }),
  };
  await new Promise<void>((resolve, reject) => {
    const call = request(new URL("/api/waiting", url), { method: "POST", headers, agent: false }, (response) => {
      response.destroy();
      resolve();
    });
    const timer = setTimeout(() => call.destroy(new Error("The service did not answer in time")), PATIENCE_MS);
    call.on("close", () => clearTimeout(timer));
    call.on("error", reject);
    call.end(body);
  });
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

function textIn(value: unknown, key: string): string | undefined {
  const field: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return typeof field === "string" && field !== "" ? field : undefined;
}
