/** Logs of Claude Code as tests of recall write them: a list of turns, one log a session. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export type Turn =
  | { user: string }
  | { says: string }
  | { call: string; input: object; result: string; failed?: boolean };

export const user = (text: string): Turn => ({ user: text });
export const says = (text: string): Turn => ({ says: text });
export const shell = (command: string, result = "ok", failed = false): Turn => ({
  ...{ call: "Bash", input: { command }, result, failed },
});
export const fails = (command: string, result: string): Turn => shell(command, result, true);
export const edit = (path: string, before = "a", after = "b"): Turn => ({
  ...{ call: "Edit", input: { file_path: path, old_string: before, new_string: after }, result: "ok" },
});

export interface TestSession {
  n: number;
  turns: readonly Turn[];
  cwd?: string;
  /** Of the first turn; a second passes with each. */
  at?: string;
}

export const uuidOf = (n: number) => `0b6f1c52-3a41-4d6e-9a51-${n.toString(16).padStart(12, "0")}`;
export const idOf = (n: number) => `claude-code:${uuidOf(n)}`;

/** Lines of the log. Seqs: a turn of the user or the assistant is one message, a call two. */
export function toLog({ n, turns, cwd = "/w/app", at = "2026-11-20T10:00:00Z" }: TestSession): string {
  let ms = Date.parse(at);
  let count = 0;
  const row = (type: "user" | "assistant", content: unknown) => {
    ms += 1_000;
    const id = `${n}-${count++}`;
    const reply = { id: `m${id}`, role: type, model: "claude-opus-4-6", content, usage: { output_tokens: 1 } };
    const message = type === "user" ? { role: type, content } : reply;
    return { type, uuid: `u${id}`, sessionId: uuidOf(n), timestamp: new Date(ms).toISOString(), cwd, message };
  };
  const rows = turns.flatMap((turn, i) => {
    if ("user" in turn) return [row("user", turn.user)];
    if ("says" in turn) return [row("assistant", [{ type: "text", text: turn.says }])];
    const id = `t${n}-${i}`;
    return [
      row("assistant", [{ type: "tool_use", id, name: turn.call, input: turn.input }]),
      row("user", [{ type: "tool_result", tool_use_id: id, is_error: turn.failed === true, content: turn.result }]),
    ];
  });
  return rows.map((line) => `${JSON.stringify(line)}\n`).join("");
}

export async function writeSessions(home: string, sessions: readonly TestSession[]): Promise<void> {
  for (const session of sessions) {
    const folder = (session.cwd ?? "/w/app").replaceAll(/[^\w]/g, "-");
    const file = join(home, `.claude/projects/${folder}/${uuidOf(session.n)}.jsonl`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, toLog(session));
  }
}
