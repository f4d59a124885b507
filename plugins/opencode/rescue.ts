/** OpenCode's sessions are rows: they are stored as its own `import` reads them, and it is what puts them back. */
import { dirname } from "node:path";
import { type AdapterCapabilities, parseRecord, toNumber, toText } from "sessarc";
import { type AdapterEnv, openSqliteFile, presentColumns } from "sessarc/adapter";
import type { Member } from "./family.ts";

type RescueContract = AdapterCapabilities["rescue"];
type Raw = Record<string, unknown>;

const COLUMNS = [
  ...["id", "project_id", "parent_id", "slug", "directory", "title", "version"],
  ...["summary_additions", "summary_deletions", "summary_files", "time_created", "time_updated", "time_archived"],
  ...["path", "agent", "model", "cost", "permission", "revert"],
  ...["tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write"],
];

/** `command`: of the assistant. `databases`: its files. */
export const rescue = (
  { resume: [command] }: Pick<Member, "resume">,
  databases: (env: AdapterEnv) => readonly string[],
): RescueContract => ({
  folders: (env) => databases(env).map((path) => dirname(path)),
  async database(path) {
    if (!path.endsWith(".db")) return undefined;
    const db = await openSqliteFile(path);
    const has = new Set(db.tables());
    const columns = presentColumns(db, "session", COLUMNS).join(", ");
    const findSession = (key: string) =>
      columns === "" ? undefined : db.all<Raw>(`select ${columns} from session where id = ?`, [key])[0];
    return {
      hidden: (key) => (toNumber(findSession(key)?.time_archived) ? "archived" : undefined),
      rows(key) {
        const row = findSession(key);
        // Rows of version 2 are read by another command, whose format is not known here.
        if (!row || (has.has("session_v2") && isVersion2(key))) return undefined;
        const toParts = (message: string) =>
          db
            .all<Raw>("select id, data from part where message_id = ? order by id", [message])
            .map((part) => ({ ...parseRecord(part.data), id: part.id, sessionID: key, messageID: message }));
        const messages = db
          .all<Raw>("select id, data from message where session_id = ? order by id", [key])
          .map(({ id, data }) => ({
            info: { ...parseRecord(data), id, sessionID: key },
            parts: toParts(String(id)),
          }));
        return Buffer.from(JSON.stringify({ info: toInfo(row), messages }));
      },
      close: () => db.close(),
    };
    function isVersion2(key: string): boolean {
      return db.all<Raw>("select 1 from session_v2 where id = ?", [key]).length > 0;
    }
  },
  ...(command !== undefined && {
    start: (prompt: string) => [command, "--prompt", prompt],
    commands: {
      load: (file: string) => [command, "import", file],
      remove: (key: string) => [command, "session", "delete", key],
    },
  }),
});

function toInfo(row: Raw) {
  const additions = toNumber(row.summary_additions);
  return {
    id: row.id,
    slug: toText(row.slug) ?? String(row.id),
    projectID: row.project_id,
    directory: row.directory,
    ...(toText(row.parent_id) !== undefined && { parentID: row.parent_id }),
    title: toText(row.title) ?? "",
    version: toText(row.version) ?? "",
    ...present(row, ["path", "agent", "cost"]),
    ...parsed(row, ["model", "permission", "revert"]),
    ...(row.tokens_input !== undefined && {
      tokens: {
        input: row.tokens_input,
        output: row.tokens_output,
        reasoning: row.tokens_reasoning,
        cache: { read: row.tokens_cache_read, write: row.tokens_cache_write },
      },
    }),
    time: { created: row.time_created, updated: row.time_updated },
    ...(additions !== undefined && {
      summary: { additions, deletions: toNumber(row.summary_deletions) ?? 0, files: toNumber(row.summary_files) ?? 0 },
    }),
  };
}

/** Columns that are set. */
const present = (row: Raw, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (row[name] == null ? [] : [[name, row[name]]])));

/** Columns of JSON that are set. */
const parsed = (row: Raw, names: readonly string[]) =>
  Object.fromEntries(
    names.flatMap((name) => {
      const text = toText(row[name]);
      const value = text === undefined ? undefined : parseJson(text);
      return value === undefined ? [] : [[name, value]];
    }),
  );

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // OpenCode would not read it either
  }
}
