/** Counts each reply once: which of an imported session's replies are its own, and which other sessions lose theirs to it. */
import { type Database, type SessionRef, type SessionUsage, Slices, type Statement, type UsageEvidence } from "sessarc";
import type { SessionFacts, SessionRow } from "../catalogue/types.ts";
import { type Book, decodeBook, encodeBook, entriesOf, toBook } from "../counting/book.ts";
import { type Claim, type Claimant, Claims, isOlder } from "../counting/claims.ts";
import { applyBook, moveAway } from "../counting/figures.ts";
import { addLoose, larger, looseOf, surplus } from "../counting/loose.ts";
import { outputOfWeight, type Reply, weightOf, weightOfOutput } from "../counting/replies.ts";
import { UNKNOWN } from "./copies.ts";
import { jsonOrNull } from "./rows.ts";
import type { ImportedSession } from "./types.ts";

export interface Settled {
  write: Statement[];
  /** Of sessions that lose replies to this one. Reads their rows: what is staged must be committed before. */
  after: (() => Promise<Statement[]>) | undefined;
  /** Those sessions. */
  losers: readonly string[];
}

/** What is stored of a session goes on (`appended`), is followed by another text of it (`replaced`), or does not matter. */
export type Follows = "appended" | "replaced" | null;

/** A session that was read, and how it stands to the stored one. */
export interface Arrival {
  session: ImportedSession;
  ref: SessionRef;
  follows: Follows;
  /** The stored session, when some of what it says stays beside what was read. */
  before: SessionRow | null;
}

interface Stored {
  session_id: string;
  born: number;
  format: number;
  hashes: Uint8Array;
}

/** Of the blob: 0 pairs of hash and output, 1 a book. */
const FORMAT = 1;
const PAGE = 200;

export class Settler {
  readonly #db: Database;
  readonly #claims = new Claims();

  private constructor(db: Database) {
    this.#db = db;
  }

  /** Holds every stored reply, see claims.ts for what that takes. In slices; one that failed to store must not be used again. */
  static async load(db: Database): Promise<Settler> {
    const settler = new Settler(db);
    const slices = new Slices();
    for (let after = 0, more = true; more; ) {
      const rows = await db.all<Stored & { rowid: number }>(
        `select rowid, session_id, born, format, hashes from session_replies where rowid > ? order by rowid limit ${PAGE}`,
        [after],
      );
      for (const row of rows) {
        settler.#claims.claim({ id: row.session_id, born: row.born }, heldBy(row));
        after = row.rowid;
        if (slices.due) await slices.turn();
      }
      more = rows.length === PAGE;
    }
    return settler;
  }

