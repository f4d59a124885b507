/** What Copilot CLI keeps of sessions beside their logs: sessions and typed prompts in `session-store.db`. */
import { join } from "node:path";
import { type AdapterCapabilities, type JsonRecord, toIso, toText } from "sessarc";
import { type AdapterEnv, openSqliteFile } from "sessarc/adapter";

type TracesContract = AdapterCapabilities["traces"];

const MOST = 200_000;

export const traces = (home: (env: AdapterEnv) => string): TracesContract => ({
  files: (env) => [join(home(env), "session-store.db")],
  rows: (path) => readTurns(path),
  read(row) {
    const [key, text] = [toText(row.session_id), toText(row.user_message)];
    if (key === undefined || text === undefined) return undefined;
    return { key, text, at: toIso(row.timestamp), cwd: toText(row.cwd), title: toText(row.summary) };
  },
});

/** None of a database that cannot be read now: a later reading takes them. */
async function readTurns(path: string): Promise<JsonRecord[]> {
  try {
    const db = await openSqliteFile(path);
    try {
      const [turns, sessions] = [new Set(db.columns("turns")), new Set(db.columns("sessions"))];
      if (!["session_id", "user_message", "timestamp"].every((name) => turns.has(name))) return [];
      const more = ["cwd", "summary"].filter((name) => sessions.has(name)).map((name) => `s.${name}`);
      const columns = ["t.session_id", "t.user_message", "t.timestamp", ...(sessions.has("id") ? more : [])];
      const join = sessions.has("id") ? "left join sessions s on s.id = t.session_id" : "";
      return db.all<JsonRecord>(`select ${columns.join()} from turns t ${join} limit ${MOST}`);
    } finally {
      db.close();
    }
  } catch {
    return [];
  }
}
