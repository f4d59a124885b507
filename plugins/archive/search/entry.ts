/** One session as a search knows it. */
import { createHash } from "node:crypto";
import { type EarlierRow, type Session, type SessionRow, toParts } from "../catalogue/types.ts";
import type { TextOf, TextPart } from "./candidate.ts";
import type { Columns } from "./columns.ts";
import type { Query } from "./query.ts";

export interface Entry {
  id: string;
  projectId: string;
  tool: string;
  /** Its name, else its title, else its first prompt. */
  title: string;
  /** An assistant wrote its prompts. */
  isSubagent: boolean;
  sortAt: number;
  startMs: number | null;
  endMs: number | null;
  errors: number;
  /** Parts of all its texts. */
  parts: readonly TextOf[];
  /** Hash of the id, the texts and the version of the log, in 8 bytes, as hex. */
  key: string;
  /** The session's chunks in a file of columns, if they are in one. */
  columns: Columns | undefined;
  /** Directories and signatures, while they are cached. */
  index: readonly TextPart[] | undefined;
  /** Part of it could not be read. */
  damaged: boolean;
}

/** Filters of a search, with the projects that they name. */
export interface Scope {
  query: Query;
  /** Ids of the projects that pass the query's project filters; null: all. */
  projects: ReadonlySet<string> | null;
  /** Ids of the sessions that the search reads; default all. */
  sessions?: ReadonlySet<string> | null | undefined;
}

const COLUMNS = [
  ...(["id", "tool", "project_id", "sort_at", "started_at", "ended_at"] as const),
  ...(["name", "title", "first_prompt"] as const),
  ...(["error_count", "copied", "source_version", "parts", "parent_id"] as const),
] as const;
export type Row = Pick<SessionRow, (typeof COLUMNS)[number]>;
export const ROW = COLUMNS.join(", ");

/** As a list calls a session, on one line. */
export const toTitle = ({ name, title, firstPrompt }: Pick<Session, "name" | "title" | "firstPrompt">): string =>
  (name ?? title ?? firstPrompt ?? "").replace(/\s+/g, " ").trim().slice(0, TITLE);
const TITLE = 300;

/** An estimate, made without reading the session's directory. */
export const chunksIn = ({ parts }: Entry) =>
  parts.reduce((sum, { part }) => sum + 1 + Math.floor(part.bytes / 24_000), 0);

export const isPlaced = ({ columns }: Entry) => columns !== undefined && !columns.file.closed;

export const toBytes = (index: readonly TextPart[] | undefined) =>
  index?.reduce((sum, { sidecars }) => sum + sidecars.length, 0) ?? 0;

/** A session's place in the list. */
export type ListPlace = Pick<Entry, "sortAt" | "id">;

export const newestFirst = (a: ListPlace, b: ListPlace) => b.sortAt - a.sortAt || (a.id < b.id ? -1 : 1);

/** Whether the session passes the filters that are about sessions. */
export function passes(entry: Entry, { query, projects, sessions }: Scope): boolean {
  if (sessions && !sessions.has(entry.id)) return false;
  if (projects && !projects.has(entry.projectId)) return false;
  if (!query.tool.every((tools) => tools.some((tool) => entry.tool.includes(tool)))) return false;
  if (query.notTool.some((tool) => entry.tool.includes(tool))) return false;
  if (query.error === true && entry.errors === 0) return false;
  if (query.after !== null && entry.endMs !== null && entry.endMs < query.after) return false;
  return !(query.before !== null && entry.startMs !== null && entry.startMs >= query.before);
}

/** `earlier`: the session's earlier texts, the newest first. */
export function toEntry(row: Row, earlier: readonly EarlierRow[]): Entry {
  const texts = earlier.map((text) => [text.version, text.parts, text.own]);
  // A restored catalogue may number another text with a known generation; the version of the log distinguishes the two.
  const identity = JSON.stringify([row.id, row.source_version, row.parts, texts]);
  return {
    id: row.id,
    projectId: row.project_id,
    tool: row.tool,
    title: toTitle({ ...row, firstPrompt: row.first_prompt }),
    isSubagent: row.parent_id !== null,
    sortAt: row.sort_at,
    startMs: row.started_at === null ? null : Date.parse(row.started_at),
    endMs: row.ended_at === null ? null : Date.parse(row.ended_at),
    // Errors that a fork copied are counted in the session it forked from, but are in its text as well.
    errors: row.error_count + (row.copied > 0 ? 1 : 0),
    parts: [
      ...toParts(row).map((part) => ({ part })),
      ...earlier.flatMap((text) => {
        const own: [number, number][] = JSON.parse(text.own);
        return toParts(text).map((part) => ({ part, earlier: { version: text.version, own } }));
      }),
    ],
    key: createHash("sha256").update(identity).digest().toString("hex", 0, 8),
    columns: undefined,
    index: undefined,
    damaged: false,
  };
}