  /** Brings `session`'s figures, added up from its log, to what counts. */
  async settle({ session, ref, follows, before }: Arrival): Promise<Settled> {
    const stored = follows === null ? undefined : await this.#stored(session.id);
    const listed = toBook(session.replies);
    const book = joinBooks(listed, stored?.book, follows === "appended", session.earlier.length > 0);
    settleLoose(session, listed, book, before);
    if (book.size === 0) return { write: [], after: undefined, losers: [] };
    const born = Math.min(session.born, stored?.born ?? session.born);
    // What an appended log does not list again is as it was.
    const open = [...(follows === "appended" ? listed.keys() : book.keys())].flatMap((hash) => book.get(hash) ?? []);
    const { lost, owner, taken } = this.#claims.claim(
      { id: session.id, born },
      open.map(({ hash, tokens }) => ({ hash, weight: weightOf(tokens) })),
    );
    for (const entry of open) entry.lost = false;
    for (const index of lost) if (open[index]) open[index].lost = true;
    const { summary, facts } = session;
    // Its log does not say where it came from, the replies it repeats do.
    if (owner !== undefined && summary.parent === undefined && ref.parent === undefined)
      summary.forkedFrom ??= owner.slice(ref.tool.length + 1);
    summary.inheritedUsage ??= {};
    const { usage, inheritedUsage: inherited, evidence } = summary;
    applyBook(book.values(), listed, { usage, inherited, evidence, slots: facts.slots });
    const write: Statement[] = [
      [
        "insert or replace into session_replies (session_id, tool, born, format, hashes) values (?, ?, ?, ?, ?)",
        [session.id, ref.tool, born, FORMAT, encodeBook(book)],
      ],
    ];
    if (taken.size === 0) return { write, after: undefined, losers: [] };
    const after = async () => {
      const statements: Statement[] = [];
      for (const [id, claims] of taken)
        statements.push(...(await this.#disown(id, { id: session.id, born }, open, claims)));
      return statements;
    };
    return { write, after, losers: [...taken.keys()] };
  }

  /** Takes replies out of a stored session that another one has more of. */
  async #disown(id: string, taker: Claimant, open: readonly Reply[], claims: readonly Claim[]): Promise<Statement[]> {
    const stored = await this.#stored(id);
    const row = await this.#db.get<Pick<SessionRow, "usage" | "inherited" | "evidence" | "facts">>(
      "select usage, inherited, evidence, facts from session where id = ?",
      [id],
    );
    const usage = JSON.parse(row?.usage ?? "{}") as SessionUsage;
    const inherited = JSON.parse(row?.inherited ?? "{}") as SessionUsage;
    const facts = JSON.parse(row?.facts ?? '{"slots":{}}') as SessionFacts;
    const evidence = row?.evidence ? (JSON.parse(row.evidence) as UsageEvidence) : undefined;
    for (const { index, weight } of claims) {
      const reply = open[index];
      if (!reply) continue;
      const entry = stored?.book?.get(reply.hash);
      if (entry?.lost) continue;
      if (entry) entry.lost = true;
      moveAway(
        { usage, inherited, evidence, slots: facts.slots },
        entry ?? { ...reply, tokens: { ...reply.tokens, output: outputOfWeight(weight) } },
      );
    }
    const statements: Statement[] = [];
    if (stored?.book)
      statements.push(["update session_replies set hashes = ? where session_id = ?", [encodeBook(stored.book), id]]);
    if (isOlder(taker, { id, born: stored?.born ?? 0 }))
      statements.push([
        `update session set forked_from = ?, copied = ${UNKNOWN} where id = ? and forked_from is null and parent_id is null`,
        [taker.id, id],
      ]);
    if (row)
      statements.push([
        "update session set usage = ?, inherited = ?, evidence = ?, facts = ? where id = ?",
        [JSON.stringify(usage), JSON.stringify(inherited), jsonOrNull(evidence), JSON.stringify(facts), id],
      ]);
    return statements;
  }

  async #stored(id: string): Promise<{ born: number; book: Book | undefined } | undefined> {
    const sql = "select session_id, born, format, hashes from session_replies where session_id = ?";
    const row = await this.#db.get<Stored>(sql, [id]);
    return row && { born: row.born, book: row.format === FORMAT ? decodeBook(row.hashes) : undefined };
  }
}

/** Tokens of no reply in particular, in this text and in earlier ones. */
function settleLoose({ summary, facts }: ImportedSession, listed: Book, book: Book, before: SessionRow | null): void {
  const { usage } = summary;
  const inLog = [...book.values()].filter((entry) => !entry.earlier).map((entry) => listed.get(entry.hash) ?? entry);
  const loose = looseOf({ usage, slots: facts.slots }, inLog);
  const past = before ? (JSON.parse(before.facts) as SessionFacts) : facts;
  const looseBefore = before ? larger(past.looseBefore, past.loose) : past.looseBefore;
  delete facts.loose;
  delete facts.looseBefore;
  if (loose) facts.loose = loose;
  if (!looseBefore || Object.keys(looseBefore).length === 0) return;
  facts.looseBefore = looseBefore;
  addLoose({ usage, slots: facts.slots }, surplus(looseBefore, loose ?? {}));
}

/** Replies only grow. Those that a log no longer lists stay where the messages beside them do. */
function joinBooks(listed: Book, stored: Book | undefined, appended: boolean, keeps: boolean): Book {
  const book: Book = new Map();
  for (const [hash, entry] of stored ?? []) {
    if (listed.has(hash)) continue;
    if (appended || entry.earlier || keeps) book.set(hash, { ...entry, earlier: entry.earlier || !appended });
  }
  for (const [hash, entry] of listed) {
    const old = stored?.get(hash);
    book.set(hash, { ...(old && weightOf(old.tokens) > weightOf(entry.tokens) ? old : entry), earlier: false });
  }
  return book;
}

function* heldBy({ format, hashes }: Stored): Generator<{ hash: number; weight: number }> {
  if (format === FORMAT) {
    for (const { hash, tokens, lost } of entriesOf(hashes)) if (!lost) yield { hash, weight: weightOf(tokens) };
    return;
  }
  const pairs = new Float64Array(Uint8Array.from(hashes).buffer);
  for (let i = 0; i < pairs.length; i += 2)
    yield { hash: pairs[i] as number, weight: weightOfOutput(pairs[i + 1] as number) };
}
