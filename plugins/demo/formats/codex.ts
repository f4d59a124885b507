/** Codex CLI 0.169: rollout files by day, a token record per reply. */
import type { Call, Played, Reply } from "../play.ts";
import { createRandom } from "../random.ts";
import { iso, jsonl, type LogFile, toPatch } from "./log.ts";

export function codex(sessions: readonly Played[]): LogFile[] {
  return sessions.map((played) => {
    const stamp = iso(played.startedAt).slice(0, 19);
    const day = stamp.slice(0, 10).replaceAll("-", "/");
    const path = `.codex/sessions/${day}/rollout-${stamp.replaceAll(":", "-")}-${played.id}.jsonl`;
    return { path, content: jsonl(toRows(played)), at: played.endedAt };
  });
}

interface Count {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_input_tokens: number;
  output_tokens: number;
  reasoning_output_tokens: number;
  total_tokens: number;
}

function toRows(played: Played): unknown[] {
  const rows: unknown[] = [];
  const push = (at: number, type: string, payload: unknown) =>
    rows.push({ timestamp: iso(at), ordinal: rows.length, type, payload });
  const { cwd, id, startedAt, story } = played;
  const git = played.branch ? { git: { branch: played.branch } } : {};
  push(startedAt, "session_meta", {
    id,
    session_id: id,
    timestamp: iso(startedAt),
    cwd,
    originator: "codex_cli_rs",
    cli_version: "0.169.0",
    source: "cli",
    model_provider: "openai",
    ...git,
  });
  const context = `<environment_context>\n  <cwd>${cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>`;
  push(startedAt, "response_item", message("user", context));
  let turnId = "";
  const total = count(0, 0, 0, 0, 0);
  for (const turn of played.turns) {
    if (turn.kind === "ask") {
      turnId = turn.id;
      push(turn.at, "turn_context", { turn_id: turnId, cwd, approval_policy: "on-request", model: story.model });
      push(turn.at, "response_item", message("user", turn.text));
    } else if (turn.kind === "reply") {
      pushReply(turn, { id, turnId }, total, push);
    }
  }
  return rows;
}

function pushReply(
  turn: Reply,
  ids: { id: string; turnId: string },
  total: Count,
  push: (at: number, type: string, payload: unknown) => void,
): void {
  const random = createRandom(turn.id);
  if (turn.think) {
    const summary = [{ type: "summary_text", text: turn.think }];
    push(turn.at, "response_item", { type: "reasoning", id: `rs_${random.hex(20)}`, summary, content: null });
  }
  if (turn.say) push(turn.at, "response_item", message("assistant", turn.say));
  for (const call of turn.calls) push(call.at, "response_item", toCall(call));
  const { input, cacheRead, cacheWrite, output, reasoning } = turn.tokens;
  const used = count(input + cacheRead + cacheWrite, cacheRead, cacheWrite, output, reasoning);
  for (const key of Object.keys(total) as (keyof Count)[]) total[key] += used[key];
  push(turn.at, "token_usage_record", {
    thread_id: ids.id,
    turn_id: ids.turnId,
    response_id: `resp_${random.hex(24)}`,
    usage: used,
    thread_token_usage: { ...total },
  });
  for (const call of turn.calls) {
    const code = call.action.do === "run" ? (call.action.exit ?? 0) : call.failed ? 1 : 0;
    const patch = call.action.do === "edit" || call.action.do === "write";
    const seconds = ((call.endAt - call.at) / 1000).toFixed(4);
    const text = patch
      ? `Exit code: ${code}\nWall time: ${seconds} seconds\nOutput:\n${call.output}\n`
      : `Chunk ID: ${random.hex(6)}\nWall time: ${seconds} seconds\nProcess exited with code ${code}\nOutput:\n${call.output}\n`;
    push(call.endAt, "response_item", {
      type: patch ? "custom_tool_call_output" : "function_call_output",
      call_id: `call_${call.id}`,
      output: text,
    });
  }
  push(turn.endAt, "event_msg", {
    type: "token_count",
    info: { total_token_usage: { ...total }, last_token_usage: used, model_context_window: 258_400 },
  });
}

function toCall({ action, id, before }: Call): unknown {
  if (action.do === "edit" || action.do === "write") {
    return {
      type: "custom_tool_call",
      status: "completed",
      call_id: `call_${id}`,
      name: "apply_patch",
      input: toPatch(action, before),
    };
  }
  const cmd =
    action.do === "run"
      ? action.command
      : action.do === "read"
        ? `sed -n '1,200p' ${action.path}`
        : action.do === "search"
          ? `rg -n '${action.pattern}'`
          : action.prompt;
  return {
    type: "function_call",
    status: "completed",
    name: "exec_command",
    arguments: JSON.stringify({ cmd }),
    call_id: `call_${id}`,
  };
}

function message(role: "user" | "assistant", text: string): unknown {
  return { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] };
}

function count(input: number, cached: number, written: number, output: number, reasoning: number): Count {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    cache_write_input_tokens: written,
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  };
}
