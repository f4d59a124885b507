/** Claude Code 2.1: one JSON-lines file per session, sub-agents in a folder beside it. */
import type { Call, Played, Reply, Turn } from "../play.ts";
import { createRandom } from "../random.ts";
import { inFolder, iso, jsonl, type LogFile, numbered } from "./log.ts";

export function claudeCode(sessions: readonly Played[]): LogFile[] {
  return sessions.flatMap((played) => {
    const folder = `.claude/projects/${played.cwd.replace(/[^A-Za-z0-9-]/g, "-")}`;
    const rows = toRows(played, played.id);
    if (played.story.title) rows.push({ type: "ai-title", aiTitle: played.story.title, sessionId: played.id });
    const main: LogFile = { path: `${folder}/${played.id}.jsonl`, content: jsonl(rows), at: played.endedAt };
    return [main, ...subagents(played, `${folder}/${played.id}/subagents`)];
  });
}

function subagents(played: Played, folder: string): LogFile[] {
  return toCalls(played)
    .filter((call) => !call.inherited)
    .flatMap(({ call }) => {
      const { child, action } = call;
      if (!child || action.do !== "agent") return [];
      const name = `${folder}/agent-${child.id}`;
      const meta = { agentType: action.kind, description: action.task, toolUseId: `toolu_${call.id}`, spawnDepth: 1 };
      return [
        { path: `${name}.jsonl`, content: jsonl(toRows(child, played.id, child.id)), at: child.endedAt },
        { path: `${name}.meta.json`, content: JSON.stringify(meta), at: child.endedAt },
      ];
    });
}

function toCalls(played: Played) {
  return played.turns.flatMap((turn) =>
    turn.kind === "reply" ? turn.calls.map((call) => ({ call, inherited: turn.inherited })) : [],
  );
}

function toRows(played: Played, sessionId: string, agentId?: string): unknown[] {
  const rows: unknown[] = [];
  let parentUuid: string | null = null;
  const push = (row: { uuid: string } & Record<string, unknown>, at: number) => {
    const envelope = {
      isSidechain: agentId !== undefined,
      ...(agentId && { agentId }),
      userType: "external",
      cwd: played.cwd,
      sessionId,
      version: "2.1.197",
      ...(played.branch && { gitBranch: played.branch }),
      timestamp: iso(at),
    };
    rows.push({ parentUuid, ...row, ...envelope });
    parentUuid = row.uuid;
  };
  for (const turn of played.turns) {
    if (turn.kind === "reply") pushReply(turn, played, push);
    else pushOther(turn, push);
  }
  return rows;
}

type Push = (row: { uuid: string } & Record<string, unknown>, at: number) => void;

function pushOther(turn: Exclude<Turn, Reply>, push: Push): void {
  if (turn.kind === "ask") {
    push({ type: "user", message: { role: "user", content: turn.text }, uuid: turn.id }, turn.at);
  } else if (turn.kind === "compact") {
    const compactMetadata = { trigger: "auto", preTokens: 148_210 };
    push(
      {
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        compactMetadata,
        uuid: `${turn.id}-b`,
      },
      turn.at,
    );
    const message = {
      role: "user",
      content: `This session is being continued from a previous conversation.\n\n${turn.text}`,
    };
    push({ type: "user", message, isCompactSummary: true, uuid: turn.id }, turn.at + 1);
  }
}

function pushReply(turn: Reply, played: Played, push: Push): void {
  // Copies of a reply in a fork keep its ids, as the tool itself does it.
  const random = createRandom(turn.id);
  const messageId = `msg_01${random.text(22)}`;
  const requestId = `req_011${random.text(21)}`;
  const { input, cacheRead, cacheWrite, output } = turn.tokens;
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    service_tier: "standard",
  };
  const blocks: unknown[] = [];
  if (turn.think) blocks.push({ type: "thinking", thinking: turn.think, signature: random.text(32) });
  if (turn.say) blocks.push({ type: "text", text: turn.say });
  for (const call of turn.calls)
    blocks.push({ type: "tool_use", id: `toolu_${call.id}`, ...toToolUse(call, played.cwd) });
  const stop = turn.calls.length > 0 ? "tool_use" : "end_turn";
  for (const block of blocks) {
    const message = {
      id: messageId,
      type: "message",
      role: "assistant",
      model: played.story.model,
      content: [block],
      stop_reason: stop,
      usage,
    };
    push({ type: "assistant", message, requestId, uuid: random.uuid() }, turn.at);
  }
  for (const call of turn.calls) {
    const content = call.action.do === "read" && !call.failed ? numbered(call.output, "→") : call.output;
    const result = { tool_use_id: `toolu_${call.id}`, type: "tool_result", content, is_error: call.failed };
    const toolUseResult = call.child ? { status: "completed", agentId: call.child.id } : undefined;
    push(
      {
        type: "user",
        message: { role: "user", content: [result] },
        ...(toolUseResult && { toolUseResult }),
        uuid: random.uuid(),
      },
      call.endAt,
    );
  }
}

function toToolUse({ action }: Call, cwd: string): { name: string; input: unknown } {
  switch (action.do) {
    case "read":
      return { name: "Read", input: { file_path: inFolder(cwd, action.path) } };
    case "write":
      return { name: "Write", input: { file_path: inFolder(cwd, action.path), content: action.text } };
    case "edit":
      return {
        name: "Edit",
        input: { file_path: inFolder(cwd, action.path), old_string: action.from, new_string: action.to },
      };
    case "run":
      return { name: "Bash", input: { command: action.command } };
    case "search":
      return { name: "Grep", input: { pattern: action.pattern, output_mode: "content" } };
    case "agent":
      return { name: "Agent", input: { description: action.task, prompt: action.prompt, subagent_type: action.kind } };
  }
}
