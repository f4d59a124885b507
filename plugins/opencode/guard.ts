/** The guard's hook in OpenCode and its family: a plugin that throws in `tool.execute.before` to block a call. */
import { join } from "node:path";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { configFolder, type Member } from "./family.ts";

export const guard = (member: Member): NonNullable<Adapter["guard"]> => ({
  settings: (env) => join(toFolder(member, env), "plugin", "sessarc.js"),
  // Its relatives are listed where they are installed.
  ...(member.name !== "opencode" && { home: (env) => configFolder(member, env) }),
  recognises: ({ hook_event_name }) => hook_event_name === EVENT && member.name === "opencode",
  format: "file",
  text: ({ code, failed, waiting }) => `${code}${waiting ? WAITING : ""}
export const SessarcGuard = async ({ directory }) => ({${waiting ? "\n  event: async ({ event }) => onEvent(event)," : ""}
  "${EVENT}": async (input, output) => {
    let answer;
    try {
      answer = await ask({
        hook_event_name: "${EVENT}",
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
`,
});

const toFolder = (member: Member, env: AdapterEnv) =>
  (member.name === "opencode" && env.env.OPENCODE_CONFIG_DIR) || configFolder(member, env);

const EVENT = "tool.execute.before";

/** Sub-agents end their turns without a user. */
const WAITING = `
const children = new Set();

async function onEvent({ type, properties }) {
  const { info, sessionID } = properties ?? {};
  const tell = async (session, event) => children.has(session) || (await report(session, event));
  if (type === "session.created" || type === "session.updated") {
    if (info?.parentID) children.add(info.id);
  } else if (type === "session.deleted") await tell(info?.id, "ended");
  else if (type === "session.idle") await tell(sessionID, "answer");
  else if (type === "permission.asked" || type === "permission.updated") await tell(sessionID, "permission");
}
`;
