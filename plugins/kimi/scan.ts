/** Finds sessions: `<workspace>/<id>/agents/<agent>/wire.jsonl`, and `<hash>/<id>/{wire,context}.jsonl` of the older CLI. */
import { dirname, join } from "node:path";
import { type SessionRef, toRecord, toText } from "sessarc";
import { type FoundLog, findLogs, readRecord, toRef, withUniqueKeys } from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;

/** `onlyConversations`: the desktop program keeps sessions of its own work beside those of its user. */
export async function* scanSessions(root: string, onlyConversations: boolean): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  const old = new Map<string, FoundLog>();
  const wanted = (name: string) => name.endsWith("/") || name === "wire.jsonl" || name === "context.jsonl";
  for await (const log of findLogs(root, wanted, 5)) {
    const at = log.folders.lastIndexOf("agents");
    const id = (at < 0 ? log.folders.at(-1) : log.folders[at - 1]) ?? "session";
    if (onlyConversations && !id.startsWith("conv-")) continue;
    // Paths are sorted: the context comes first, and the wire, which has the times, replaces it.
    if (at < 0) old.set(dirname(log.path), log);
    else if (log.name === "wire.jsonl") refs.push(agentRef(id, log.folders[at + 1] ?? "main", log));
  }
  for (const [dir, log] of old) {
    const sides = ["context.jsonl", "state.json"].map((name) => join(dir, name)).filter((path) => path !== log.path);
    refs.push(toRef(log.folders.at(-1) ?? "session", log, sides));
  }
  yield* withUniqueKeys(root, refs);
}

function agentRef(id: string, agent: string, log: FoundLog): NewRef {
  const state = join(dirname(dirname(dirname(log.path))), "state.json");
  if (agent === "main") return toRef(id, log, [state]);
  const above = toText(toRecord(toRecord(readRecord(state)?.agents)[agent]).parentAgentId) ?? "main";
  return { ...toRef(`${id}/${agent}`, log), companions: [], parent: above === "main" ? id : `${id}/${above}` };
}
