/** Finds sessions and sub-agents: `<project>/chats/<id>.jsonl` (iFlow: `<project>/session-<id>.jsonl`), `<project>/subagents/<id>/agent-*.jsonl`. */
import { dirname, join } from "node:path";
import type { SessionRef } from "sessarc";
import { findLogs, toRef, withUniqueKeys } from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;

export async function* scanProjects(root: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  for await (const log of findLogs(root, isLog, 4)) {
    const stem = log.name.slice(0, -".jsonl".length);
    if (log.folders.includes("subagents")) {
      const parent = log.folders.at(-1);
      refs.push({ ...toRef(stem, log, [join(dirname(log.path), `${stem}.meta.json`)]), ...(parent && { parent }) });
    } else refs.push({ ...toRef(stem, log), companions: [] });
  }
  yield* withUniqueKeys(root, refs);
}

function isLog(name: string, folders: readonly string[]): boolean {
  if (name.endsWith("/")) return true;
  if (!name.endsWith(".jsonl")) return false;
  if (folders.includes("subagents")) return name.startsWith("agent-");
  return folders.length === 0 || folders.at(-1) === "chats" || name.startsWith("session-");
}
