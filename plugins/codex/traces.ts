/** What Codex keeps of threads beside their rollouts: the prompts in `history.jsonl`, and names in `session_index.jsonl`. */
import { basename, join } from "node:path";
import { type AdapterCapabilities, toText } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

type TracesContract = AdapterCapabilities["traces"];

export const traces = (base: (env: AdapterEnv) => string): TracesContract => ({
  files: (env) => [join(base(env), "history.jsonl"), join(base(env), "session_index.jsonl")],
  read(row, path) {
    if (basename(path) === "session_index.jsonl") {
      const [key, title] = [toText(row.id), toText(row.thread_name)];
      return key === undefined || title === undefined ? undefined : { key, title };
    }
    const [key, text] = [toText(row.session_id), toText(row.text)];
    if (key === undefined || text === undefined) return undefined;
    return { key, text, at: typeof row.ts === "number" ? row.ts : undefined };
  },
});
