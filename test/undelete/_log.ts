/** Logs as Claude Code 2.1 writes them, row by row, for sessions that work in a real folder. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface LogOptions {
  home: string;
  root: string;
  key: string;
}

export function createLog({ home, root, key }: LogOptions) {
  const rows: object[] = [];
  let calls = 0;
  const base = (type: string, seconds: number) => ({
    ...{
      type,
      uuid: `${key.slice(-4)}-${rows.length}`,
      parentUuid: null,
      sessionId: key,
      cwd: root,
      version: "2.1.330",
    },
    timestamp: new Date(seconds * 1000).toISOString(),
  });
  return {
    path: join(home, ".claude/projects/-w", `${key}.jsonl`),
    copies: join(home, ".claude/file-history", key),
    prompt(seconds: number, text: string) {
      rows.push({ ...base("user", seconds), message: { role: "user", content: text } });
    },
    /** A call and its result, of one second. */
    call(
      seconds: number,
      name: string,
      input: object,
      result: string,
      more: { failed?: boolean; result?: object } = {},
    ) {
      const id = `toolu_${key.slice(-4)}${calls++}`;
      rows.push({
        ...base("assistant", seconds),
        message: {
          id: `m${rows.length}`,
          role: "assistant",
          model: "m",
          content: [{ type: "tool_use", id, name, input }],
        },
      });
      rows.push({
        ...base("user", seconds),
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: id, content: result, ...(more.failed && { is_error: true }) }],
        },
        ...(more.result && { toolUseResult: more.result }),
      });
    },
    attachment(seconds: number, attachment: object) {
      rows.push({ ...base("attachment", seconds), attachment });
    },
    /** The copy of a file before it is changed; `name` null: there was no file. */
    snapshot(seconds: number, path: string, name: string | null) {
      const at = new Date(seconds * 1000).toISOString();
      const backup = { backupFileName: name, version: 1, backupTime: at };
      rows.push({
        ...{ type: "file-history-snapshot", messageId: `s${rows.length}`, isSnapshotUpdate: true },
        snapshot: { messageId: `s${rows.length}`, trackedFileBackups: { [path]: backup }, timestamp: at },
      });
    },
    write() {
      mkdirSync(dirname(this.path), { recursive: true });
      writeFileSync(this.path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    },
  };
}

/** A file as the tool Read shows it: numbered lines, and an empty last one after a line end. */
export function shown(text: string, offset = 1, limit = 2_000): string {
  const lines = text.split("\n").slice(offset - 1, offset - 1 + limit);
  return lines.map((line, i) => `${offset + i}\t${line}`).join("\n");
}
