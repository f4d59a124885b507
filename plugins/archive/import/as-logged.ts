/** A session as a log says it: the figures before any of its replies was attributed to another session. */

import type { Database, SessionSummary, SessionUsage, TokenUsage } from "sessarc";
import { addUsage, classed, emptyUsage, plainModel, plainUsage } from "sessarc/adapter";
import type { TranscriptPart } from "sessarc/storage";
import {
  type EarlierRow,
  type LoggedFacts,
  type ProjectRow,
  type SessionFacts,
  type SessionRow,
  toParts,
} from "../catalogue/types.ts";
import { type Entry, listEntries } from "../counting/book.ts";
import { type Loose, larger, surplus } from "../counting/loose.ts";
import { slotName } from "../counting/replies.ts";
import { readFacts } from "../figures/read.ts";
import { LINKED } from "./origin.ts";

/** What another archive needs to count a session as this one does, whatever else it has. */
export interface LoggedSession {
  /** As an adapter returns it. Keys of replies are `#` and the hash of the reply, so equal replies have equal keys. */
  summary: SessionSummary;
  /** ms: birth of the oldest log it was read from. */
  born: number;
  /** Transcript parts of its texts, oldest first; the last text is the session's own. */
  texts: TranscriptPart[][];
}

const QUARTER_MS = 900_000;

/** One look-up each for the book, the earlier texts, the project and the facts. Linear in the replies. */
export async function asLogged(db: Database, row: SessionRow): Promise<LoggedSession> {
  const book = await db.get<{ born: number; hashes: Uint8Array }>(
    "select born, hashes from session_replies where session_id = ?",
    [row.id],
  );
  const earlier = await db.all<EarlierRow>("select * from earlier where session_id = ? order by version", [row.id]);
  const project = await db.get<ProjectRow>("select * from project where id = ?", [row.origin_id]);
  const facts = await readFacts(db, row.id);
  const entries = book ? [...listEntries(book.hashes)] : [];
  return {
    summary: { ...saidBy(row), ...toVirtual(row, project), ...toFigures(row, facts, entries) },
    born: Math.min(book?.born ?? row.source_born, row.source_born),
    texts: [...earlier, row].map(toParts),
  };
}

type Figures = Pick<SessionSummary, "usage" | "slots" | "classes" | "replies" | "inheritedUsage" | "evidence">;

function toFigures(row: SessionRow, facts: SessionFacts | undefined, entries: readonly Entry[]): Figures {
  const total: SessionUsage = {};
  const sums: Loose = { "": total };
  const add = (slot: string, model: string, tokens: TokenUsage) => {
    addUsage(total, model, tokens);
    if (slot === "") return;
    sums[slot] ??= {};
    addUsage(sums[slot], model, tokens);
  };
  // Models are listed in the order in which the log names them.
  for (const model of Object.keys(JSON.parse(row.usage) as SessionUsage)) addUsage(total, model, emptyUsage());
  const lost: SessionUsage = {};
  for (const { quarter, model, tokens, lost: isLost } of entries) {
    add(quarter < 0 ? "" : slotName(quarter), model, tokens);
    if (isLost) addUsage(lost, model, tokens);
  }
  for (const [slot, usage] of Object.entries(larger(facts?.loose, facts?.looseBefore)))
    for (const [model, tokens] of Object.entries(usage)) add(slot, model, tokens);
  const classes = byClass(sums);
  const { "": _, ...slots } = sums;
  const inherited = surplus({ "": JSON.parse(row.inherited ?? "{}") as SessionUsage }, { "": lost })[""];
  const figures: Figures = {
    usage: plainUsage(total),
    slots: Object.fromEntries(Object.entries(slots).map(([slot, usage]) => [slot, plainUsage(usage)])),
    replies: entries.map(({ hash, quarter, model, tokens }) => ({
      key: `#${hash}`,
      ...(quarter >= 0 && { at: new Date(quarter * QUARTER_MS).toISOString() }),
      ...unclassed(model),
      usage: tokens,
    })),
  };
  if (classes) figures.classes = classes;
  if (inherited) figures.inheritedUsage = plainUsage(inherited);
  if (row.evidence) figures.evidence = toEvidence(row.evidence, entries);
  return figures;
}

/** Replies that another session owns are requests of this log again. */
function toEvidence(stored: string, entries: readonly Entry[]): NonNullable<Figures["evidence"]> {
  const evidence = JSON.parse(stored) as NonNullable<Figures["evidence"]>;
  const lost = entries.filter((entry) => entry.lost).length;
  const excluded = Math.max(0, evidence.inheritedExcluded - lost);
  return { ...evidence, requests: evidence.requests + lost, inheritedExcluded: excluded };
}

/** Tokens at other than the standard price; undefined if all are at it. */
function byClass(sums: Loose): Record<string, SessionUsage> | undefined {
  const classes: Record<string, SessionUsage> = {};
  for (const [slot, usage] of Object.entries(sums))
    for (const [model, tokens] of Object.entries(usage))
      if (plainModel(model) !== model) {
        classes[slot] ??= {};
        addUsage(classes[slot], model, tokens);
      }
  return Object.keys(classes).length > 0 ? classes : undefined;
}

/** The model of a key, and its price class. */
function unclassed(key: string): { model: string; priceClass?: string } {
  const model = plainModel(key);
  return model === key ? { model } : { model, priceClass: key.slice(classed(model, "").length) };
}

type Said = Omit<SessionSummary, "usage" | "replies" | "slots" | "classes">;

/** `forkedFrom` only where the log names it: what was found by replies is found again. */
function saidBy(row: SessionRow): Said {
  const key = (id: string | null) => (id === null ? undefined : id.slice(row.tool.length + 1));
  const forked = (row.lineage & LINKED) === 0 ? row.forked_from : null;
  const said: Said = {
    ...(row.logged === null ? {} : (JSON.parse(row.logged) as LoggedFacts)),
    title: row.title ?? undefined,
    cwd: row.cwd ?? undefined,
    gitBranch: row.git_branch ?? undefined,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    parent: key(row.parent_id),
    forkedFrom: key(forked),
  };
  if (row.skipped !== null) said.skipped = JSON.parse(row.skipped) as NonNullable<Said["skipped"]>;
  return said;
}

/** The group of a session without a folder, which its log named. */
function toVirtual({ tool }: SessionRow, project: ProjectRow | undefined): Pick<SessionSummary, "virtualProject"> {
  const prefix = `virtual:${tool}:`;
  if (!project?.key.startsWith(prefix)) return {};
  return { virtualProject: { key: project.key.slice(prefix.length), name: project.derived_name } };
}
