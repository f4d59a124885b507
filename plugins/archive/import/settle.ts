/** Counts each reply once: which of an imported session's replies are its own, and which other sessions lose theirs to it. */

import {
  type Database,
  marks,
  pages,
  type SessionRef,
  type SessionUsage,
  type Statement,
  type UsageEvidence,
} from "sessarc";
import type { SessionFacts, SessionFigures, SessionRow } from "../catalogue/types.ts";
import { type Book, decodeBook, type Entry, encodeBook, heldBy, toBook } from "../counting/book.ts";
import { type Audience, type Claim, type Claimant, Claims, isOlder } from "../counting/claims.ts";
import { applyBook, moveAway } from "../counting/figures.ts";
import { addLoose, findLoose, larger, surplus } from "../counting/loose.ts";
import { computeWeight, outputOfWeight, type Reply } from "../counting/replies.ts";
import { readFacts } from "../figures/read.ts";
import { linkAgain } from "./origin.ts";
import { jsonOrNull } from "./rows.ts";
import type { ImportedSession } from "./types.ts";
import { FIGURES, toFigures } from "./write.ts";

interface Lost {
  write: Statement[];
  /** The sessions as they are then. */
  changed: SessionFigures[];
}

interface Settled {
  write: Statement[];
  /** Of sessions that lose replies to this one. Reads their rows: what is staged must be committed before. */
  after: (() => Promise<Lost>) | undefined;
  /** Those sessions. */
  losers: readonly string[];
  /** Others have replies of it, too. */
  shares: boolean;
}

/**
 * What is stored of a session goes on (`appended`), is followed by another text of it (`replaced`), is read once more, of which only the
 * texts before it stay as they were counted (`recounted`), or does not matter.
 */
export type Follows = "appended" | "replaced" | "recounted" | null;

/** A session that was read, and how it stands to the stored one. */
export interface Arrival {
  session: ImportedSession;
  ref: SessionRef;
  follows: Follows;
  /** Facts of the stored session, when some of what it says stays beside what was read. */
  before: SessionFacts | undefined;
}

interface Stored {
  n: number;
  session_id: string;
  born: number;
  hashes: Uint8Array;
}

const COLUMNS = "n, session_id, born, hashes";
const PAGE = 200;
/** Replies that one statement looks up or books. A list that is shorter repeats its last one, so that there is one statement for all. */
const TOGETHER = 32;

const FIND = `select distinct book from reply where hash in (${Array.from({ length: TOGETHER }, () => "?").join(", ")})`;
const BOOK = `insert into reply (hash, book)
  select v.column1, s.n from session_replies s, (values ${Array.from({ length: TOGETHER }, () => "(?)").join(", ")}) as v
  where s.session_id = ? on conflict do nothing`;

function* together(hashes: readonly number[]): Generator<number[]> {
  for (const page of pages(hashes, TOGETHER)) {
    const last = page.at(-1) ?? 0;
    yield [...page, ...new Array<number>(TOGETHER - page.length).fill(last)];
  }
}

/** Who reads which session. */
export interface Audiences {
  of(ids: readonly string[]): Promise<ReadonlyMap<string, Audience>>;
}

export class Settler {
  readonly #db: Database;
  readonly #audiences: Audiences | undefined;
  readonly #audienceOf = new Map<string, Audience | undefined>();
  readonly #claims = new Claims();
  /** Sessions all of whose replies are known to the claims, and books that were read. */
  readonly #whole = new Set<string>();
  readonly #books = new Set<number>();

  /** For one run. Reads a book when one of its replies is met. */
  constructor(db: Database, audiences?: Audiences) {
    this.#db = db;
    this.#audiences = audiences;
  }

  async #learn(rows: readonly Stored[]): Promise<void> {
    const open = rows.filter(({ session_id }) => !this.#whole.has(session_id));
    await this.#ask(open.map(({ session_id }) => session_id));
    for (const row of open) {
      this.#whole.add(row.session_id);
      this.#claims.claim(this.#claimant(row.session_id, row.born), heldBy(row.hashes));
    }
  }

