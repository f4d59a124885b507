/** What a page answers to a cursor that is none of its own. */
import { SessarcError } from "./error.ts";

/** INVALID_INPUT (400), with where to take a cursor from. */
export function invalidCursor(): SessarcError {
  return new SessarcError(
    "INVALID_INPUT",
    { reason: "The cursor is not one this service gave" },
    { issues: [{ path: "cursor", message: "take nextCursor of the last answer to the same question" }] },
  );
}
