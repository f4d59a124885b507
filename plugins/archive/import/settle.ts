/** Counts each reply once: which of an imported session's replies are its own, and which other sessions lose theirs to it. */
import type { Database, SessionRef, Statement } from "sessarc";
import { Claims } from "./claims.ts";
import { withoutKnown } from "./replies.ts";
import { disown, disownStored, upsertReplies } from "./rows.ts";
import type { ImportedSession } from "./types.ts";

export interface Settled {
  write: Statement[];
  /** Of sessions that lose replies to this one. Reads their rows: what is staged must be committed before. */
  after: (() => Promise<Statement[]>) | undefined;
}

export class Settler {
  readonly #db: Database;
  readonly #claims = new Claims();

  private constructor(db: Database) {
    this.#db = db;
  }

  /** Holds every stored reply, see claims.ts for what that takes. */
  static async load(db: Database): Promise<Settler> {
    const settler = new Settler(db);
    const rows = await db.all<{ session_id: string; born: number; hashes: Uint8Array }>(
      "select session_id, born, hashes from session_replies",
    );
    for (const row of rows) settler.#claims.load({ id: row.session_id, born: row.born }, toFloats(row.hashes));
    return settler;
  }

  /** Takes replies out of `session`'s figures that another log owns. `appended`: it is only what was added to the stored one. */
  async settle(session: ImportedSession, ref: SessionRef, appended: boolean): Promise<Settled> {
    const nothing: Settled = { write: [], after: undefined };
    if (!session.replies) return nothing;
    const stored = appended ? await this.#stored(session.id) : undefined;
    const replies = stored ? withoutKnown(session.replies, stored) : session.replies;
    if (replies.hashes.length === 0) return nothing;
    const { inherited, taken } = this.#claims.claim({ id: session.id, born: session.born }, replies);
    const moves = inherited.map((index) => ({ index }));
    if (moves.length > 0) disown(session, replies, moves);
    const write = [upsertReplies(session.id, ref.tool, session.born, replies, stored)];
    if (taken.size === 0) return { write, after: undefined };
    const after = async () => {
      const statements: Statement[] = [];
      for (const [id, lost] of taken) statements.push(...(await disownStored(this.#db, id, replies, lost)));
      return statements;
    };
    return { write, after };
  }

  async #stored(id: string): Promise<Float64Array> {
    const sql = "select hashes from session_replies where session_id = ?";
    const row = await this.#db.get<{ hashes: Uint8Array }>(sql, [id]);
    return row ? toFloats(row.hashes) : new Float64Array(0);
  }
}

const toFloats = (bytes: Uint8Array) => new Float64Array(Uint8Array.from(bytes).buffer);
