/** One session as a search knows it. */
import { createHash } from "node:crypto";
import type { PartIndex, TranscriptPart } from "#internal";
import { BoundedMap } from "#internal/adapter";
import { type EarlierRow, partsOf } from "../catalogue/types.ts";
import type { EarlierOf } from "./candidate.ts";
import type { Columns } from "./columns.ts";
import type { Row } from "./entry-rows.ts";

export interface Entry {
  id: string;
  projectId: string;
  tool: string;
  sortAt: number;
  startMs: number | null;
  endMs: number | null;
  errors: number;
  /** Its texts, see `textsOf`: few are ever asked for. */
  packed: string;
  /** Id, texts and the log they were read from in 8 bytes, as hex. */
  key: string;
  /** Where its signatures stand turned around, as far as they do. */
  columns: Columns | undefined;
  index: TextPart[] | undefined;
  /** Some of it could not be read. Set by `Entries.damage`. */
  damaged: boolean;
  /** Its session changed or went since: whoever still reads it keeps nothing of it. */
  replaced: boolean;
}

/** The session's own text, or an earlier one, of which only the messages count that no later one has. */
export interface Text {
  parts: TranscriptPart[];
  earlier?: EarlierOf;
}

export type TextPart = PartIndex & Pick<Text, "earlier">;

/** Chunks of a session whose directory was not read, about: it decides when, not what. */
export const chunksIn = (entry: Entry) =>
  textsOf(entry).reduce(
    (sum, { parts }) => parts.reduce((all, part) => all + 1 + Math.floor(part.bytes / 24_000), sum),
    0,
  );

/** Parts of all its texts. */
export const partsIn = (entry: Entry) =>
  textsOf(entry).flatMap(({ parts, earlier }) => parts.map((part) => ({ part, ...(earlier && { earlier }) })));

export const isPlaced = ({ columns }: Entry) => columns !== undefined && !columns.file.closed;

export const bytesOf = ({ index }: Entry) => index?.reduce((sum, { sidecars }) => sum + sidecars.length, 0) ?? 0;

/** Where a session stands in the list. */
export type ListPlace = Pick<Entry, "sortAt" | "id">;

export const newestFirst = (a: ListPlace, b: ListPlace) => b.sortAt - a.sortAt || (a.id < b.id ? -1 : 1);

/** A line for the session's own text, which is its parts alone, and for each earlier one its version, parts and own messages. */
const pack = (row: Row, earlier: readonly EarlierRow[]) =>
  [row.parts, ...earlier.map((text) => `${text.version} ${text.parts} ${text.own}`)].join("\n");

function textsOf({ packed }: Entry): Text[] {
  const [parts = "[]", ...earlier] = packed.split("\n");
  return [
    { parts: partsOf({ parts }) },
    ...earlier.map((line) => {
      const [version, parts = "[]", own = "[]"] = line.split(" ");
      return {
        parts: partsOf({ parts }),
        earlier: { version: Number(version), own: JSON.parse(own) as [number, number][] },
      };
    }),
  ];
}

/** Tools and projects are few: equal names are one string. */
const names = new BoundedMap<string, string>(10_000);
function shared(name: string): string {
  const known = names.get(name);
  if (known === undefined) names.set(name, name);
  return known ?? name;
}

export function toEntry(row: Row, earlier: readonly EarlierRow[], old: Entry | undefined): Entry {
  const packed = pack(row, earlier);
  // A catalogue that was restored numbers its texts as the newer one did; what they were read from tells them apart.
  const key = createHash("sha256").update(`${row.id}\n${row.source_version}\n${packed}`).digest().toString("hex", 0, 8);
  const same = old?.key === key ? old : undefined;
  return {
    id: row.id,
    projectId: shared(row.project_id),
    tool: shared(row.tool),
    sortAt: row.sort_at,
    startMs: row.started_at === null ? null : Date.parse(row.started_at),
    endMs: row.ended_at === null ? null : Date.parse(row.ended_at),
    // Errors that a fork copied count elsewhere, and stand in its text all the same.
    errors: row.error_count + (row.copied > 0 ? 1 : 0),
    packed,
    key,
    columns: same && isPlaced(same) ? same.columns : undefined,
    index: same?.index,
    damaged: same?.damaged ?? false,
    replaced: false,
  };
}
