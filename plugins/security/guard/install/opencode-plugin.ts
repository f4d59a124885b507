import { failedText, type HookRequest } from "./hook-command.ts";
import { ANSWER_TYPE, DEADLINE_MS, HELLO, hookHeader, hookKey } from "./hook-script.ts";

/** `waiting`: the plugin also reports that the assistant waits. */
export function pluginText({ tool, id, folder, lock, onFailure }: HookRequest, waiting: boolean): string {
  const failed =
    onFailure === "block"
      ? `throw new Error(${JSON.stringify(failedText(tool))})`
      : "return; // sessarc does not answer: the call runs";
  return `// Written by sessarc: asks its tool-call guard before a tool runs.
// Remove it with: sessarc guard uninstall --tool ${tool}
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { request } from "node:http";

const LOCK = ${JSON.stringify(lock)};
const HEADER = ${JSON.stringify(hookHeader(folder))};
const KEY = ${JSON.stringify(hookKey(folder))};
const PATH = "api/security/pretooluse?client=${tool}&hook=${id}";

/** fetch could send the call through a proxy. */
function send(method, url, headers, body) {
  return new Promise((resolve, reject) => {
    // Rejects here because Bun emits no event for a request that is destroyed before its answer.
    const fail = (why) => {
      clearTimeout(timer);
      reject(new Error(why));
      call.destroy();
    };
    const timer = setTimeout(() => fail("no answer in time"), ${DEADLINE_MS});
    const call = request(url, { method, headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => (text += chunk));
      answer.on("error", (error) => fail(error.message));
      answer.on("close", () => fail("cut off"));
      answer.on("end", () => {
        clearTimeout(timer);
        if (answer.statusCode !== 200) fail("status " + answer.statusCode);
        else resolve({ text, type: answer.headers["content-type"] });
      });
    });
    call.on("error", (error) => fail(error.message));
    call.end(body);
  });
}

async function connect() {
  const { url, pid } = JSON.parse(await readFile(LOCK, "utf8"));
  const key = await readFile(KEY, "utf8");
  // After a crash, another program may listen on the port: the process must be alive and prove that it is sessarc before it gets the call.
  process.kill(pid, 0);
  const nonce = randomBytes(16).toString("hex");
  const { port } = new URL(url);
  const proof = (text) => createHash("sha256").update([key, nonce, port, text, key].join(":")).digest("hex");
  const hello = await send("GET", new URL("api/security/proof?nonce=" + nonce, url), {});
  if (hello.text !== proof("${HELLO}")) throw new Error("not sessarc");
  const header = await readFile(HEADER, "utf8").catch(() => "");
  const headers = { "content-type": "application/json", "sessarc-nonce": nonce };
  if (header) headers.authorization = header.slice(header.indexOf(":") + 1).trim();
  return { url, headers, proof };
}

async function ask(call) {
  const { url, headers, proof } = await connect();
  const { text, type } = await send("POST", new URL(PATH, url), headers, JSON.stringify(call));
  if (type !== ${JSON.stringify(`${ANSWER_TYPE}; proof=`)} + proof(text)) throw new Error("not sessarc");
  return JSON.parse(text);
}
${waiting ? WAITING.replace("TOOL", tool) : ""}
export const SessarcGuard = async ({ directory }) => ({${waiting ? "\n  event: async ({ event }) => onEvent(event)," : ""}
  "tool.execute.before": async (input, output) => {
    let answer;
    try {
      answer = await ask({
        hook_event_name: "tool.execute.before",
        tool_name: input.tool,
        tool_input: output.args,
        tool_use_id: input.callID,
        session_id: input.sessionID,
        cwd: directory,
      });
    } catch {
      ${failed}
    }
    if (answer.decision === "block") throw new Error(answer.reason || "Blocked by sessarc");
  },
});
`;
}

/** The session and the event are sent, nothing of the content. Sub-agents end their turns without a user. */
const WAITING = `
const children = new Set();

/** Nothing fails with it. */
async function tell(session, event) {
  if (typeof session !== "string" || children.has(session)) return;
  await connect()
    .then(({ url, headers }) =>
      send("POST", new URL("api/waiting", url), headers, JSON.stringify({ tool: "TOOL", session, event })),
    )
    .catch(() => {});
}

async function onEvent({ type, properties }) {
  const { info, sessionID } = properties ?? {};
  if (type === "session.created" || type === "session.updated") {
    if (info?.parentID) children.add(info.id);
  } else if (type === "session.deleted") await tell(info?.id, "ended");
  else if (type === "session.idle") await tell(sessionID, "answer");
  else if (type === "permission.asked" || type === "permission.updated") await tell(sessionID, "permission");
}
`;
