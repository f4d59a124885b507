/** The program that hooks run to report that an assistant waits. It is in the data directory, as the guard's script is. */
/** A service that takes longer is busy; the assistant goes on without the report. */
const PATIENCE_MS = 1_000;
const MOST_BYTES = 1 << 20;

/**
 * `waiting.cjs <tool> <reports>`, with the hook's JSON on stdin: prints nothing and ends with 0, whatever happens. The process must be alive
 * and prove that it knows the guard's key before it gets the report, which has the session's id and the event, nothing of the content. All
 * of stdin is read, because an assistant may take a closed pipe for a failure. CommonJS and Node's own modules alone, because the assistant
 * waits for it. `hello` is the text that the service signs.
 */
export const waitingProgram = (
  hello: string,
) => `// Written by sessarc: the assistants' hooks run it to report that the assistant waits for its user.
"use strict";
process.on("uncaughtException", () => process.exit(0));
process.on("unhandledRejection", () => process.exit(0));
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

function eventOf(reports, type, message) {
  if (["answer", "ended", "permission"].includes(reports)) return reports;
  if (reports !== "notification") return undefined;
  // Some assistants name no type.
  if (typeof type !== "string") return /permission/i.test(String(message)) ? "permission" : "answer";
  if (/permission/i.test(type)) return "permission";
  return /idle|elicitation_dialog/i.test(type) ? "answer" : undefined;
}

function reportOf(tool, reports, input) {
  const session = input.session_id ?? input.sessionId ?? input.conversation_id;
  const type = input.notification_type ?? input.notificationType;
  const event = eventOf(reports, type, input.message);
  return typeof session === "string" && session !== "" && event ? { tool, session, event } : undefined;
}

/** HTTP/1.0, whose answer ends with the connection: node:http would take a third of the program's time. */
function send({ hostname, port, host }, method, path, headers, body) {
  const { connect } = require("node:net");
  const lines = [method + " " + path + " HTTP/1.0", "Host: " + host, ...headers, "Content-Length: " + Buffer.byteLength(body)];
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ host: hostname.replace(/^\\[|\\]$/g, ""), port: Number(port || 80) });
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.length > 16384) socket.destroy(new Error("too long"));
    });
    socket.on("error", reject);
    socket.on("end", () => resolve(text.slice(text.indexOf("\\r\\n\\r\\n") + 4)));
    socket.write(lines.join("\\r\\n") + "\\r\\n\\r\\n" + body);
  });
}

async function tell(report) {
  const { url, pid } = JSON.parse(readFileSync(join(__dirname, "..", "lock.json"), "utf8"));
  const key = readFileSync(join(__dirname, "key"), "utf8");
  // After a crash, another program may listen on the port.
  process.kill(pid, 0);
  const { createHash, randomBytes } = require("node:crypto");
  const service = new URL(url);
  const nonce = randomBytes(16).toString("hex");
  const proof = createHash("sha256").update([key, nonce, service.port, "${hello}", key].join(":"));
  const said = await send(service, "GET", "/api/security/proof?nonce=" + nonce, [], "");
  if (said !== proof.digest("hex")) return;
  const header = readFileSync(join(__dirname, "header"), "utf8").trim();
  const headers = ["Content-Type: application/json", ...(header ? [header] : [])];
  await send(service, "POST", "/api/waiting", headers, JSON.stringify(report));
}

let bytes = 0;
const chunks = [];
process.stdin.on("data", (chunk) => {
  bytes += chunk.length;
  if (bytes <= ${MOST_BYTES}) chunks.push(chunk);
});
process.stdin.on("end", () => {
  setTimeout(() => process.exit(0), ${PATIENCE_MS});
  const report = bytes <= ${MOST_BYTES} && reportOf(process.argv[2], process.argv[3], JSON.parse(Buffer.concat(chunks)) ?? {});
  if (!report) process.exit(0);
  tell(report).finally(() => process.exit(0));
});
`;
