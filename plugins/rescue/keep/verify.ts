/** Whether each pack is there as it was written, in `sessarc doctor`. A damaged one is in the way of every session with a chunk in it. */
import { type DoctorCheck, type Kernel, mustYield, yieldNow } from "sessarc";
import { formatCount, printable } from "sessarc/terminal";
import type { PackFolder } from "./packs.ts";
import type { LogStore } from "./store.ts";

const NAME = "packs of stored logs";
/** Sessions that a line names. */
const NAMED = 5;

interface Parts {
  store: LogStore;
  folder: PackFolder;
  /** Stores these logs again. */
  run(ids: readonly string[]): Promise<void>;
}

interface Finding {
  packs: string[];
  count: number;
  /** Sessions whose stored log cannot be read. */
  sessions: string[];
}

/** Reads every pack. With `fix`, logs that their assistants still have are stored again first. */
export async function checkPacks(
  kernel: Kernel,
  parts: Parts,
  fix: boolean,
  signal: AbortSignal | undefined,
): Promise<DoctorCheck> {
  const found = await find(parts, signal);
  if (!fix || found.sessions.length + found.packs.length === 0 || kernel.storage.readOnly) return toCheck(found, "");
  await kernel.storage.db.batch(parts.store.losePacks(found.packs, found.sessions));
  await parts.folder.remove(found.packs);
  await parts.run(found.sessions);
  const left = await find(parts, signal);
  const repaired = found.sessions.filter((id) => !left.sessions.includes(id)).length;
  return toCheck(left, repaired > 0 ? `${countOf(repaired)} stored again from their logs; ` : "");
}

async function find({ store, folder }: Parts, signal: AbortSignal | undefined): Promise<Finding> {
  const names = await store.packNames();
  const packs: string[] = [];
  for (const name of names) {
    signal?.throwIfAborted();
    if (!(await folder.isWhole(name))) packs.push(name);
    if (mustYield()) await yieldNow();
  }
  return { packs, count: names.size, sessions: await store.sessionsIn(packs) };
}

function toCheck({ packs, count, sessions }: Finding, before: string): DoctorCheck {
  if (packs.length + sessions.length === 0)
    return { name: NAME, status: "ok", detail: `${before}all of ${formatCount(count)} can be read` };
  const some = sessions.slice(0, NAMED).map(printable).join(", ");
  const more = sessions.length > NAMED ? ` and ${formatCount(sessions.length - NAMED)} more` : "";
  const damaged =
    packs.length > 0 ? `${formatCount(packs.length)} of ${formatCount(count)} are missing or damaged; ` : "";
  return {
    name: NAME,
    status: "fail",
    detail: `${before}${damaged}the stored logs of ${countOf(sessions.length)} cannot be read: ${some}${more}`,
    fix: "`sessarc doctor --fix` stores them again from the logs at their assistants. Those whose log is gone cannot be repaired; their transcripts stay.",
  };
}

const countOf = (n: number) => `${formatCount(n)} ${n === 1 ? "session" : "sessions"}`;
