/** Reads one session: its events are counted, written to a transcript part, and the rest of its facts is returned. */
import { statSync } from "node:fs";
import type { SessionEvent, SessionRef, SessionSummary, SessionUsage, UsageEntry } from "sessarc";
import {
  type Adapter,
  type AdapterEnv,
  classedUsage,
  type EventBatches,
  latestTime,
  type TailEnd,
} from "sessarc/adapter";
import type { TranscriptPart, Transcripts } from "sessarc/storage";
import { lengthOf } from "../catalogue/types.ts";
import { Seen, toName } from "../counting/identity.ts";
import { packReplies } from "../counting/replies.ts";
import { toSignature } from "../search/signature.ts";
import { addContext, collectFacts } from "./facts.ts";
import { Stopped } from "./failure.ts";
import { type LoadedIndexer, startIndexers } from "./indexers.ts";
import { keepEarlier } from "./keep.ts";
import { loadMask, maskBatches } from "./masked.ts";
import type { OpenLog, OpenLogs } from "./open-logs.ts";
import type { ImportedSession, JobSession, StoredSession } from "./types.ts";

/** Longest text kept of one message, in UTF-16 units; the rest is cut and marked. */
const TEXT_CAP = 16 * 1024 * 1024;

interface Source {
  batches: EventBatches<SessionSummary | TailEnd>;
  /** Where the log stays open. */
  open?: OpenLogs | undefined;
  /** The log that is open, and the stored session that it goes on from. */
  held?: { log: OpenLog; past: StoredSession } | undefined;
}

/** The cheapest way to what is new: from where the log is open, else the whole log. */
function sourceOf(session: JobSession, adapter: Adapter, env: AdapterEnv, open: OpenLogs | undefined): Source {
  const { past, ref } = session;
  if (!open || !adapter.appends(ref)) return { batches: adapter.read(ref, env) };
  const log = open.take(session.id);
  const isStored = past && log?.generation === past.generation && log.cursor.seq === past.length;
  const held = isStored ? { log, past } : undefined;
  return { batches: adapter.tail(ref, held?.log.cursor, env), open, held };
}

/** What was added holds messages that only an earlier text has: the session is to be read as a whole. */
class Again extends Error {}

/** Reads what is new of a session, or all of it. `open`: logs that stay open. */
export async function importSession(
  session: JobSession,
  adapter: Adapter,
  env: AdapterEnv,
  transcripts: Transcripts,
  stop: Int32Array,
  indexers: readonly LoadedIndexer[],
  open?: OpenLogs,
): Promise<{ written: Promise<ImportedSession> }> {
  const read = (one: JobSession) =>
    importOne(one, adapter, sourceOf(one, adapter, env, open), transcripts, stop, indexers);
  try {
    return await read(session);
  } catch (error) {
    if (!(error instanceof Again)) throw error;
    return read({ ...session, past: null });
  }
}

