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
import { lengthOf, type SessionFacts } from "../catalogue/types.ts";
import { nameOf, Seen } from "../counting/identity.ts";
import { packReplies } from "../counting/replies.ts";
import { signatureOf } from "../search/signature.ts";
import { addContext, collectFacts } from "./facts.ts";
import { Stopped } from "./failure.ts";
import { type LoadedIndexer, startIndexers } from "./indexers.ts";
import { keepEarlier } from "./keep.ts";
import { type ImportedSession, IN_USE_MS, type JobSession } from "./types.ts";

/** Longest text kept of one message, in UTF-16 units; the rest is cut and marked. */
const TEXT_CAP = 16 * 1024 * 1024;

interface Source {
  batches: EventBatches<SessionSummary | TailEnd>;
  /** The stored session that `batches` goes on from. */
  past: JobSession["past"];
}

/** The cheapest way to what is new: from the stored cursor where the log only grows, else the whole log. */
async function open(session: JobSession, adapter: Adapter, env: AdapterEnv, transcripts: Transcripts): Promise<Source> {
  const { past, ref } = session;
  if (adapter.appends(ref)) {
    const cursor = past ? await transcripts.readCursor(session.id, past.cursorGeneration) : undefined;
    const usable = past !== null && cursor?.seq === past.length;
    return { batches: adapter.tail(ref, usable ? cursor : undefined, env), past: usable ? past : null };
  }
  return { batches: adapter.read(ref, env), past: null };
}

/** What was added holds messages that only an earlier text has: the session is to be read as a whole. */
class Again extends Error {}

/** Reads what is new of a session, or all of it. */
export async function importSession(
  session: JobSession,
  adapter: Adapter,
  env: AdapterEnv,
  transcripts: Transcripts,
  stop: Int32Array,
  indexers: readonly LoadedIndexer[],
): Promise<{ written: Promise<ImportedSession> }> {
  const read = async (one: JobSession) =>
    importOne(one, adapter, await open(one, adapter, env, transcripts), transcripts, stop, indexers);
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
  { batches, past }: Source,
  transcripts: Transcripts,
  stop: Int32Array,
  indexers: readonly LoadedIndexer[],
): Promise<{ written: Promise<ImportedSession> }> {
  const latest = latestTime(session.ref);
  const begin = (firstSeq: number, facts?: SessionFacts) => ({
    facts: collectFacts(adapter, facts, latest),
    writer: transcripts.writer(session.id, session.generation, { firstSeq, sidecar: signatureOf }),
    index: startIndexers(
      indexers,
      { id: session.id, tool: session.ref.tool, tools: adapter.tools ?? {} },
      facts ? session.states : undefined,
    ),
    /** Messages of the log that were added. */
    count: 0,
    seen: facts || session.stored.length === 0 ? undefined : new Seen(lengthOf(session.stored[0]?.parts ?? [])),
  });
  let appended = past !== null;
  let target = begin(past?.fold[0]?.firstSeq ?? past?.length ?? 0, past?.facts);
  if (past && past.fold.length > 0) {
    for await (const events of transcripts.events(session.id, past.fold))
      for (const event of events) target.writer.add(event);
  }
  if (past && target.index.behind)
    for await (const events of transcripts.events(session.id, session.stored[0]?.parts ?? []))
      for (const event of events) target.index.catchUp(event);
  const earlier = new Set(past?.earlier);
  // A function of its own is compiled well after a few batches; the loop around it lives as long as one log.
  const take = (events: readonly SessionEvent[]) => {
    const { facts, index, seen, writer } = target;
    for (const event of events) {
      if (event.text.length > TEXT_CAP) {
        event.text = event.text.slice(0, TEXT_CAP);
        event.truncated = true;
      }
      if (appended && earlier.size > 0 && earlier.has(nameOf(event))) throw new Again();
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
        target = begin(0);
      }
      take(step.value);
    }
  } finally {
    await batches.return(undefined as never); // closes the log where it was not read to its end
  }
  const end = "cursor" in step.value ? step.value : undefined;
  if (end?.restarted && appended) {
    appended = false;
    target = begin(0);
  }
  const { facts, writer, seen } = target;
  const readStored = (parts: readonly TranscriptPart[]) => transcripts.events(session.id, parts);
  const kept = seen ? await keepEarlier(session.stored, seen, readStored, adapter) : [];
  const { replies, slots, classes, ...summary } = end ? end.summary : (step.value as SessionSummary);
  summary.usage = classedUsage(summary.usage, classes?.[""]);
  const cursor = end && isInUse(summary.endedAt ?? facts.lastAt, session.ref) ? end.cursor : undefined;
  const imported: Omit<ImportedSession, "part"> = {
    id: session.id,
    summary,
    facts: addContext(facts.finish(classes ? classedSlots(slots ?? {}, classes) : slots), replies ?? []),
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
    hasCursor: cursor !== undefined,
    indexed: target.index.finish(cursor !== undefined),
    bytesRead: end?.bytesRead ?? session.ref.size ?? 0,
    born: session.ref.born ?? birthOf(session.ref),
  };
  const stored = cursor && transcripts.writeCursor(session.id, session.generation, cursor);
  const part = writer.finish();
  return { written: Promise.all([part, stored]).then(([written]) => ({ ...imported, part: written ?? null })) };
}

/** The sums of a log and its replies must agree: without `classes` all are at the standard price. */
const standard = ({ priceClass: _, ...reply }: UsageEntry): UsageEntry => reply;

const classedSlots = (slots: Slots, classes: Slots): Slots =>
  Object.fromEntries(Object.entries(slots).map(([name, usage]) => [name, classedUsage(usage, classes[name])]));

type Slots = Record<string, SessionUsage>;

function isInUse(endedAt: string | null | undefined, ref: SessionRef): boolean {
  const last = endedAt ? Date.parse(endedAt) : (ref.mtime ?? 0);
  return Date.now() - last < IN_USE_MS;
}

function birthOf(ref: SessionRef): number {
  const stat = statSync(ref.path, { throwIfNoEntry: false });
  return stat?.birthtimeMs || ref.mtime || 0;
}
