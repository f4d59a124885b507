/** What Codex keeps of threads beside their rollouts: the prompts in `history.jsonl`, names in `session_index.jsonl`, threads in `state_<n>.sqlite`. */
import { basename, join } from "node:path";
import { type AdapterCapabilities, type JsonRecord, toText } from "sessarc";
import { type AdapterEnv, openSqliteFile } from "sessarc/adapter";
import { stateIn } from "./titles.ts";

type TracesContract = AdapterCapabilities["traces"];

const DAY = 86_400_000;
const MOST = 100_000;

export const traces = (base: (env: AdapterEnv) => string): TracesContract => ({
  async files(env) {
    const home = base(env);
    const state = await stateIn(home);
    return [join(home, "history.jsonl"), join(home, "session_index.jsonl"), ...(state === undefined ? [] : [state])];
  },
  rows: (path) => (path.endsWith(".sqlite") ? readThreads(path) : undefined),
  read(row, path) {
    if (path.endsWith(".sqlite")) return toThread(row);
    if (basename(path) === "session_index.jsonl") {
      const [key, title] = [toText(row.id), toText(row.thread_name)];
      return key === undefined || title === undefined ? undefined : { key, title };
    }
    const [key, text] = [toText(row.session_id), toText(row.text)];
    if (key === undefined || text === undefined) return undefined;
    return { key, text, at: typeof row.ts === "number" ? row.ts : undefined };
  },
});

/** None of a database that cannot be read now: a later reading takes them. */
async function readThreads(path: string): Promise<JsonRecord[]> {
  try {
    const db = await openSqliteFile(path);
    try {
      const there = new Set(db.columns("threads"));
      const wanted = ["id", "name", "title", "first_user_message", "cwd", "created_at", "source"];
      const columns = wanted.filter((name) => there.has(name));
      return there.has("id") ? db.all<JsonRecord>(`select ${columns.join()} from threads limit ${MOST}`) : [];
    } finally {
      db.close();
    }
  } catch {
    return [];
  }
}

/** The first prompt is taken when `history.jsonl` had time to have it. That of a sub-agent was not typed. */
function toThread(row: JsonRecord): ReturnType<TracesContract["read"]> {
  const key = toText(row.id);
  if (key === undefined || toText(row.source)?.includes("subagent")) return undefined;
  const at = typeof row.created_at === "number" ? row.created_at * 1_000 : undefined;
  const isOld = at !== undefined && at < Date.now() - DAY;
  return {
    ...{ key, cwd: toText(row.cwd), title: toText(row.name) ?? toText(row.title) },
    ...(isOld && { text: toText(row.first_user_message), at, isOnlyFirst: true }),
  };
}
