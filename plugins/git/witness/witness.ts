/** What the log of an archived session shows of its repository: the commits it made, the files it read and wrote. */
import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { BoundedMap, createCache, type Services, type SessionEvent } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import type { Witness } from "../history/choose.ts";
import { createSight } from "./sight.ts";

type Archive = Services["archive"];
type Row = Awaited<ReturnType<Archive["get"]>>;

/** A message's seq; before the first message; after the last one. */
export type Moment = number | "start" | "end";

interface Made {
  hash: string;
  /** seqs of the call and of its result. */
  from: number;
  to: number;
}

const SESSIONS = 8;
const CALLS = 64;
/** Messages looked through for the files of a moment: those before it, or the first of a session. */
const REACH = 600;
/** `[main 1a2b3c4] subject`, `[main (root-commit) 1a2b3c4] …`, `[detached HEAD 1a2b3c4] …`: git's report of a commit. Gemini CLI and Qwen Code write `Output: ` before it. */
const COMMITTED = /^(?:Output: )?\[[^\]\n]{1,250} ([0-9a-f]{7,64})\] /gm;

/** Answers the witness of a moment of a session. The commits of the sessions asked last are kept. */
export function createWitnesses(archive: () => Archive): (row: Row, moment: Moment) => Witness {
  const kept = createCache<Made[]>(SESSIONS);

  function readCommits(row: Row): Promise<Made[]> {
    const find = () => findCommits(archive().events(row), archive().adapter(row.tool));
    return kept.get(row.id, find, row.revision);
  }

  return (row, moment) => {
    const at = moment === "start" ? -1 : moment === "end" ? Number.POSITIVE_INFINITY : moment;
    return {
      async commits() {
        const made = await readCommits(row);
        // A commit whose call ran at the moment was made before or after it: that is unknown.
        const sure = made.filter(({ from, to }) => to <= at || from >= at);
        return sure.map(({ hash, to }) => ({ hash, before: to <= at }));
      },
      async files() {
        const sight = createSight(archive().adapter(row.tool), moment === "start");
        const end = moment === "start" ? REACH : at;
        const from = Number.isFinite(end) ? Math.max(0, end - REACH) : Math.max(0, row.length - REACH);
        look: for await (const events of archive().events(row, from)) {
          for (const event of events) if (event.seq > end || !sight.add(event)) break look;
        }
        const folder = row.cwd === null ? undefined : await realpath(row.cwd).catch(() => undefined);
        return sight.files().map((file) => ({ ...file, path: placed(file.path, row.cwd, folder) }));
      },
    };
  };
}

/** Absolute where the session's folder is known, by its real name, as git names a work tree. */
function placed(path: string, cwd: string | null, folder: string | undefined): string {
  if (cwd === null || folder === undefined) return path;
  if (!isAbsolute(path)) return join(folder, path);
  return path.startsWith(`${cwd}/`) ? folder + path.slice(cwd.length) : path;
}

/** One pass; texts are read of results of shell calls alone. */
async function findCommits(
  batches: AsyncIterable<readonly SessionEvent[]>,
  adapter: Pick<Adapter, "tools"> | undefined,
): Promise<Made[]> {
  const made: Made[] = [];
  const open = new BoundedMap<string, number>(CALLS);
  for await (const events of batches) {
    for (const event of events) {
      const { kind } = event;
      if (kind !== "tool_use" && kind !== "tool_result") continue;
      const id = event.tool_use_id;
      if (id === undefined) continue;
      if (kind === "tool_use") {
        if (adapter?.tools?.[event.tool_name ?? ""] === "shell") open.set(id, event.seq);
        continue;
      }
      const from = open.get(id);
      if (from === undefined) continue;
      open.delete(id);
      for (const [, hash = ""] of event.text.matchAll(COMMITTED)) made.push({ hash, from, to: event.seq });
    }
  }
  return made;
}
