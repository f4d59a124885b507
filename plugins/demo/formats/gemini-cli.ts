/** Gemini CLI 0.61: one JSON-lines chat per session below a folder per project. */
import { createHash } from "node:crypto";
import type { Call, Played, Reply } from "../play.ts";
import { createRandom } from "../random.ts";
import { inFolder, iso, jsonl, type LogFile } from "./log.ts";

export function geminiCli(sessions: readonly Played[]): LogFile[] {
  const projects: Record<string, string> = {};
  const files: LogFile[] = [];
  for (const played of sessions) {
    const slug = played.story.project;
    const minute = iso(played.startedAt).slice(0, 16).replace(":", "-");
    const folder = `.gemini/tmp/${slug}`;
    if (!projects[played.cwd])
      files.push({ path: `${folder}/.project_root`, content: played.cwd, at: played.startedAt });
    projects[played.cwd] = slug;
    const path = `${folder}/chats/session-${minute}-${played.id.slice(0, 8)}.jsonl`;
    files.push({ path, content: jsonl(toRows(played)), at: played.endedAt });
  }
  const at = Math.max(0, ...sessions.map((played) => played.endedAt));
  return [...files, { path: ".gemini/projects.json", content: JSON.stringify({ projects }, null, 2), at }];
}

function toRows(played: Played): unknown[] {
  const projectHash = createHash("sha256").update(played.cwd).digest("hex");
  const startTime = iso(played.startedAt);
  const rows: unknown[] = [{ sessionId: played.id, projectHash, startTime, lastUpdated: startTime, kind: "main" }];
  const context = `<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n- **Workspace Directories:**\n  - ${played.cwd}\n</session_context>`;
  const first = {
    id: createRandom(played.id).hex(32),
    timestamp: startTime,
    type: "user",
    content: [{ text: context }],
  };
  rows.push({ $set: { messages: [first], lastUpdated: startTime } });
  for (const turn of played.turns) {
    if (turn.kind === "ask")
      rows.push({ id: turn.id, timestamp: iso(turn.at), type: "user", content: [{ text: turn.text }] });
    if (turn.kind !== "reply") continue;
    const row = toMessage(turn, played);
    rows.push(row, { $set: { lastUpdated: iso(turn.endAt) } });
    // The tool appends the reply again when the results are in.
    if (turn.calls.length > 0) rows.push({ ...row, toolCalls: turn.calls.map((call) => toToolCall(call, played.cwd)) });
  }
  return rows;
}

function toMessage(turn: Reply, played: Played) {
  const { input, cacheRead, cacheWrite, output, reasoning } = turn.tokens;
  const thoughts = turn.think ? [{ subject: "Planning", description: turn.think, timestamp: iso(turn.at) }] : [];
  const asked = input + cacheRead + cacheWrite;
  const tokens = {
    input: asked,
    output: output - reasoning,
    cached: cacheRead,
    thoughts: reasoning,
    tool: 0,
    total: asked + output,
  };
  return {
    id: turn.id,
    timestamp: iso(turn.at),
    type: "gemini",
    content: turn.say ?? "",
    thoughts,
    tokens,
    model: played.story.model,
  };
}

function toToolCall(call: Call, cwd: string): unknown {
  const { name, args } = toTool(call, cwd);
  const id = `${name}_${call.at}_0`;
  const result = [
    { functionResponse: { id, name, response: call.failed ? { error: call.output } : { output: call.output } } },
  ];
  return {
    id,
    name,
    args,
    result,
    status: call.failed ? "error" : "success",
    timestamp: iso(call.endAt),
    resultDisplay: call.output,
  };
}

function toTool({ action }: Call, cwd: string): { name: string; args: unknown } {
  switch (action.do) {
    case "read":
      return { name: "read_file", args: { file_path: inFolder(cwd, action.path) } };
    case "write":
      return { name: "write_file", args: { file_path: inFolder(cwd, action.path), content: action.text } };
    case "edit":
      return {
        name: "replace",
        args: { file_path: inFolder(cwd, action.path), old_string: action.from, new_string: action.to },
      };
    case "run":
      return { name: "run_shell_command", args: { command: action.command } };
    case "search":
      return { name: "search_file_content", args: { pattern: action.pattern } };
    case "agent":
      return { name: "codebase_investigator", args: { objective: action.prompt } };
  }
}