  async #ask(ids: readonly string[]): Promise<void> {
    const open = this.#audiences ? ids.filter((id) => !this.#audienceOf.has(id)) : [];
    if (open.length === 0) return;
    const known = await this.#audiences?.of(open);
    for (const id of open) this.#audienceOf.set(id, known?.get(id));
  }

  #claimant = (id: string, born: number): Claimant => ({ id, born, audience: this.#audienceOf.get(id) });

  /** Reads the books that hold any of the replies. */
  async #meet(hashes: readonly number[]): Promise<void> {
    const met = new Set<number>();
    for (const some of together(hashes))
      for (const { book } of await this.#db.all<{ book: number }>(FIND, some))
        if (!this.#books.has(book)) met.add(book);
    for (const page of pages([...met], PAGE)) {
      const rows = await this.#db.all<Stored>(
        `select ${COLUMNS} from session_replies where n in (${marks(page)}) order by n`,
        page,
      );
      await this.#learn(rows);
      for (const book of page) this.#books.add(book);
    }
  }

  /** Brings `session`'s figures, added up from its log, to what counts. */
  async settle({ session, ref, follows, before }: Arrival): Promise<Settled> {
    const row = await this.#row(session.id);
    await this.#ask([session.id]);
    if (row) await this.#learn([row]);
    this.#whole.add(session.id);
    const stored = follows === null ? undefined : toStored(row);
    const listed = toBook(session.replies);
    const book = joinBooks(listed, stored?.book, follows, session.earlier.length > 0);
    settleLoose(session, listed, book, before, follows);
    if (book.size === 0) return { write: [], after: undefined, losers: [], shares: false };
    const born = Math.min(session.born, stored?.born ?? session.born);
    // An appended log lists its replies again: of those that are as they were, the owner is known.
    const isSettled = ({ hash, tokens }: Entry) => {
      const old = stored?.book.get(hash);
      return (
        old !== undefined && (!listed.has(hash) || (!old.earlier && computeWeight(old.tokens) >= computeWeight(tokens)))
      );
    };
    const goesOn = follows === "appended" && stored?.born === born;
    const open = [...book.values()].filter((entry) => !goesOn || !isSettled(entry));
    await this.#meet(open.map(({ hash }) => hash));
    const { lost, taken } = this.#claims.claim(
      this.#claimant(session.id, born),
      open.map(({ hash, tokens }) => ({ hash, weight: computeWeight(tokens) })),
    );
    for (const entry of open) entry.lost = false;
    for (const index of lost) if (open[index]) open[index].lost = true;
    const { summary, facts } = session;
    summary.inheritedUsage ??= {};
    const { usage, inheritedUsage: inherited, evidence } = summary;
    applyBook(book.values(), listed, { usage, inherited, evidence, slots: facts.slots });
    const write: Statement[] = [
      [
        `insert into session_replies (session_id, tool, born, hashes) values (?, ?, ?, ?)
         on conflict (session_id) do update set tool = excluded.tool, born = excluded.born, hashes = excluded.hashes`,
        [session.id, ref.tool, born, encodeBook(book)],
      ],
    ];
    // The book is still found for replies that a log no longer has, and lacks them.
    const added = [...book.keys()].filter((hash) => !stored?.book.has(hash));
    for (const some of together(added)) write.push([BOOK, [...some, session.id]]);
    const sharers = new Set(open.flatMap(({ hash }) => this.#claims.sharersOf(hash).map(({ id }) => id)));
    const shares = sharers.delete(session.id);
    for (const some of pages([...sharers], PAGE)) write.push(linkAgain(some));
    if (taken.size === 0) return { write, after: undefined, losers: [], shares };
    const after = async () => {
      const lost: Lost = { write: [], changed: [] };
      for (const [id, claims] of taken) await this.#disown(id, open, claims, lost);
      return lost;
    };
    return { write, after, losers: [...taken.keys()], shares };
  }

  /** The sessions in which replies of `id` were first said, the youngest first: of those that have a reply the oldest one. */
  async originsOf(id: string): Promise<string[]> {
    const row = await this.#row(id);
    if (!row) return [];
    const hashes = Array.from(heldBy(row.hashes), ({ hash }) => hash);
    await this.#meet(hashes);
    await this.#learn([row]);
    const origins = new Map<string, Claimant>();
    const space = this.#audienceOf.get(id)?.space;
    for (const hash of hashes) {
      // Other readers do not learn of a session that they may not read.
      const [first, ...others] = this.#claims.sharersOf(hash).filter(({ audience }) => audience?.space === space);
      if (!first) continue;
      const oldest = others.reduce((old, one) => (isOlder(one, old) ? one : old), first);
      if (oldest.id !== id) origins.set(oldest.id, oldest);
    }
    return [...origins.values()].sort((a, b) => (isOlder(a, b) ? 1 : -1)).map((one) => one.id);
  }

  /** Takes replies out of a stored session that another one has more of. */
  async #disown(id: string, open: readonly Reply[], claims: readonly Claim[], lost: Lost): Promise<void> {
    const stored = toStored(await this.#row(id));
    const row = await this.#db.get<SessionRow>(`select ${FIGURES}, inherited from session where id = ?`, [id]);
    const facts = await readFacts(this.#db, id);
    const usage = JSON.parse(row?.usage ?? "{}") as SessionUsage;
    const inherited = JSON.parse(row?.inherited ?? "{}") as SessionUsage;
    const evidence = row?.evidence ? (JSON.parse(row.evidence) as UsageEvidence) : undefined;
    for (const { index, weight } of claims) {
      const reply = open[index];
      if (!reply) continue;
      const entry = stored?.book.get(reply.hash);
      if (entry?.lost) continue;
      if (entry) entry.lost = true;
      moveAway(
        { usage, inherited, evidence, slots: facts?.slots ?? {} },
        entry ?? { ...reply, tokens: { ...reply.tokens, output: outputOfWeight(weight) } },
      );
    }
    if (stored)
      lost.write.push(["update session_replies set hashes = ? where session_id = ?", [encodeBook(stored.book), id]]);
    if (!row || !facts) return;
    lost.write.push([
      "update session set usage = ?, inherited = ?, evidence = ? where id = ?",
      [JSON.stringify(usage), JSON.stringify(inherited), jsonOrNull(evidence), id],
    ]);
    lost.changed.push({ ...toFigures(row, facts), usage, evidence: evidence ?? null });
  }

  async #row(id: string): Promise<Stored | undefined> {
    return this.#db.get<Stored>(`select ${COLUMNS} from session_replies where session_id = ?`, [id]);
  }
}

