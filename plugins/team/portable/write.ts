/** From an archived session to what leaves the machine: chunks, and the manifest that names them. */
import type { SessionEvent, SessionSummary } from "sessarc";
import type { Manifest } from "../types.ts";
import { type Chunk, toChunks } from "./chunks.ts";
import { eventLine } from "./events.ts";
import { replyLines } from "./replies.ts";

/** What of a manifest does not come from chunks. */
export type ManifestHead = Pick<Manifest, "id" | "tool" | "toolLabel" | "project" | "name" | "born">;

/**
 * `texts`: messages of each text, oldest first, the session's own last. `keep` is called with each chunk as soon as it is whole; memory
 * is a chunk and a batch of messages.
 */
export async function writeSession(
  head: ManifestHead,
  logged: SessionSummary,
  texts: readonly AsyncIterable<readonly SessionEvent[]>[],
  keep: (chunk: Chunk) => Promise<void>,
): Promise<Manifest> {
  const { replies = [], cwd: _, gitRemote: __, virtualProject: ___, limits: ____, ...summary } = logged;
  const stored = async (lines: Iterable<string> | AsyncIterable<string>) => {
    const names: string[] = [];
    for await (const chunk of toChunks(lines)) {
      await keep(chunk);
      names.push(chunk.sha256);
    }
    return names;
  };
  const written: string[][] = [];
  for (const text of texts) written.push(await stored(linesIn(text)));
  const events = written.pop() ?? [];
  return {
    version: 1,
    ...head,
    summary,
    replies: await stored(replyLines(replies)),
    events,
    earlier: written,
    raw: [],
  };
}

async function* linesIn(batches: AsyncIterable<readonly SessionEvent[]>): AsyncGenerator<string> {
  for await (const events of batches) for (const event of events) yield eventLine(event);
}
