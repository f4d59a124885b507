/** A whole adapter, as anyone can write one: Echo CLI keeps `~/.echo/sessions/<name>.jsonl`, a row per message. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  createLedger,
  defineAdapter,
  type EventKind,
  isRecord,
  readLines,
  type SessionEvent,
  toIso,
  toText,
} from "sessarc";

const KINDS: Record<string, EventKind> = { human: "user", bot: "assistant", call: "tool_use", result: "tool_result" };

export default defineAdapter((options: { dir?: string } | undefined) => ({
  name: "echo",
  label: "Echo CLI",
  roots: ({ home }) => [options?.dir ?? join(home, ".echo", "sessions")],

  async *scan(root) {
    const files = await readdir(root, { withFileTypes: true }).catch(() => []);
    for (const file of files) {
      if (!file.isFile() || !file.name.endsWith(".jsonl")) continue;
      const path = join(root, file.name);
      const { size, mtimeMs } = await stat(path);
      yield { tool: "echo", key: file.name.slice(0, -6), path, size, mtime: mtimeMs, exclusive: true };
    }
  },

  async *read(ref) {
    const ledger = createLedger();
    let seq = 0;
    for await (const line of readLines(ref.path)) {
      const row = parse(line);
      const kind = KINDS[String(row.role)];
      if (!kind) continue;
      const at = toIso(row.ts);
      const event: SessionEvent = { seq: seq++, kind, text: toText(row.text) ?? "", at };
      yield event;
      const model = toText(row.model);
      if (model) ledger.add({ key: toText(row.id), at, model, usage: { input: row.in, output: row.out } });
    }
    return ledger.summary();
  },
}));

/** A half-written last line is normal while the tool is running: an empty row then. */
function parse(line: string): Record<string, unknown> {
  try {
    const row: unknown = JSON.parse(line);
    return isRecord(row) ? row : {};
  } catch {
    return {};
  }
}
