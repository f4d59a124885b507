/** JavaScript that asks the guard from inside an assistant, for hooks that are files and not commands. */
import type { GuardClient } from "../contract.ts";
import { failedText, type HookRequest } from "./hook-command.ts";
import { ANSWER_TYPE, DEADLINE_MS, HELLO, hookHeader, hookKey } from "./hook-script.ts";

/** `waiting`: the file also reports that the assistant waits. */
export const toClient = (request: HookRequest, waiting: boolean): GuardClient => ({
  code: `${codeOf(request)}${waiting ? toReport(request) : ""}`,
  failed:
    request.onFailure === "block"
      ? `throw new Error(${JSON.stringify(failedText(request.tool))})`
      : "return; // sessarc does not answer: the call runs",
  waiting,
});

const codeOf = ({
  tool,
  id,
  folder,
  lock,
}: HookRequest) => `// Written by sessarc: asks its tool-call guard before a tool runs.
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
`;

/** The session and the event are sent, nothing of the content. */
const toReport = ({ tool }: HookRequest) => `
/** Nothing fails with it. */
async function report(session, event) {
  if (typeof session !== "string") return;
  await connect()
    .then(({ url, headers }) =>
      send("POST", new URL("api/waiting", url), headers, JSON.stringify({ tool: "${tool}", session, event })),
    )
    .catch(() => {});
}
`;
