/** Finds session folders: `<encoded cwd>/<id>/updates.jsonl`, or `chat_history.jsonl` of versions without it. */
import { dirname, join } from "node:path";
import type { SessionRef } from "sessarc";
import { type FoundLog, findLogs, toRef, withUniqueKeys } from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;

const LOGS = ["updates.jsonl", "chat_history.jsonl"];
/** Files beside the log that belong to the session; the first two change what it says. */
const BESIDE = ["summary.json", "usage.json", "signals.json", "events.jsonl", "rewind_points.jsonl"];

export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const sessions = new Map<string, FoundLog>();
  const parents = new Map<string, string>();
  const wanted = (name: string, folders: readonly string[]) =>
    name.endsWith("/")
      ? name !== "terminal/"
      : LOGS.includes(name) || (name === "meta.json" && folders.includes("subagents"));
  for await (const log of findLogs(root, wanted)) {
    const [parent, kind, child] = log.folders.slice(-3);
    if (log.name === "meta.json") {
      if (kind === "subagents" && parent && child) parents.set(child, parent);
    } else if (!log.folders.includes("subagents")) {
      const dir = dirname(log.path);
      // Paths are sorted: the history comes first, and gives way to the updates.
      if (log.name === "updates.jsonl" || !sessions.has(dir)) sessions.set(dir, log);
    }
  }
  const refs = [...sessions].map(([dir, log]): NewRef => {
    const key = log.folders.at(-1) ?? dir;
    const parent = parents.get(key);
    const ref = toRef(
      key,
      log,
      BESIDE.map((name) => join(dir, name)),
    );
    return parent === undefined ? ref : { ...ref, parent };
  });
  yield* withUniqueKeys(root, refs);
}
