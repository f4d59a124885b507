/** Cursors of GET /search: the place where the next page goes on. */
import { SessarcError } from "sessarc";
import * as v from "valibot";
import type { SearchPlace } from "../search/search.ts";

const place = { sortAt: v.number(), id: v.string() };
const SCHEMA = v.object({
  found: v.pipe(v.number(), v.integer(), v.minValue(0)),
  from: v.optional(v.object(place)),
  end: v.optional(v.object(place)),
  after: v.optional(v.object({ ...place, rank: v.number() })),
});

export const writePlace = (place: SearchPlace): string => Buffer.from(JSON.stringify(place)).toString("base64url");

/** Throws INVALID_INPUT for what `writePlace` did not write. */
export function readPlace(cursor: string): SearchPlace {
  try {
    return v.parse(SCHEMA, JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch {
    throw new SessarcError(
      "INVALID_INPUT",
      { reason: "The cursor is not one this service gave" },
      { issues: [{ path: "cursor", message: "take nextCursor of the last answer" }] },
    );
  }
}