export async function importOne(
  session: JobSession,
  adapter: Adapter,
  { batches: read, open, held }: Source,
  transcripts: Transcripts,
  stop: Int32Array,
  indexers: readonly LoadedIndexer[],
): Promise<{ written: Promise<ImportedSession> }> {
  const latest = latestTime(session.ref);
  const past = held?.past;
  const mask = session.mask && (await loadMask(session.mask));
  const batches = mask ? maskBatches(read, mask) : read;
  const begin = (firstSeq: number, from: Source["held"]) => ({
    facts: from && !from.past.facts ? from.log.facts : collectFacts(adapter, from?.past.facts),
    writer: transcripts.writer(session.id, session.generation, { firstSeq, sidecar: toSignature }),
    index:
      from?.log.index ??
      startIndexers(indexers, { id: session.id, tool: session.ref.tool, tools: adapter.tools ?? {} }),
    /** Messages of the log that were added. */
    count: 0,
    seen: from || session.stored.length === 0 ? undefined : new Seen(lengthOf(session.stored[0]?.parts ?? [])),
  });
  let appended = held !== undefined;
  let target = begin(past?.fold[0]?.firstSeq ?? past?.length ?? 0, held);
  target.facts.goOn(latest);
  if (past && past.fold.length > 0) {
    for await (const events of transcripts.events(session.id, past.fold))
      for (const event of events) target.writer.add(event);
  }
  const earlier = new Set(past?.earlier);
  // A function of its own is compiled well after a few batches; the loop around it lives as long as one log.
  const take = (events: readonly SessionEvent[]) => {
    const { facts, index, seen, writer } = target;
    for (const event of events) {
      if (event.text.length > TEXT_CAP) {
        event.text = event.text.slice(0, TEXT_CAP);
        event.truncated = true;
      }
      if (appended && earlier.size > 0 && earlier.has(toName(event))) throw new Again();
      facts.add(event);
      index.add(event);
      seen?.add(event);
      writer.add(event);
    }
    target.count += events.length;
  };
  let step = await batches.next();
  try {
    for (; !step.done; step = await batches.next()) {
      // A part is written whole at its end: nothing of this one is on disk.
      if (Atomics.load(stop, 0) !== 0) throw new Stopped();
      if (appended && target.count === 0 && step.value[0]?.seq === 0) {
        appended = false; // the log was replaced: this is all of it
        target = begin(0, undefined);
        target.facts.goOn(latest);
      }
      take(step.value);
    }
  } finally {
    await batches.return(undefined as never); // closes the log where it was not read to its end
  }
  const end = "cursor" in step.value ? step.value : undefined;
  if (end?.restarted && appended) {
    appended = false;
    target = begin(0, undefined);
  }
  const { facts, writer, seen } = target;
  const readStored = (parts: readonly TranscriptPart[]) => transcripts.events(session.id, parts);
  const kept = seen ? await keepEarlier(session.stored, seen, readStored, adapter) : [];
  const { replies, slots, classes, ...said } = copied(end ? end.summary : (step.value as SessionSummary), open);
  const summary: typeof said = mask ? JSON.parse(mask.text(JSON.stringify(said))) : said;
  summary.usage = classedUsage(summary.usage, classes?.[""]);
  const counted = facts.finish(classes ? classedSlots(slots ?? {}, classes) : slots);
  // The figures that are stored are another copy: what others count is taken out of them.
  const finished = open ? structuredClone(counted) : counted;
  const imported: Omit<ImportedSession, "part"> = {
    id: session.id,
    summary,
    facts: addContext(finished, replies ?? []),
    firstPrompt: facts.firstPrompt,
    activeMs: facts.activeMs,
    errorCount: facts.errorCount,
    messageCount: target.count,
    startedAt: summary.startedAt ?? facts.firstAt,
    endedAt: summary.endedAt ?? facts.lastAt,
    replies: packReplies(session.ref.tool, classes ? (replies ?? []) : (replies ?? []).map(standard)),
    earlier: kept,
    appended,
    folded: appended ? (past?.fold.length ?? 0) : 0,
    isOpen: end !== undefined && open !== undefined,
    indexed: target.index.finish(),
    bytesRead: end?.bytesRead ?? session.ref.size ?? 0,
    born: session.ref.born ?? toBirth(session.ref),
  };
  if (open && end)
    open.put(session.id, { cursor: end.cursor, generation: session.generation, facts, index: target.index });
  const part = writer.finish();
  return { written: part.then((written) => ({ ...imported, part: written ?? null })) };
}

/** An open parser goes on adding to its sums. */
function copied(summary: SessionSummary, open: OpenLogs | undefined): SessionSummary {
  if (!open) return summary;
  const { replies, ...rest } = summary;
  return { ...structuredClone(rest), ...(replies && { replies }) };
}

/** The sums of a log and its replies must agree: without `classes` all are at the standard price. */
const standard = ({ priceClass: _, ...reply }: UsageEntry): UsageEntry => reply;

const classedSlots = (slots: Slots, classes: Slots): Slots =>
  Object.fromEntries(Object.entries(slots).map(([name, usage]) => [name, classedUsage(usage, classes[name])]));

type Slots = Record<string, SessionUsage>;

function toBirth(ref: SessionRef): number {
  const stat = statSync(ref.path, { throwIfNoEntry: false });
  return stat?.birthtimeMs || ref.mtime || 0;
}
