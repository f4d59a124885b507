/** A session's log as it leaves the machine, row by row, and what an adapter makes of it. */

import { canonicalJson, type SessionEvent, type SessionRef, type SessionSummary, type UsageEntry } from "sessarc";
import { type Adapter, type AdapterEnv, type LogLine, replyHash } from "sessarc/adapter";
import { linesOfPieces } from "sessarc/files";
import type { PortableSummary } from "../types.ts";
import type { LoadChunk } from "./read.ts";
import { replyLines } from "./replies.ts";
import { toPortable } from "./write.ts";

/** Rows of the pieces that a redactor wrote (`[offset, row]`), a piece's at a time. Other lines are left out. */
export async function* logLines(names: readonly string[], load: LoadChunk): AsyncGenerator<LogLine[]> {
  for await (const lines of linesOfPieces(names, load))
    yield lines.flatMap((line) => {
      const comma = line.indexOf(",");
      const offset = Number(line.slice(1, comma));
      const isRow = comma > 1 && line.endsWith("]") && Number.isSafeInteger(offset) && offset >= 0;
      return isRow ? [{ offset, text: line.slice(comma + 1, -1) }] : [];
    });
}

/** Reads a log of which the caller has the rows. Throws what the adapter throws. */
export async function* readCopy(
  adapter: Pick<Adapter, "parseLines">,
  ref: SessionRef,
  lines: AsyncIterable<readonly LogLine[]>,
  env: AdapterEnv,
): AsyncGenerator<SessionEvent[], SessionSummary> {
  if (!adapter.parseLines) throw new TypeError(`logs of ${ref.tool} are not JSON lines`);
  return yield* adapter.parseLines(ref, lines, env);
}

/** The replies that are named and the session's own, as the local ledger names them: `#` and a hash. */
export function ledgerReplies(tool: string, { replies = [], classes }: SessionSummary): UsageEntry[] {
  return replies.flatMap(({ key, of, inherited, priceClass, ...reply }) => {
    if (key === undefined || inherited) return [];
    const named: UsageEntry = { ...reply, key: `#${replyHash(tool, { key, of, model: reply.model })}` };
    return [classes && priceClass !== undefined ? { ...named, priceClass } : named];
  });
}

/** Fields of a summary that come from texts of the log, or from beside it. */
export const HEAD = ["title", "gitBranch", "parent", "forkedFrom", "links", "tags", "refused"] as const;

/** Everything that is counted of a session, as text: equal texts are equal figures. */
export function figuresText(tool: string, summary: SessionSummary): string {
  const { skipped: _, ...figures } = toPortable(summary);
  for (const field of HEAD) delete figures[field];
  return canonicalJson([figures, [...replyLines(ledgerReplies(tool, summary))].sort()]);
}

/** Fields that the log alone does not say as `shown` has them. */
export const toOutside = (log: SessionSummary, shown: PortableSummary): string[] => {
  const read = toPortable(log);
  return HEAD.filter((field) => canonicalJson(read[field]) !== canonicalJson(shown[field]));
};
