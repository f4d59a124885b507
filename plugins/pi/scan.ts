/** Finds sessions: any `.jsonl` below the root but what the assistants keep as copies. */
import { existsSync } from "node:fs";
import { type SessionRef, toText } from "sessarc";
import { type FoundLog, findLogs, headRows, rememberByFile, toRef, withUniqueKeys } from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;

const headId = rememberByFile((path) => toText(headRows(path).find((row) => row.type === "session")?.id));

export async function* scanSessions(root: string, hasDatabase = false): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  const inDatabase: NewRef[] = [];
  const database = hasDatabase ? await import("./database.ts") : undefined;
  const wanted = (name: string) =>
    name.endsWith("/") || /^(?!.*\.checkpoint\.).*\.jsonl$/.test(name) || name === database?.DATABASE;
  let failure: unknown;
  for await (const log of findLogs(root, wanted)) {
    if (log.name === database?.DATABASE) {
      // A database that cannot be read does not hide the other agents' sessions.
      const sessions = await database.listSessions(log.path).catch((error: unknown) => {
        failure = error;
        return [];
      });
      inDatabase.push(...sessions);
    } else refs.push({ ...toRef(toKey(log), log), ...toCompanions(log) });
  }
  // Logs that the database took in stay where they are.
  const taken = new Set(inDatabase.map(({ key }) => key));
  yield* withUniqueKeys(root, [...inDatabase, ...refs.filter(({ key }) => !taken.has(key))]);
  if (failure !== undefined) throw failure;
}

/** pi's names end with the id; elsewhere the first row has it, which goes before the name. */
function toKey(log: FoundLog): string {
  return /_([0-9a-f-]{36})\.jsonl$/i.exec(log.name)?.[1] ?? headId(log) ?? log.name.slice(0, -".jsonl".length);
}

/** omp keeps long outputs of a session's tools in a folder of the log's name. */
function toCompanions({ path }: FoundLog): Pick<NewRef, "companions"> {
  const folder = path.slice(0, -".jsonl".length);
  return existsSync(folder) ? { companions: [folder] } : {};
}
