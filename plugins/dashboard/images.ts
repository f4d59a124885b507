/** GET /sessions/:id/images: pictures of one message, read from the tool's log. The archive keeps their place, not their bytes. */

import { defineRoute, isRecord, SessarcError, type SessionEvent } from "sessarc";
import { isUnreadable, readLines } from "sessarc/adapter";
import * as v from "valibot";

export interface MessageImages {
  /** Bytes in base64; png, jpeg, gif or webp. */
  images: { type: string; data: string }[];
  /** Why there are none: the log is gone, or does not hold them, or they are too large. */
  reason: "log" | "none" | "large" | null;
}

/** Characters of base64 of one answer: about 15 MB of pictures. */
const MOST = 20_000_000;
const TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const images = defineRoute({
  method: "GET",
  path: "/sessions/:id/images",
  summary: "Pictures of one message, from the tool's log",
  query: v.object({ seq: v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number)) }),
  handler: async ({ kernel, params, query }): Promise<MessageImages> => {
    const archive = kernel.inject("archive");
    const row = await archive.get(params.id);
    const event = await eventAt(archive.events(row, query.seq), query.seq);
    if (!event) throw new SessarcError("MESSAGE_NOT_FOUND", { id: row.id, seq: query.seq });
    if (row.source.missing) return { images: [], reason: "log" };
    const { path } = archive.ref(row);
    // What is kept in a database has no lines.
    if (!/\.jsonl?(\.zst)?$/.test(path)) return { images: [], reason: "none" };
    const keys = [event.tool_use_id, event.id].filter((key) => key !== undefined && key.length > 3);
    const mark = keys.length > 0 ? keys : [event.at ?? ""];
    const found: MessageImages["images"] = [];
    let size = 0;
    try {
      for await (const line of readLines(path)) {
        // Cheap first: a line without a picture or without this message's mark is not parsed.
        if (!/image\//.test(line) || !mark.some((key) => key !== "" && line.includes(key ?? ""))) continue;
        for (const image of imagesIn(parsed(line), event.kind === "tool_result" ? event.tool_use_id : undefined)) {
          size += image.data.length;
          if (size > MOST) return { images: [], reason: "large" };
          found.push(image);
        }
        if (found.length > 0) break;
      }
    } catch (error) {
      if (isUnreadable(error)) return { images: [], reason: "log" };
      throw error;
    }
    return { images: found, reason: found.length === 0 ? "none" : null };
  },
});

async function eventAt(batches: AsyncIterable<SessionEvent[]>, seq: number): Promise<SessionEvent | undefined> {
  for await (const batch of batches) {
    const found = batch.find((event) => event.seq === seq);
    if (found) return found;
  }
  return undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // a line cut while it is written
  }
}

/** Blocks of pictures as the tools write them, in order; with `call` only those below the result of that call. */
function* imagesIn(value: unknown, call: string | undefined): Generator<{ type: string; data: string }> {
  if (Array.isArray(value)) {
    for (const item of value) yield* imagesIn(item, call);
    return;
  }
  if (!isRecord(value)) return;
  const own = value.tool_use_id ?? value.call_id;
  if (call !== undefined && own === call) {
    yield* imagesIn({ ...value, tool_use_id: undefined, call_id: undefined }, undefined);
    return;
  }
  const image = call === undefined ? toImage(value) : undefined;
  if (image) yield image;
  else for (const part of Object.values(value)) if (typeof part === "object") yield* imagesIn(part, call);
}

/** `{ source: { media_type, data } }`, `{ mimeType, data }`, or an address of the kind `data:image/png;base64,…`. */
function toImage(block: Record<string, unknown>): { type: string; data: string } | undefined {
  const type = block.media_type ?? block.mimeType ?? block.mime;
  if (typeof type === "string" && TYPES.has(type) && isBase64(block.data)) return { type, data: block.data };
  for (const address of [block.image_url, block.url]) {
    const [, kind = "", data] = (typeof address === "string" && /^data:(image\/\w+);base64,(.*)$/s.exec(address)) || [];
    if (TYPES.has(kind) && isBase64(data)) return { type: kind, data };
  }
  return undefined;
}
const isBase64 = (data: unknown): data is string => typeof data === "string" && /^[A-Za-z0-9+/=\s]+$/.test(data);
