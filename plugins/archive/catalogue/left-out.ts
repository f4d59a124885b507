/** Sessions with replies that are in no figure: a row of their log has a time or a count that cannot be. */
import { type Database, type DoctorCheck, marks, type SessionSummary } from "sessarc";
import { describeLeftOut } from "sessarc/adapter";
import type { LoggedFacts, SessionRow } from "./types.ts";

/** A session of which something does not count, and why. */
export interface LeftOutNote {
  id: string;
  reason: string;
}

export interface LeftOutSession extends LeftOutNote {
  name: string | null;
  title: string | null;
  firstPrompt: string | null;
  /** What the reason is made of: rows that do not count, or why none does. */
  figuresLeftOut: LeftOut | null;
  figuresRefused: string | null;
}

export interface LeftOutReport {
  /** The first ones. */
  sessions: LeftOutSession[];
  total: number;
}

type LeftOut = NonNullable<SessionSummary["leftOut"]>;

const SHOWN = 20;

/** One look-up by an index where there are none. `ids`: of these alone. */
export async function leftOut(db: Database, ids?: readonly string[]): Promise<LeftOutReport> {
  const only = ids === undefined ? "" : ` and id in (${marks(ids)})`;
  const rows = await db.all<Pick<SessionRow, "id" | "name" | "title" | "first_prompt" | "logged">>(
    `select id, name, title, first_prompt, logged from session indexed by session_left_out where left_out is not null${only} order by id`,
    [...(ids ?? [])],
  );
  const all = rows.flatMap(({ first_prompt: firstPrompt, logged, ...row }): LeftOutSession[] => {
    const facts = JSON.parse(logged ?? "{}") as LoggedFacts;
    const figuresLeftOut = facts.leftOut ?? null;
    const figuresRefused = facts.refused ?? null;
    // Others wait for the rest of their log.
    if (figuresLeftOut === null && figuresRefused === null) return [];
    return [{ ...row, firstPrompt, reason: toReason(facts), figuresLeftOut, figuresRefused }];
  });
  return { sessions: all.slice(0, SHOWN), total: all.length };
}

/** Whether the time of replies has come that did not count until now, or a log with something that waits has rested. One look-up by the index. */
export async function isDue(db: Database): Promise<boolean> {
  const sql = "select 1 from session indexed by session_left_out where left_out is not null and left_out <= ? limit 1";
  return (await db.get(sql, [Date.now()])) !== undefined;
}

function toReason({ leftOut, refused }: LoggedFacts): string {
  return leftOut ? describeLeftOut(leftOut) : `no tokens are counted: ${refused ?? "impossible figures"}`;
}

/** Undefined if all replies count. */
export async function checkLeftOut(db: Database): Promise<DoctorCheck | undefined> {
  const { sessions, total } = await leftOut(db);
  const [first] = sessions;
  if (!first) return undefined;
  return {
    name: "figures",
    status: "warn",
    detail: `replies of ${total === 1 ? "1 session do" : `${total} sessions do`} not count, as in ${first.id}: ${first.reason}`,
    fix: "Check the clock of the machine that wrote the log. Replies with a time count once it has come, at the next import.",
  };
}
