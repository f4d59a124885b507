/** OpenCode 1.1: JSON storage, one file per session, message and part. */
import type { Call, Played, Reply } from "../play.ts";
import { createRandom } from "../random.ts";
import { inFolder, type LogFile } from "./log.ts";

const STORAGE = ".local/share/opencode/storage";

export function openCode(sessions: readonly Played[]): LogFile[] {
  return sessions.flatMap((played) => {
    const projectID = createRandom(played.cwd).hex(40);
    const project = {
      id: projectID,
      worktree: played.cwd,
      ...(played.branch && { vcs: "git" }),
      time: { created: played.startedAt, updated: played.endedAt },
    };
    const children = played.turns
      .flatMap((turn) => (turn.kind === "reply" ? turn.calls : []))
      .flatMap((call) => (call.child ? [{ call, child: call.child }] : []));
    return [
      json(`project/${projectID}.json`, project, played.endedAt),
      ...session(played, projectID, { title: played.story.title ?? "New session" }),
      ...children.flatMap(({ call, child }) => {
        const title = call.action.do === "agent" ? `${call.action.task} (@${call.action.kind} subagent)` : "Task";
        return session(child, projectID, { title, parentID: sessionId(played) });
      }),
    ];
  });
}

const sessionId = (played: Played) => `ses_${createRandom(played.id).text(26)}`;
const json = (path: string, value: unknown, at: number): LogFile => ({
  path: `${STORAGE}/${path}`,
  content: JSON.stringify(value, null, 2),
  at,
});

function session(played: Played, projectID: string, extra: { title: string; parentID?: string }): LogFile[] {
  const id = sessionId(played);
  const files: LogFile[] = [];
  let asked = "";
  let n = 0;
  for (const turn of played.turns) {
    if (turn.kind !== "ask" && turn.kind !== "reply") continue;
    // Ids sort in the order of their creation.
    const messageID = `msg_${String(n++).padStart(6, "0")}${createRandom(turn.id).text(20)}`;
    const parts = turn.kind === "ask" ? [{ type: "text", text: turn.text }] : toParts(turn, played.cwd);
    if (turn.kind === "ask") {
      asked = messageID;
      const model = { providerID: "anthropic", modelID: played.story.model };
      files.push(
        json(
          `message/${id}/${messageID}.json`,
          { id: messageID, sessionID: id, role: "user", time: { created: turn.at }, agent: "build", model },
          turn.at,
        ),
      );
    } else {
      files.push(
        json(
          `message/${id}/${messageID}.json`,
          { id: messageID, sessionID: id, parentID: asked, ...toMessage(turn, played) },
          turn.endAt,
        ),
      );
    }
    parts.forEach((part, i) => {
      const partID = `prt_${String(i).padStart(4, "0")}${createRandom(`${turn.id}${i}`).text(22)}`;
      files.push(json(`part/${messageID}/${partID}.json`, { id: partID, sessionID: id, messageID, ...part }, turn.at));
    });
  }
  const info = {
    id,
    slug: played.story.name,
    version: "1.1.65",
    projectID,
    directory: played.cwd,
    ...extra,
    time: { created: played.startedAt, updated: played.endedAt },
  };
  return [json(`session/${projectID}/${id}.json`, info, played.endedAt), ...files];
}

function toMessage(turn: Reply, played: Played) {
  const { input, cacheRead, cacheWrite, output, reasoning } = turn.tokens;
  const tokens = {
    total: input + output + cacheRead + cacheWrite,
    input,
    output,
    reasoning,
    cache: { read: cacheRead, write: cacheWrite },
  };
  return {
    role: "assistant",
    time: { created: turn.at, completed: turn.endAt },
    modelID: played.story.model,
    providerID: played.story.model.startsWith("gpt") ? "openai" : "anthropic",
    mode: "build",
    agent: "build",
    path: { cwd: played.cwd, root: played.cwd },
    cost: 0,
    tokens,
    finish: turn.calls.length > 0 ? "tool-calls" : "stop",
  };
}

function toParts(turn: Reply, cwd: string): Record<string, unknown>[] {
  const time = { start: turn.at, end: turn.at };
  return [
    { type: "step-start" },
    ...(turn.think ? [{ type: "reasoning", text: turn.think, time }] : []),
    ...(turn.say ? [{ type: "text", text: turn.say, time }] : []),
    ...turn.calls.map((call) => toToolPart(call, cwd)),
  ];
}

function toToolPart(call: Call, cwd: string): Record<string, unknown> {
  const { tool, input } = toTool(call, cwd);
  const time = { start: call.at, end: call.endAt };
  const metadata = call.action.do === "run" ? { exit: call.action.exit ?? 0, output: call.output } : {};
  // A command that fails is completed; its exit status tells.
  const state =
    call.failed && call.action.do !== "run"
      ? { status: "error", input, error: call.output, time }
      : { status: "completed", input, output: call.output, title: tool, metadata, time };
  return { type: "tool", callID: `call_${call.id}`, tool, state };
}

function toTool({ action }: Call, cwd: string): { tool: string; input: unknown } {
  switch (action.do) {
    case "read":
      return { tool: "read", input: { filePath: inFolder(cwd, action.path) } };
    case "write":
      return { tool: "write", input: { filePath: inFolder(cwd, action.path), content: action.text } };
    case "edit":
      return {
        tool: "edit",
        input: { filePath: inFolder(cwd, action.path), oldString: action.from, newString: action.to },
      };
    case "run":
      return { tool: "bash", input: { command: action.command, description: "Run a command" } };
    case "search":
      return { tool: "grep", input: { pattern: action.pattern } };
    case "agent":
      return { tool: "task", input: { description: action.task, prompt: action.prompt, subagent_type: action.kind } };
  }
}
