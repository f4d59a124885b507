/** The plugin file OpenCode loads. Throwing from it blocks the call. */
import type { HookRequest } from "./hooks.ts";

export function pluginText({ url, token, onFailure }: HookRequest): string {
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const failed =
    onFailure === "block"
      ? 'throw new Error("sessarc could not be asked about this call: " + error.message);'
      : "return; // sessarc is not there: the call goes on";
  return `// Written by sessarc: asks its tool-call guard before a tool runs.
// Remove it with: sessarc guard uninstall --tool opencode
const url = ${JSON.stringify(url)};
const headers = ${JSON.stringify(headers)};

export const SessarcGuard = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    let answer;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers,
        body: JSON.stringify({
          hook_event_name: "tool.execute.before",
          tool_name: input.tool,
          tool_input: output.args,
          tool_use_id: input.callID,
          session_id: input.sessionID,
          cwd: directory,
        }),
        signal: AbortSignal.timeout(8000),
      });
      if (!response.ok) throw new Error("status " + response.status);
      const text = await response.text();
      answer = text ? JSON.parse(text) : {};
    } catch (error) {
      ${failed}
    }
    if (answer.decision === "block") throw new Error(answer.reason || "Blocked by sessarc");
  },
});
`;
}