const toStored = (row: Stored | undefined): { born: number; book: Book } | undefined =>
  row && { born: row.born, book: decodeBook(row.hashes) };

/** Tokens of no reply in particular, in this text and in earlier ones. */
function settleLoose(
  { summary, facts }: ImportedSession,
  listed: Book,
  book: Book,
  before: SessionFacts | undefined,
  follows: Follows,
): void {
  const { usage } = summary;
  const inLog = [...book.values()].filter((entry) => !entry.earlier).map((entry) => listed.get(entry.hash) ?? entry);
  const loose = findLoose({ usage, slots: facts.slots }, inLog);
  const past = before ?? facts;
  const looseBefore = before && follows === "replaced" ? larger(past.looseBefore, past.loose) : past.looseBefore;
  delete facts.loose;
  delete facts.looseBefore;
  if (loose) facts.loose = loose;
  if (!looseBefore || Object.keys(looseBefore).length === 0) return;
  facts.looseBefore = looseBefore;
  addLoose({ usage, slots: facts.slots }, surplus(looseBefore, loose ?? {}));
}

/** Replies only grow. Those that a log no longer lists stay where the messages beside them do. */
function joinBooks(listed: Book, stored: Book | undefined, follows: Follows, keeps: boolean): Book {
  if (!stored) return listed;
  const appended = follows === "appended";
  const book: Book = new Map();
  for (const [hash, entry] of stored) {
    if (listed.has(hash)) continue;
    if (appended || entry.earlier || (keeps && follows === "replaced"))
      book.set(hash, { ...entry, earlier: entry.earlier || !appended });
  }
  if (follows === "recounted") return new Map([...book, ...listed]);
  for (const [hash, entry] of listed) {
    const old = stored.get(hash);
    const more = old && computeWeight(old.tokens) > computeWeight(entry.tokens) ? old : entry;
    book.set(hash, { ...more, lost: old?.lost ?? false, earlier: false });
  }
  return book;
}
