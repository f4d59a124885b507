/** Reads the session logs of Starter: `~/.starter/sessions/<session>.jsonl`, a row per message. Change it to what your tool writes. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type EventKind, toIso, toRecord, toText } from "sessarc";
import { createLedger, defineAdapter } from "sessarc/adapter";

const KINDS: Readonly<Record<string, EventKind>> = {
  human: "user",
  bot: "assistant",
  call: "tool_use",
  result: "tool_result",
};

export default defineAdapter((options: { dir?: string } | undefined) => ({
  name: "starter",
  label: "Starter",
  compatibility: "^1",
  /** Folders that may hold logs. Everything about the machine comes in, so that tests can point it elsewhere. */
  roots: ({ home }) => [options?.dir ?? join(home, ".starter/sessions")],

  /** Directory entries and `stat` alone: this runs often. `key` is the session's id. */
  async *scan(root) {
    for (const file of await readdir(root, { withFileTypes: true }).catch(() => [])) {
      if (!file.isFile() || !file.name.endsWith(".jsonl")) continue;
      const path = join(root, file.name);
      const { size, mtimeMs } = await stat(path);
      yield { key: file.name.slice(0, -6), path, size, mtime: mtimeMs, exclusive: true };
    }
  },

  /** One parser a session: it stays open, and gets the rows that are added. */
  parse: () => {
    const ledger = createLedger();
    return {
      row(row) {
        const { role, text, ts, id, model: name, tokens } = toRecord(row);
        const kind = KINDS[String(role)];
        if (!kind) return undefined; // skipped and counted
        const [at, model] = [toIso(ts), toText(name)];
        const { input, output } = toRecord(tokens);
        // Entries with the same key are one reply, however often the log repeats it.
        if (model) ledger.add({ key: toText(id), at, model, usage: { input, output } });
        return { kind, text: toText(text) ?? "", at, model };
      },
      finish: () => ledger.summary(),
    };
  },
}));
