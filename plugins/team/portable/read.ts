/** A pushed session as an adapter reads one: its messages, then its summary. */
import type { SessionEvent, SessionSummary, UsageEntry } from "sessarc";
import { linesOfPieces } from "sessarc/files";
import type { Manifest } from "../types.ts";
import { toEvent } from "./events.ts";
import { toReply } from "./replies.ts";

interface ReadOptions {
  /** From a key of the machine's archive to the key here: of the parent, the origin and linked sessions. Default: the same. */
  key?: (key: string) => string;
}

/** Inflated bytes of a chunk. */
export type LoadChunk = (sha256: string) => Promise<Uint8Array>;

/**
 * One text of a session. Texts are numbered from the oldest; the last (`manifest.earlier.length`) is the session's own and has its
 * figures. An archive imports them in this order under one id. Lines that are no messages or replies are skipped and counted.
 */
export async function* readText(
  manifest: Manifest,
  number: number,
  load: LoadChunk,
  { key = (same) => same }: ReadOptions = {},
): AsyncGenerator<SessionEvent[], SessionSummary> {
  let seq = 0;
  let bad = 0;
  for await (const lines of linesOfPieces(toTexts(manifest)[number] ?? [], load)) {
    const events: SessionEvent[] = [];
    for (const line of lines) {
      const event = toEvent(line, seq);
      if (event) {
        events.push(event);
        seq++;
      } else bad++;
    }
    yield events;
  }
  const said = renamed(manifest.summary, key);
  if (number < manifest.earlier.length) return { ...withoutFigures(said), usage: {} };
  const replies: UsageEntry[] = [];
  for await (const lines of linesOfPieces(manifest.replies, load))
    for (const line of lines) {
      const reply = toReply(line);
      if (reply) replies.push(reply);
      else bad++;
    }
  const { lines = 0, ...skipped } = said.skipped ?? { unknown: {} };
  return { ...said, replies, ...(said.skipped || bad > 0 ? { skipped: { ...skipped, lines: lines + bad } } : {}) };
}

/** Chunks of all texts of a session, oldest first. */
export const toTexts = ({ earlier, events }: Manifest): readonly (readonly string[])[] => [...earlier, events];

/**
 * Numbers of the texts to import of a session whose manifest was `before` when it was last imported (undefined: never): those that are
 * not archived yet, and always its own.
 */
export function textsToImport(before: Manifest | undefined, now: Manifest): number[] {
  const name = (chunks: readonly string[]) => chunks.join();
  const known = new Set(before && toTexts(before).map(name));
  return toTexts(now).flatMap((chunks, i) => (i === now.earlier.length || !known.has(name(chunks)) ? [i] : []));
}

/** A copy: an importer takes replies of other sessions out of the figures. */
function renamed(original: Manifest["summary"], key: (key: string) => string): SessionSummary {
  const summary = structuredClone(original);
  const { parent, forkedFrom, links } = summary;
  return {
    ...summary,
    ...(parent !== undefined && { parent: key(parent) }),
    ...(forkedFrom !== undefined && { forkedFrom: key(forkedFrom) }),
    ...(links && { links: links.map((link) => ("key" in link ? { ...link, key: key(link.key) } : link)) }),
  };
}

/** What an earlier text has of the summary: figures are counted with the session's own text. */
const withoutFigures = ({ title, gitBranch, parent, forkedFrom, startedAt, endedAt }: SessionSummary) => ({
  title,
  gitBranch,
  parent,
  forkedFrom,
  startedAt,
  endedAt,
});
