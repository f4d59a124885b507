/** A whole adapter, as anyone can write one: Echo CLI keeps `~/.echo/sessions/<name>.jsonl`, a row per message. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type EventKind, toIso, toRecord, toText } from "sessarc";
import { createLedger, defineAdapter } from "sessarc/adapter";

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
      yield { key: file.name.slice(0, -6), path, size, mtime: mtimeMs, exclusive: true };
    }
  },

  parse: () => {
    const ledger = createLedger();
    return {
      row(row) {
        const { role, text, ts, id, model: name, in: input, out: output } = toRecord(row);
        const kind = KINDS[String(role)];
        if (!kind) return undefined;
        const [at, model] = [toIso(ts), toText(name)];
        if (model) ledger.add({ key: toText(id), at, model, usage: { input, output } });
        return { kind, text: toText(text) ?? "", at };
      },
      finish: () => ledger.summary(),
    };
  },
}));
