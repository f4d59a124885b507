/** How much one session may hold. More than any session that a person and an assistant wrote; all of it is checked before a chunk is read. */
import { SessarcError } from "sessarc";
import { textsOf } from "../../portable/read.ts";
import type { ChunkSize } from "../blobs.ts";
import { chunksOf, type PushedManifest } from "./manifest-schema.ts";

export const LIMITS = {
  /** A machine's chunks hold about a MiB each. */
  "different chunks": 4_096,
  /** As read: a chunk that is named twice counts twice. */
  "MiB of messages and replies": 512,
  messages: 500_000,
  replies: 100_000,
  models: 100,
  /** A year around the clock has 35,040. */
  "quarter-hours": 40_000,
  /** In messages. */
  "names of tools": 2_000,
} as const;

export type Limited = keyof typeof LIMITS;

/** Throws TEAM_SESSION_TOO_LARGE, which names the limit. */
export function limit(id: string, what: Limited, has: number): void {
  const most = LIMITS[what];
  if (has > most) throw new SessarcError("TEAM_SESSION_TOO_LARGE", { id, what, has: Math.ceil(has), most });
}

/** What the manifest alone says. */
export function checkManifest(manifest: PushedManifest): void {
  const { id, summary } = manifest;
  limit(id, "different chunks", chunksOf(manifest).length);
  const slots = Object.values(summary.slots ?? {});
  limit(id, "quarter-hours", slots.length);
  const models = new Set<string>();
  for (const usage of [summary.usage, summary.inheritedUsage ?? {}, ...Object.values(summary.classes ?? {}), ...slots])
    for (const model of Object.keys(usage)) models.add(model);
  limit(id, "models", models.size);
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

export function weightOf(manifest: PushedManifest, sizes: ReadonlyMap<string, ChunkSize>): Weight {
  const add = (names: readonly string[], field: keyof ChunkSize) =>
    names.reduce((sum, name) => sum + (sizes.get(name)?.[field] ?? 0), 0);
  const texts = textsOf(manifest).flat();
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
