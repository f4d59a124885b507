/** How much one session may hold. More than any session that a person and an assistant wrote; all of it is checked before a chunk is read. */
import { SessarcError, toList, toRecord } from "sessarc";
import { toTexts } from "../../portable/read.ts";
import type { ChunkSize } from "../blobs.ts";
import { MOST_CHUNKS, type PushedManifest } from "./manifest-schema.ts";

export const LIMITS = {
  /** Each as often as it is named. A machine's chunks hold about a MiB. */
  chunks: MOST_CHUNKS,
  "MiB of messages and replies": 256,
  messages: 500_000,
  /** Rows of the database, which is not written for other people meanwhile. */
  replies: 30_000,
  models: 100,
  /** Rows as well: 2,000 hours in which something was said. */
  "quarter-hours": 8_000,
  "names of tools": 2_000,
} as const;

export type Limited = keyof typeof LIMITS;

/** Throws TEAM_SESSION_TOO_LARGE, which names the limit. */
export function limit(id: string, what: Limited, has: number): void {
  const most = LIMITS[what];
  if (has > most) throw new SessarcError("TEAM_SESSION_TOO_LARGE", { id, what, has: Math.ceil(has), most });
}

/** Counts what a manifest names, before its fields are checked: that takes long where they are many. */
export function checkManifest(manifest: Readonly<Record<string, unknown>>): void {
  const id = typeof manifest.id === "string" ? manifest.id.slice(0, 464).replaceAll(/\p{Cc}/gu, "") : "The session";
  const { replies, events, earlier, raw } = manifest;
  const lists = [replies, events, raw, ...toList(earlier)];
  limit(
    id,
    "chunks",
    lists.reduce<number>((sum, list) => sum + toList(list).length, 0),
  );
  const summary = toRecord(manifest.summary);
  const slots = toRecord(summary.slots);
  limit(id, "quarter-hours", Object.keys(slots).length);
  const models = new Set<string>();
  const classes = Object.values(toRecord(summary.classes));
  for (const usage of [summary.usage, summary.inheritedUsage, ...classes, ...Object.values(slots)]) {
    for (const model of Object.keys(toRecord(usage))) models.add(model);
    limit(id, "models", models.size);
  }
}

/** What its chunks hold, as they are read. */
export interface Weight {
  bytes: number;
  messages: number;
  replies: number;
  /** In bytes of messages that take as long to import. */
  sum: number;
}

/** A message takes as long as so many bytes; a reply and a quarter-hour, which are rows of the database, longer. */
const MESSAGE = 400;
const ROW = 2_000;

export function toWeight(manifest: PushedManifest, sizes: ReadonlyMap<string, ChunkSize>): Weight {
  const add = (names: readonly string[], field: keyof ChunkSize) =>
    names.reduce((sum, name) => sum + (sizes.get(name)?.[field] ?? 0), 0);
  const texts = toTexts(manifest).flat();
  const bytes = add(texts, "bytes") + add(manifest.replies, "bytes");
  const messages = add(texts, "lines");
  const replies = add(manifest.replies, "lines");
  const rows = replies + Object.keys(manifest.summary.slots ?? {}).length;
  return { bytes, messages, replies, sum: bytes + messages * MESSAGE + rows * ROW };
}

/** Throws TEAM_SESSION_TOO_LARGE. */
export function checkWeight(id: string, { bytes, messages, replies }: Weight): void {
  limit(id, "MiB of messages and replies", bytes / 2 ** 20);
  limit(id, "messages", messages);
  limit(id, "replies", replies);
}
