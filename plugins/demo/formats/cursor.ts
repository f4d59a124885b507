/** Cursor: conversations in the editor's database where the project is a repository, else agent transcripts. */
import { createHash } from "node:crypto";
import { buildSqlite } from "sessarc/storage";
import type { Call, Played, Turn } from "../play.ts";
import { createRandom } from "../random.ts";
import { iso, jsonl, type LogFile } from "./log.ts";

/** `userFolder` is Cursor's `User` folder, relative to the sample home. */
export async function cursor(sessions: readonly Played[], userFolder: string): Promise<LogFile[]> {
  const inDatabase = sessions.filter((played) => played.branch);
  const asTranscript = sessions.filter((played) => !played.branch);
  return [...(await databases(inDatabase, userFolder)), ...asTranscript.map(transcript)];
}

async function databases(sessions: readonly Played[], userFolder: string): Promise<LogFile[]> {
  const build = (items: [string, unknown][], disk: [string, unknown][]): Promise<Uint8Array> =>
    buildSqlite((run) => {
      run("create table ItemTable(key text unique on conflict replace, value blob)");
      run("create table cursorDiskKV(key text unique on conflict replace, value blob)");
      for (const [key, value] of items) run("insert into ItemTable values (?, ?)", [key, JSON.stringify(value)]);
      for (const [key, value] of disk) run("insert into cursorDiskKV values (?, ?)", [key, JSON.stringify(value)]);
    });
  const at = Math.max(0, ...sessions.map((played) => played.endedAt));
  const global = await build([], sessions.flatMap(toRows));
  const workspaces: LogFile[] = [];
  for (const cwd of new Set(sessions.map((played) => played.cwd))) {
    const folder = `${userFolder}/workspaceStorage/${workspaceId(cwd)}`;
    const selectedComposerIds = sessions.filter((played) => played.cwd === cwd).map((played) => played.id);
    const content = await build([["composer.composerData", { selectedComposerIds }]], []);
    workspaces.push(
      { path: `${folder}/workspace.json`, content: JSON.stringify({ folder: `file://${encodeURI(cwd)}` }), at },
      { path: `${folder}/state.vscdb`, content, at },
    );
  }
  return [{ path: `${userFolder}/globalStorage/state.vscdb`, content: global, at }, ...workspaces];
}

const workspaceId = (cwd: string) => createHash("md5").update(cwd).digest("hex");

function toRows(played: Played): [string, unknown][] {
  const bubbles = played.turns.flatMap((turn) => toBubbles(turn, played.story.model));
  const composer = {
    _v: 10,
    composerId: played.id,
    name: played.story.title ?? "",
    fullConversationHeadersOnly: bubbles.map(({ bubbleId, type }) => ({ bubbleId, type })),
    createdAt: played.startedAt,
    lastUpdatedAt: played.endedAt,
    modelConfig: { modelName: played.story.model },
    unifiedMode: "agent",
    workspaceIdentifier: {
      id: workspaceId(played.cwd),
      uri: { fsPath: played.cwd, external: `file://${encodeURI(played.cwd)}` },
    },
  };
  return [
    [`composerData:${played.id}`, composer],
    ...bubbles.map((bubble): [string, unknown] => [`bubbleId:${played.id}:${bubble.bubbleId}`, bubble]),
  ];
}

function toBubbles(turn: Turn, model: string): ({ bubbleId: string; type: 1 | 2 } & Record<string, unknown>)[] {
  if (turn.kind === "ask") return [{ _v: 3, bubbleId: turn.id, type: 1, text: turn.text, createdAt: iso(turn.at) }];
  if (turn.kind !== "reply") return [];
  const random = createRandom(turn.id);
  const bubble = (at: number, rest: Record<string, unknown>) => ({
    _v: 3,
    bubbleId: random.uuid(),
    type: 2 as const,
    text: "",
    createdAt: iso(at),
    ...rest,
  });
  const { input, cacheRead, cacheWrite, output } = turn.tokens;
  const tokenCount = { inputTokens: input + cacheRead + cacheWrite, outputTokens: output };
  return [
    ...(turn.think ? [bubble(turn.at, { thinking: { text: turn.think } })] : []),
    ...turn.calls.map((call) => bubble(call.at, { capabilityType: 15, toolFormerData: toToolData(call) })),
    ...(turn.say ? [bubble(turn.endAt, { text: turn.say, modelInfo: { modelName: model }, tokenCount })] : []),
  ];
}

function toToolData(call: Call): unknown {
  const { name, args } = toTool(call);
  const result =
    call.action.do === "read"
      ? { contents: call.output }
      : { output: call.output, exitCode: call.action.do === "run" ? (call.action.exit ?? 0) : undefined };
  return {
    name,
    toolCallId: `tool_${call.id}`,
    status: call.failed ? "error" : "completed",
    rawArgs: JSON.stringify(args),
    params: JSON.stringify(args),
    result: JSON.stringify(result),
  };
}

function transcript(played: Played): LogFile {
  const slug = played.cwd.replace(/^\//, "").replace(/[/_.]/g, "-");
  const rows = played.turns.flatMap((turn): unknown[] => {
    if (turn.kind === "ask")
      return [
        { role: "user", message: { content: [{ type: "text", text: `<user_query>\n${turn.text}\n</user_query>` }] } },
      ];
    if (turn.kind !== "reply") return [];
    const uses = turn.calls.map((call) => {
      const { name, args } = toTool(call);
      return { type: "tool_use", name, input: args };
    });
    const text = turn.say ?? turn.think;
    return [{ role: "assistant", message: { content: [...(text ? [{ type: "text", text }] : []), ...uses] } }];
  });
  const path = `.cursor/projects/${slug}/agent-transcripts/${played.id}/${played.id}.jsonl`;
  return { path, content: jsonl([...rows, { type: "turn_ended" }]), at: played.endedAt };
}

function toTool({ action }: Call): { name: string; args: unknown } {
  switch (action.do) {
    case "read":
      return { name: "read_file", args: { target_file: action.path } };
    case "write":
      return { name: "write", args: { file_path: action.path, contents: action.text } };
    case "edit":
      return {
        name: "search_replace",
        args: { file_path: action.path, old_string: action.from, new_string: action.to },
      };
    case "run":
      return { name: "run_terminal_cmd", args: { command: action.command } };
    case "search":
      return { name: "grep", args: { pattern: action.pattern } };
    case "agent":
      return { name: "task", args: { description: action.task, prompt: action.prompt } };
  }
}
