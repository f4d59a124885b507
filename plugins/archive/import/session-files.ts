/** Files that a stored session touched, from its transcript. */

import type { Kernel } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import type { TranscriptPart } from "sessarc/storage";
import { type EarlierRow, type SessionFacts, type SessionRow, toParts } from "../catalogue/types.ts";
import { addFacts } from "../counting/merge.ts";
import { collectFacts } from "./facts.ts";

/** Of the session's own text without what it copied, and of earlier texts what is in no later one. */
export async function readFiles(
  kernel: Kernel,
  session: Pick<SessionRow, "id" | "parts" | "copied">,
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
  await count(toParts(session), (seq) => seq >= session.copied);
  for (const { parts, own } of await db.all<EarlierRow>("select * from earlier where session_id = ?", [session.id])) {
    const ranges = JSON.parse(own) as [from: number, to: number][];
    await count(toParts({ parts }), (seq) => ranges.some(([from, to]) => seq >= from && seq < to));
  }
  return total.files;
}
