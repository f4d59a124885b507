/** The plugin file OpenCode loads. Throwing from it blocks the call. */
import { join } from "node:path";
import { failedText, type HookRequest } from "./hook-command.ts";
import { ANSWER_TYPE, DEADLINE_MS, hookHeader } from "./hook-script.ts";

export function pluginText({ id, dataDir, onFailure }: HookRequest): string {
  const failed =
    onFailure === "block"
      ? `throw new Error(${JSON.stringify(failedText("opencode"))})`
      : "return; // sessarc is not there: the call goes on";
  return `// Written by sessarc: asks its tool-call guard before a tool runs.
// Remove it with: sessarc guard uninstall --tool opencode
import { readFile } from "node:fs/promises";
import { request } from "node:http";

const LOCK = ${JSON.stringify(join(dataDir, "lock.json"))};
const HEADER = ${JSON.stringify(hookHeader(dataDir))};
const PATH = "api/security/pretooluse?client=opencode&hook=${id}";

/** Not fetch: a proxy would get to see the call. */
function post(url, headers, body) {
  return new Promise((resolve, reject) => {
    // Said here and not left to an event of the request: Bun sends none when it is destroyed before an answer.
    const fail = (why) => {
      clearTimeout(timer);
      reject(new Error(why));
      call.destroy();
    };
    const timer = setTimeout(() => fail("no answer in time"), ${DEADLINE_MS});
    const call = request(url, { method: "POST", headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => (text += chunk));
      answer.on("error", (error) => fail(error.message));
      answer.on("close", () => fail("cut off"));
      answer.on("end", () => {
        clearTimeout(timer);
        if (answer.statusCode !== 200) fail("status " + answer.statusCode);
        else if (answer.headers["content-type"] !== ${JSON.stringify(ANSWER_TYPE)}) fail("not sessarc");
        else resolve(text);
      });
    });
    call.on("error", (error) => fail(error.message));
    call.end(body);
  });
}

async function ask(call) {
  const { url } = JSON.parse(await readFile(LOCK, "utf8"));
  const header = await readFile(HEADER, "utf8").catch(() => "");
  const headers = { "content-type": "application/json" };
  if (header) headers.authorization = header.slice(header.indexOf(":") + 1).trim();
  return JSON.parse(await post(new URL(PATH, url), headers, JSON.stringify(call)));
}

export const SessarcGuard = async ({ directory }) => ({
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
