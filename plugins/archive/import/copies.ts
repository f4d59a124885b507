/** What a fork copied from the session it came from counts there: its messages, calls and files, as its tokens do. */

import type { Kernel, SessionEvent } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import type { TranscriptPart } from "sessarc/storage";
import { type EarlierRow, type SessionRow, toParts } from "../catalogue/types.ts";
import { isOlder } from "../counting/claims.ts";
import { giveFacts, takeFacts } from "../counting/merge.ts";
import { readFacts } from "../figures/read.ts";
import { collectFacts, type FactsCollector } from "./facts.ts";
import { COMPARE, FORK_ENDED, ORIGIN_ENDED, UNKNOWN } from "./origin.ts";
import { readFiles } from "./session-files.ts";
import type { OnCommit } from "./types.ts";
import { toFigures, writtenWith } from "./write.ts";

type Fork = Pick<
  SessionRow,
  | "id"
  | "tool"
  | "parts"
  | "message_count"
  | "error_count"
  | "active_ms"
  | "forked_from"
  | "copied"
  | "lineage"
  | "source_born"
  | "usage"
  | "evidence"
  | "sort_at"
>;

const COLUMNS = `f.id, f.tool, f.parts, f.message_count, f.error_count, f.active_ms, f.forked_from, f.copied,
  f.lineage, f.source_born, f.usage, f.evidence, f.sort_at`;
const NEW = `select ${COLUMNS} from session f indexed by session_uncompared join session p on p.id = f.forked_from
  where f.copied = ${UNKNOWN} and p.id <> f.id`;
const AGAIN = `select ${COLUMNS} from session f indexed by session_unsettled
  where f.lineage >= ${COMPARE} and f.copied <> ${UNKNOWN}`;

/** SQL: whether a fork is to be compared with its origin. */
export const HAS_COPIES = `exists (${NEW}) or exists (${AGAIN})`;

/** Looks at forks whose origin is archived and that were not compared with it as it is. Reads both texts as far as they are the same. */
export async function settleCopies(kernel: Kernel, onChange: OnCommit): Promise<void> {
  const { db } = kernel.storage;
  for (const fork of await db.all<Fork>(`${NEW} union all ${AGAIN}`)) {
    if (kernel.closing.aborted) return;
    const from = fork.forked_from;
    const row = from === null ? undefined : await db.get<SessionRow>("select * from session where id = ?", [from]);
    const lineage = fork.lineage & ~(COMPARE | FORK_ENDED | ORIGIN_ENDED);
    if (from !== null && !row) {
      // Deleted since: what counted there does not count here.
      await db.run("update session set lineage = ? where id = ?", [lineage, fork.id]);
      continue;
    }
    if (row && startedBy(fork, row)) {
      // They share replies because this one started the other: no fork.
      fork.forked_from = null;
      await store(kernel, fork, lineage, undefined);
    } else await store(kernel, fork, lineage, row && (await copiedFrom(kernel, fork, row)));
    onChange([], [fork.id]);
  }
}

/** Of two that name each other the older one is the origin. */
const startedBy = (fork: Fork, { id, parent_id, forked_from, source_born }: SessionRow): boolean =>
  parent_id === fork.id ||
  (forked_from === fork.id && isOlder({ id: fork.id, born: fork.source_born }, { id, born: source_born }));

/** Takes what was copied out of the fork's figures, after what was taken before is put back. */
async function store(kernel: Kernel, fork: Fork, lineage: number, copied: Copied | undefined): Promise<void> {
  const facts = await readFacts(kernel.storage.db, fork.id);
  // Deleted since.
  if (!facts) return;
  let { message_count: messages, error_count: errors, active_ms: active } = fork;
  const before = fork.copied > 0 ? await readStart(kernel, fork) : undefined;
  if (before) {
    giveFacts(facts, before.finish(undefined));
    messages += fork.copied;
    errors += before.errorCount;
    active += before.activeMs;
  }
  const count = copied?.count ?? 0;
  if (copied && count > 0) {
    active -= takeFacts(facts, copied.facts.finish(undefined));
    messages -= count;
    errors -= copied.facts.errorCount;
  }
  // A call may be copied and its failure not yet: that is not put back by adding.
  const adapter = before && kernel.registry.adapters.get(fork.tool);
  if (adapter) facts.files = await readFiles(kernel, { ...fork, copied: count }, adapter);
  const counts = {
    message_count: Math.max(0, messages),
    error_count: Math.max(0, errors),
    active_ms: Math.max(0, active),
  };
  await kernel.storage.db.batch([
    [
      "update session set forked_from = ?, lineage = ?, copied = ?, message_count = ?, error_count = ?, active_ms = ? where id = ?",
      [
        fork.forked_from,
        lineage | (copied?.ended ?? 0),
        count,
        counts.message_count,
        counts.error_count,
        counts.active_ms,
        fork.id,
      ],
    ],
    ...(await writtenWith(kernel, toFigures({ ...fork, ...counts }, facts))),
  ]);
}

/** What was copied until now, as it was counted. */
async function readStart({ storage, registry }: Kernel, fork: Fork): Promise<FactsCollector> {
  const facts = collectFacts(registry.adapters.get(fork.tool) ?? {});
  let left = fork.copied;
  for await (const event of oneByOne(storage.transcripts.events(fork.id, toParts(fork)))) {
    if (left-- === 0) break;
    facts.add(event);
  }
  return facts;
}

interface Copied {
  count: number;
  facts: FactsCollector;
  /** FORK_ENDED where the fork has no more, ORIGIN_ENDED where the origin has no more. */
  ended: number;
}

/** The longest start of the fork's text that is a start of one of the origin's texts. */
async function copiedFrom(kernel: Kernel, fork: Fork, origin: SessionRow): Promise<Copied | undefined> {
  const { db, transcripts } = kernel.storage;
  const earlier = await db.all<EarlierRow>("select * from earlier where session_id = ?", [origin.id]);
  const adapter = kernel.registry.adapters.get(fork.tool) ?? {};
  let most: Copied | undefined;
  let ended = 0;
  for (const text of [origin, ...earlier]) {
    const read = (id: string, parts: TranscriptPart[]) => oneByOne(transcripts.events(id, parts));
    const found = await commonStart(read(fork.id, toParts(fork)), read(origin.id, toParts(text)), adapter);
    ended |= found.ended;
    if (!most || found.count > most.count) most = found;
  }
  return most && { ...most, ended };
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
  return { count, facts, ended: (mine.done ? FORK_ENDED : 0) | (theirs.done ? ORIGIN_ENDED : 0) };
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
