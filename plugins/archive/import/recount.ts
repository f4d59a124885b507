/** Files of sessions that an older version counted and whose log is gone: recounted from the archive. */

import type { Adapter, Kernel } from "sessarc";
import type { TranscriptPart } from "#internal";
import { isDamage } from "../catalogue/damage.ts";
import { type EarlierRow, partsOf, type SessionFacts, type SessionRow } from "../catalogue/types.ts";
import { addFacts } from "../counting/merge.ts";
import { collectFacts } from "./facts.ts";
import { COUNTED } from "./rows.ts";
import type { OnCommit } from "./types.ts";

/** What `COUNTED` 2 counts otherwise are the files alone: those of failed edits are none. Older rows lack what only a log says. */
const FILES_ONLY = 1;

type Gone = Pick<SessionRow, "id" | "tool" | "parts" | "facts" | "copied">;

/** One look-up where there is none; else each of them is read once. One that is damaged stays as it is. */
export async function recountGone(kernel: Kernel, onChange: OnCommit): Promise<void> {
  const { db } = kernel.storage;
  const gone = await db.all<Gone>(
    "select id, tool, parts, facts, copied from session where missing = 1 and format = ?",
    [FILES_ONLY],
  );
  for (const session of gone) {
    if (kernel.closing.aborted) return;
    const adapter = kernel.registry.adapters.get(session.tool);
    if (!adapter) continue;
    try {
      const facts = JSON.parse(session.facts) as SessionFacts;
      facts.files = await filesOf(kernel, session, adapter);
      await db.run("update session set facts = ?, format = ? where id = ?", [
        JSON.stringify(facts),
        COUNTED,
        session.id,
      ]);
      onChange([], [session.id]);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
}

/** Of the session's own text without what it copied, and of earlier texts what is in no later one. */
export async function filesOf(
  kernel: Kernel,
  session: Pick<Gone, "id" | "parts" | "copied">,
  adapter: Adapter,
): Promise<SessionFacts["files"]> {
  const { db, transcripts } = kernel.storage;
  const total = collectFacts(adapter).finish(undefined);
  const count = async (parts: TranscriptPart[], isCounted: (seq: number) => boolean) => {
    const facts = collectFacts(adapter);
    for await (const events of transcripts.events(session.id, parts)) {
      for (const event of events) {
        if (isCounted(event.seq)) facts.add(event);
        else facts.pass(event);
      }
    }
    addFacts(total, facts.finish(undefined));
  };
  await count(partsOf(session), (seq) => seq >= session.copied);
  for (const { parts, own } of await db.all<EarlierRow>("select * from earlier where session_id = ?", [session.id])) {
    const ranges = JSON.parse(own) as [from: number, to: number][];
    await count(partsOf({ parts }), (seq) => ranges.some(([from, to]) => seq >= from && seq < to));
  }
  return total.files;
}
