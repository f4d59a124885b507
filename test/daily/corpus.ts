/** Reads the logs of the benchmark corpus row by row, as histories: what its generator writes, and nothing else. */
import { readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { isRecord } from "sessarc";
import type { Call, Log, Step, Tokens } from "./history.ts";
import { NO_TOKENS } from "./history.ts";

type Row = Readonly<Record<string, unknown>>;

/** All logs below a home. Their files are made a day old, and those of forks are written once more: the generator makes them within a millisecond of their origin. */
export async function readCorpus(home: string): Promise<Log[]> {
  const found: TracedLog[] = [];
  for (const [root, read] of [
    [".claude/projects", claudeLog],
    [".codex/sessions", codexLog],
  ] as const) {
    const files = await readdir(join(home, root), { recursive: true });
    for (const name of files.filter((one) => one.endsWith(".jsonl")).sort()) {
      const path = join(home, root, name);
      const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
      found.push(read(relative(home, path), lines.map(toRow)));
    }
  }
  const logs = withoutCopies(found);
  for (const { file, copied } of logs) {
    const path = join(home, file);
    if (copied !== undefined) {
      const bytes = await readFile(path);
      await rm(path);
      await writeFile(path, bytes);
    }
    await utimes(path, Date.now() / 1_000 - 86_400, Date.now() / 1_000 - 86_400);
  }
  return logs;
}

const toRow = (line: string): Row => {
  const row: unknown = JSON.parse(line);
  return isRecord(row) ? row : {};
};
const part = (row: Row, name: string): Row => {
  const value = row[name];
  return isRecord(value) ? value : {};
};
const list = (value: unknown): Row[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const count = (value: unknown): number => (typeof value === "number" ? value : 0);

/** A worktree is a part of its project. */
const toFolder = (cwd: string) => cwd.replace(/\/\.worktrees\/[^/]+$/, "");

const DOES: Readonly<Record<string, Call["does"]>> = {
  Bash: "command",
  shell: "command",
  Read: "read",
  Edit: "edit",
  Write: "edit",
  apply_patch: "edit",
};
const toCall = (id: string, at: number, name: string, input: unknown): Call => ({
  ...{ id, at, name, does: DOES[name] ?? "other", input: JSON.stringify(input) },
  path: isRecord(input) ? text(input.file_path) : "",
});

/** Steps with the id of their row, by which copies are found, and of the row before; Codex' have none. */
interface Traced extends Step {
  id?: string;
  parent?: string;
}
interface TracedLog extends Log {
  steps: readonly Traced[];
}

function claudeLog(file: string, rows: readonly Row[]): TracedLog {
  const steps: Traced[] = [];
  const replies = new Map<string, Traced>();
  let session = "";
  let folder = "";
  for (const row of rows) {
    const at = Date.parse(text(row.timestamp));
    const message = part(row, "message");
    const step: Traced = { rows: [], end: at, messages: [], id: text(row.uuid), parent: text(row.parentUuid) };
    session ||= text(row.sessionId);
    // A fork begins with rows of where it came from.
    if (typeof row.cwd === "string") folder = toFolder(row.cwd);
    if (row.type === "system" && row.subtype === "compact_boundary")
      steps.push({ ...step, messages: [{ at, kind: "note" }] });
    if (row.type === "user") {
      const [result] = list(message.content);
      if (!result) steps.push({ ...step, messages: [{ at, kind: "user" }] });
      else {
        const { content } = result;
        const chars = (typeof content === "string" ? content : text(list(content)[0]?.text)).length;
        const of = { call: text(result.tool_use_id), at, failed: result.is_error === true, chars };
        steps.push({ ...step, messages: [{ at, kind: "result" }], result: of });
      }
    }
    if (row.type !== "assistant") continue;
    const [block = {}] = list(message.content);
    const kind = block.type === "tool_use" ? "call" : block.type === "thinking" ? "thinking" : "assistant";
    const next: Traced = { ...step, messages: [{ at, kind }] };
    if (kind === "call") next.calls = [toCall(text(block.id), at, text(block.name), block.input)];
    const tokens = claudeTokens(part(message, "usage"));
    const known = replies.get(text(message.id));
    // The last row of a reply has its tokens, the first one its time.
    if (known?.reply) known.reply = { ...known.reply, tokens };
    else if (Object.values(tokens).some((one) => one > 0)) {
      next.reply = { at, model: text(message.model), tokens };
      replies.set(text(message.id), next);
    }
    steps.push(next);
  }
  const isAgent = basename(file).startsWith("agent-");
  const root = `claude-code:${session}`;
  return { id: isAgent ? file : root, root, tool: "claude-code", folder, file, steps };
}

const claudeTokens = (usage: Row): Tokens => ({
  input: count(usage.input_tokens),
  output: count(usage.output_tokens),
  cacheWrite5m: count(part(usage, "cache_creation").ephemeral_5m_input_tokens),
  cacheWrite1h: count(part(usage, "cache_creation").ephemeral_1h_input_tokens),
  cacheRead: count(usage.cache_read_input_tokens),
});

const ITEMS = {
  function_call: "call",
  custom_tool_call: "call",
  function_call_output: "result",
  custom_tool_call_output: "result",
  reasoning: "thinking",
} as const;

function codexLog(file: string, rows: readonly Row[]): Log {
  const steps: Step[] = [];
  let [id, folder, model, before] = ["", "", "", ""];
  for (const row of rows) {
    const end = Date.parse(text(row.timestamp));
    const payload = part(row, "payload");
    const type = text(payload.type);
    const step: Step = { rows: [], end, messages: [] };
    if (row.type === "session_meta") [id, folder] = [text(payload.id), text(payload.cwd)];
    if (row.type === "turn_context") model = text(payload.model);
    if (row.type === "response_item") {
      const said = text(list(payload.content)[0]?.text);
      const of = said.startsWith("<environment_context>") ? "note" : payload.role === "user" ? "user" : "assistant";
      const kind = ITEMS[type as keyof typeof ITEMS] ?? of;
      const messages = [{ at: end, kind }];
      const call = text(payload.call_id);
      if (kind === "call") {
        const input: unknown = type === "function_call" ? JSON.parse(text(payload.arguments)) : payload.input;
        steps.push({ ...step, messages, calls: [toCall(call, end, text(payload.name), input)] });
      } else if (kind === "result") {
        const output = toRow(text(payload.output));
        const failed = part(output, "metadata").exit_code !== 0;
        steps.push({ ...step, messages, result: { call, at: end, failed, chars: text(output.output).length } });
      } else steps.push({ ...step, messages });
    }
    if (type !== "token_count") continue;
    const [info, primary] = [part(payload, "info"), part(part(payload, "rate_limits"), "primary")];
    const readings = isRecord(payload.rate_limits)
      ? [
          {
            tool: "codex",
            minutes: count(primary.window_minutes),
            at: end,
            resetsAt: count(primary.resets_at) * 1_000,
            usedPercent: count(primary.used_percent),
          },
        ]
      : [];
    const total = JSON.stringify(info.total_token_usage);
    const last = part(info, "last_token_usage");
    const [input, cached, output] = [last.input_tokens, last.cached_input_tokens, last.output_tokens].map(count);
    // The same total again is the same reply again.
    const isNew = total !== undefined && total !== before;
    before = total ?? before;
    const tokens = { ...NO_TOKENS, input: (input ?? 0) - (cached ?? 0), output: output ?? 0, cacheRead: cached ?? 0 };
    steps.push({ ...step, readings, ...(isNew && { reply: { at: end, model, tokens } }) });
  }
  return { id: `codex:${id}`, root: `codex:${id}`, tool: "codex", folder, file, steps };
}

/** A fork begins with the rows of the session it came from, and goes on with rows that do not follow from them: what it repeats is not its own. */
function withoutCopies(logs: readonly TracedLog[]): Log[] {
  const toIds = (log: TracedLog) => log.steps.map(({ id }) => id ?? "");
  const known = new Map<string, string[]>();
  for (const log of logs) for (const id of toIds(log)) if (id !== "") known.set(id, [...(known.get(id) ?? []), log.id]);
  return logs.map((log) => {
    const shared = log.steps.findIndex(({ id }) => id === undefined || (known.get(id)?.length ?? 0) < 2);
    const own = log.steps[shared];
    const isFork = shared > 0 && own?.parent === "";
    if (!isFork) return log;
    const repeated = log.steps.slice(0, shared);
    const copied = {
      messages: repeated.reduce((sum, { messages }) => sum + messages.length, 0),
      end: Math.max(...repeated.map(({ end }) => end)),
    };
    return { ...log, copied, steps: log.steps.slice(shared) };
  });
}
