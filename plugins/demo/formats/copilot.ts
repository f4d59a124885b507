/** Copilot CLI 1.0: a folder per session with an event log; shutdown figures are cumulative over resumes. */
import type { Call, Played, Reply } from "../play.ts";
import { createRandom } from "../random.ts";
import { inFolder, iso, jsonl, type LogFile } from "./log.ts";

export function copilot(sessions: readonly Played[]): LogFile[] {
  return sessions.flatMap((played) => {
    const folder = `.copilot/session-state/${played.id}`;
    const yaml = [
      `id: ${played.id}`,
      `cwd: ${played.cwd}`,
      ...(played.branch ? [`branch: ${played.branch}`] : []),
      `created_at: ${iso(played.startedAt)}`,
      `updated_at: ${iso(played.endedAt)}`,
      "",
    ];
    return [
      { path: `${folder}/events.jsonl`, content: jsonl(toRows(played)), at: played.endedAt },
      { path: `${folder}/workspace.yaml`, content: yaml.join("\n"), at: played.endedAt },
    ];
  });
}

interface Sum {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
}

function toRows(played: Played): unknown[] {
  const random = createRandom(`${played.id} events`);
  const rows: unknown[] = [];
  let parentId: string | null = null;
  const push = (at: number, type: string, data: unknown) => {
    const id = random.uuid();
    rows.push({ type, data, id, timestamp: iso(at), parentId });
    parentId = id;
  };
  const { cwd, story } = played;
  const context = { cwd, ...(played.branch && { gitRoot: cwd, branch: played.branch }) };
  push(played.startedAt, "session.start", {
    sessionId: played.id,
    version: 1,
    producer: "copilot-agent",
    copilotVersion: "1.0.102",
    startTime: iso(played.startedAt),
    selectedModel: story.model,
    context,
  });
  const sum: Sum = {
    requests: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
  let last = played.startedAt;
  for (const turn of played.turns) {
    if (turn.kind === "resume") {
      push(last, "session.shutdown", shutdown(story.model, sum));
      push(turn.at, "session.resume", { resumeTime: iso(turn.at), selectedModel: story.model, context });
    } else if (turn.kind === "ask") {
      push(turn.at, "user.message", {
        content: turn.text,
        transformedContent: `<current_datetime>${iso(turn.at)}</current_datetime>\n\n${turn.text}`,
      });
    } else if (turn.kind === "reply") {
      pushReply(turn, played, sum, push);
    }
    last = turn.kind === "reply" ? turn.endAt : turn.at;
  }
  push(last, "session.shutdown", shutdown(story.model, sum));
  return rows;
}

function pushReply(
  turn: Reply,
  played: Played,
  sum: Sum,
  push: (at: number, type: string, data: unknown) => void,
): void {
  const random = createRandom(turn.id);
  const { input, cacheRead, cacheWrite, output, reasoning } = turn.tokens;
  const used = {
    inputTokens: input + cacheRead + cacheWrite,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning,
  };
  sum.requests++;
  for (const key of Object.keys(used) as (keyof typeof used)[]) sum[key] += used[key];
  const accounting = { sourceSessionId: played.id, sequence: sum.requests, usageId: `chatcmpl-${random.text(24)}` };
  push(turn.at, "assistant.turn_start", { turnId: String(sum.requests) });
  push(turn.at, "session.usage_record", { usage: { model: played.story.model, ...used, accounting } });
  const toolRequests = turn.calls.map((call) => ({
    toolCallId: `call_${call.id}`,
    ...toTool(call, played.cwd),
    type: "function",
  }));
  push(turn.at, "assistant.message", {
    messageId: turn.id,
    model: played.story.model,
    content: turn.say ?? "",
    toolRequests,
    ...(turn.think && { reasoningText: turn.think }),
  });
  for (const call of turn.calls) {
    const { name, arguments: args } = toTool(call, played.cwd);
    const toolCallId = `call_${call.id}`;
    push(call.at, "tool.execution_start", { toolCallId, toolName: name, arguments: args });
    const exit = call.action.do === "run" ? { shellExecution: { exitCode: call.action.exit ?? 0 } } : {};
    const outcome = call.failed
      ? { success: false, error: { message: call.output } }
      : { success: true, result: { content: call.output } };
    push(call.endAt, "tool.execution_complete", { toolCallId, model: played.story.model, ...exit, ...outcome });
  }
  push(turn.endAt, "assistant.turn_end", { turnId: String(sum.requests) });
}

function shutdown(model: string, { requests, ...usage }: Sum): unknown {
  return { shutdownType: "routine", modelMetrics: { [model]: { requests: { count: requests, cost: 0 }, usage } } };
}

function toTool({ action }: Call, cwd: string): { name: string; arguments: unknown } {
  switch (action.do) {
    case "read":
      return { name: "view", arguments: { path: inFolder(cwd, action.path) } };
    case "write":
      return { name: "create", arguments: { path: inFolder(cwd, action.path), file_text: action.text } };
    case "edit":
      return {
        name: "edit",
        arguments: { path: inFolder(cwd, action.path), old_str: action.from, new_str: action.to },
      };
    case "run":
      return { name: "bash", arguments: { command: action.command, description: "Run a command" } };
    case "search":
      return { name: "grep", arguments: { pattern: action.pattern } };
    case "agent":
      return { name: "task", arguments: { agent_type: action.kind, description: action.task, prompt: action.prompt } };
  }
}
