/** Reads a session's figures back: what its counting goes on from, and what views show of one session. */

import type { Database, SessionUsage } from "sessarc";
import { addUsage } from "sessarc/adapter";
import type { SessionFacts, SlotFacts } from "../catalogue/types.ts";
import { surplus } from "../counting/loose.ts";
import { slotName } from "../counting/replies.ts";

/** What the log gives no time for, and the quarter-hour that it is counted in. */
export interface Untimed {
  quarter: number;
  messages: number;
  errors: number;
  usage: SessionUsage;
}

/** What the counting of a session goes on from beside its figures. */
export interface CountState
  extends Pick<SessionFacts, "last" | "loose" | "looseBefore" | "open" | "changing" | "asked"> {
  /** Largest prompt of each model. */
  most?: [model: string, tokens: number][] | undefined;
  untimed?: Untimed | undefined;
}

interface Row {
  what: "skill" | "call" | "kind" | "work" | "tokens" | "context" | "files" | "state";
  /** A name, a model, or JSON. */
  name: string;
  quarter: number;
  a: number;
  b: number;
  c: number | null;
  d: number;
  e: number;
}

/** One statement, so that all is of one moment. */
const FACTS = [
  "'skill' as what, name, 0 as quarter, calls as a, failures as b, last_at as c, 0 as d, 0 as e from usage_skill",
  "'call', name, 0, calls, errors, 0, 0, 0 from usage_call",
  "'kind', kind, 0, messages, 0, 0, 0, 0 from usage_kind",
  "'work', '', quarter, messages, active_ms, errors, 0, 0 from usage_work",
  "'tokens', model, quarter, input, output, cache_write_5m, cache_write_1h, cache_read from usage_tokens",
  "'context', model, 0, tokens, 0, 0, 0, 0 from usage_context",
  "'files', files, 0, 0, 0, 0, 0, 0 from usage_files",
  "'state', state, 0, 0, 0, 0, 0, 0 from usage_state",
]
  .map((part) => `select ${part} where session = ?1`)
  .join(" union all ");

/** The facts of a stored session as they were written; undefined for an unknown one. */
export async function readFacts(db: Pick<Database, "all">, id: string): Promise<SessionFacts | undefined> {
  const rows = await db.all<Row>(FACTS, [id]);
  const of = (what: Row["what"]) => rows.filter((row) => row.what === what);
  const [stored] = of("state");
  if (!stored) return undefined;
  const { most, untimed, ...state } = JSON.parse(stored.name) as CountState;
  const [files] = of("files");
  const [context] = of("context");
  const skills = of("skill");
  return {
    ...state,
    // Names come from logs: as own keys, whatever they are.
    kinds: Object.fromEntries(of("kind").map(({ name, a }) => [name, a])),
    tools: Object.fromEntries(of("call").map(({ name, a, b }) => [name, [a, b]])),
    files: files ? (JSON.parse(files.name) as SessionFacts["files"]) : {},
    slots: toSlots(of("work"), of("tokens"), untimed),
    ...(context && { context: { model: context.name, tokens: context.a, most: most ?? [] } }),
    ...(skills.length > 0 && { skills: Object.fromEntries(skills.map(({ name, a, b, c }) => [name, [a, b, c]])) }),
  };
}

/** What has a time, by quarter-hour. */
function toSlots(work: readonly Row[], tokens: readonly Row[], untimed: Untimed | undefined): SessionFacts["slots"] {
  const slots = new Map<number, SlotFacts>(
    work.map(({ quarter, a, b, c }) => [quarter, { m: a, a: b, e: c ?? 0 }] as const),
  );
  const used = new Map<number, SessionUsage>();
  for (const { quarter, name, a, b, c, d, e } of tokens) {
    const usage = used.get(quarter) ?? {};
    used.set(quarter, usage);
    addUsage(usage, name, { input: a, output: b, cacheWrite5m: c ?? 0, cacheWrite1h: d, cacheRead: e });
  }
  const last = untimed && slots.get(untimed.quarter);
  if (last) {
    last.m -= untimed.messages;
    last.e -= untimed.errors;
    used.set(untimed.quarter, surplus({ "": used.get(untimed.quarter) ?? {} }, { "": untimed.usage })[""] ?? {});
  }
  const timed: SessionFacts["slots"] = {};
  for (const [quarter, slot] of slots) {
    const u = used.get(quarter) ?? {};
    const has = Object.keys(u).length > 0;
    if (slot.m + slot.a + slot.e > 0 || has) timed[slotName(quarter)] = has ? { ...slot, u } : slot;
  }
  return timed;
}
