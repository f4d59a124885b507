/** What an adapter makes of a pushed log: the manifest that the machine would have sent with it. */
import { join } from "node:path";
import type { SessionSummary } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { createPieces, type Piece } from "sessarc/files";
import { validate } from "sessarc/serve";
import { eventLine } from "../../portable/events.ts";
import { ledgerReplies, logLines, readCopy } from "../../portable/log.ts";
import type { LoadChunk } from "../../portable/read.ts";
import { toPortable, writeReplies } from "../../portable/write.ts";
import { NOBODY } from "../kernel-parts.ts";
import { manifestSchema, type PushedManifest } from "./manifest-schema.ts";

/** Bytes of a log that is parsed: more than a machine sends. */
const MOST_BYTES = 48 * 2 ** 20;

/** `keep` is called with each piece of messages and replies. Throws what the adapter throws, and for what no machine may send. */
export async function parseAgain(
  before: PushedManifest,
  adapter: Pick<Adapter, "parseLines">,
  loadChunk: LoadChunk,
  keep: (sha256: string, bytes: Buffer) => Promise<void>,
): Promise<PushedManifest> {
  const { tool, log, summary } = before;
  if (!log) throw new Error("its log cannot be parsed again");
  let bytes = 0;
  const load = async (sha256: string) => {
    const piece = await loadChunk(sha256);
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new Error("its log is too large");
    return piece;
  };
  const ref = {
    tool,
    key: before.id.slice(tool.length + 1),
    // There is no such folder: nothing beside the log is read.
    path: join(NOBODY.home, "log", log.name),
    ...(summary.parent !== undefined && { parent: summary.parent }),
  };
  const cutter = createPieces();
  const events: string[] = [];
  const store = async (pieces: readonly Piece[]) => {
    for (const piece of pieces) {
      await keep(piece.sha256, piece.bytes);
      events.push(piece.sha256);
    }
  };
  const batches = readCopy(adapter, ref, logLines(before.raw, load), NOBODY);
  let step = await batches.next();
  for (; !step.done; step = await batches.next())
    for (const event of step.value) await store(cutter.add(eventLine(event)));
  await store(cutter.end());
  const pieces: Piece[] = [];
  const replies = writeReplies(ledgerReplies(tool, step.value), (piece) => void pieces.push(piece));
  for (const piece of pieces) await keep(piece.sha256, piece.bytes);
  return validate(manifestSchema, { ...before, summary: merged(step.value, before), events, replies }, "manifest");
}

/** What the log says now, with what came from beside it. Lines that the machine could not read did not come along. */
function merged(read: SessionSummary, { log, summary }: PushedManifest): object {
  const { lines = 0, pending } = summary.skipped ?? {};
  const now: Record<string, unknown> = { ...toPortable(read) };
  const known: Record<string, unknown> = summary;
  for (const field of log?.outside ?? []) now[field] = known[field];
  const unknown = read.skipped?.unknown ?? {};
  delete now.skipped;
  if (lines > 0 || pending !== undefined || summary.skipped || Object.keys(unknown).length > 0)
    now.skipped = { lines, ...(pending !== undefined && { pending }), unknown };
  return Object.fromEntries(Object.entries(now).filter(([, value]) => value !== undefined));
}
