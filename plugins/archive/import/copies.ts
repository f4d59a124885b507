/** What a fork copied from the session it came from counts there: its messages, calls and files, as its tokens do. */
import type { Adapter, Database, Kernel, SessionEvent, TranscriptPart } from "sessarc";
import { type EarlierRow, partsOf, type SessionFacts, type SessionRow } from "../catalogue/types.ts";
import { takeFacts } from "../counting/merge.ts";
import { collectFacts, type FactsCollector } from "./facts.ts";
import type { OnCommit } from "./stage.ts";

/** `copied` of a session whose origin was not looked at yet: it is not there, or this run brought one of the two. */
export const UNKNOWN = -1;

type Fork = Pick<
  SessionRow,
  "id" | "tool" | "parts" | "facts" | "message_count" | "error_count" | "active_ms" | "parent_id" | "forked_from"
>;

const OPEN = `select f.id, f.tool, f.parts, f.facts, f.message_count, f.error_count, f.active_ms, f.parent_id, f.forked_from
  from session f join session p on p.id = coalesce(f.forked_from, f.parent_id) where f.copied = ${UNKNOWN} and p.id <> f.id`;

/** Looks at forks whose origin is archived and was not compared yet. Reads both texts as far as they are the same. */
export async function settleCopies(kernel: Kernel, onChange: OnCommit): Promise<void> {
  const { db } = kernel.storage;
  for (const fork of await db.all<Fork>(OPEN)) {
    if (kernel.closing.aborted) return;
    const origin = await originOf(db, fork);
    const copied = origin && (await copiedFrom(kernel, fork, origin));
    if (!origin) {
      // They share replies because one started the other: no fork.
      await db.run("update session set forked_from = null, copied = 0 where id = ?", [fork.id]);
      onChange([], [fork.id]);
      continue;
    }
    if (!copied) {
      await db.run("update session set copied = 0 where id = ?", [fork.id]);
      continue;
    }
    const facts = JSON.parse(fork.facts) as SessionFacts;
    const active = takeFacts(facts, copied.facts.finish(undefined));
    await db.run(
      "update session set copied = ?, facts = ?, message_count = ?, error_count = ?, active_ms = ? where id = ?",
      [
        copied.count,
        JSON.stringify(facts),
        Math.max(0, fork.message_count - copied.count),
        Math.max(0, fork.error_count - copied.facts.errorCount),
        Math.max(0, fork.active_ms - active),
        fork.id,
      ],
    );
    onChange([], [fork.id]);
  }
}

/** Undefined when the session named is no origin: it came from this one. */
async function originOf(db: Database, fork: Fork): Promise<SessionRow | undefined> {
  const row = await db.get<SessionRow>("select * from session where id = ?", [fork.forked_from ?? fork.parent_id]);
  return row?.parent_id === fork.id || row?.forked_from === fork.id ? undefined : row;
}

interface Copied {
  count: number;
  facts: FactsCollector;
}

/** The longest start of the fork's text that is a start of one of the origin's texts. */
async function copiedFrom(kernel: Kernel, fork: Fork, origin: SessionRow): Promise<Copied | undefined> {
  const { db, transcripts } = kernel.storage;
  const earlier = await db.all<EarlierRow>("select * from earlier where session_id = ?", [origin.id]);
  const adapter = kernel.registry.adapters.get(fork.tool) ?? {};
  let most: Copied | undefined;
  for (const text of [origin, ...earlier]) {
    const read = (id: string, parts: TranscriptPart[]) => oneByOne(transcripts.events(id, parts));
    const found = await commonStart(read(fork.id, partsOf(fork)), read(origin.id, partsOf(text)), adapter);
    if (found.count > (most?.count ?? 0)) most = found;
  }
  return most;
}

/** Notes may stand between the messages of either: tools write down that a session was forked. */
async function commonStart(
  fork: AsyncGenerator<SessionEvent>,
  origin: AsyncGenerator<SessionEvent>,
  adapter: Pick<Adapter, "skills" | "tools">,
): Promise<Copied> {
  const facts = collectFacts(adapter);
  let waiting: SessionEvent[] = [];
  let count = 0;
  let [mine, theirs] = [await fork.next(), await origin.next()];
  try {
    while (!mine.done && !theirs.done) {
      const same = saysTheSame(mine.value, theirs.value);
      if (!same && mine.value.kind !== "note" && theirs.value.kind !== "note") break;
      if (!same && mine.value.kind !== "note") {
        theirs = await origin.next();
        continue;
      }
      waiting.push(mine.value);
      mine = await fork.next();
      if (!same) continue;
      theirs = await origin.next();
      if (waiting.at(-1)?.kind === "note") continue; // notes alone are no copy
      for (const event of waiting) facts.add(event);
      count += waiting.length;
      waiting = [];
    }
  } finally {
    await Promise.all([fork.return(undefined), origin.return(undefined)]);
  }
  return { count, facts };
}

/** Ids and times do not matter: some tools give copies others. */
function saysTheSame(a: SessionEvent, b: SessionEvent): boolean {
  return (
    a.kind === b.kind &&
    a.text === b.text &&
    a.tool_name === b.tool_name &&
    JSON.stringify(a.tool_input) === JSON.stringify(b.tool_input)
  );
}

async function* oneByOne(batches: AsyncIterable<SessionEvent[]>): AsyncGenerator<SessionEvent> {
  for await (const events of batches) yield* events;
}
