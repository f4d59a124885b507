import { EVENT_KINDS } from "./session.ts";

/** What to say of an event that has no kind of ours. */
export const unknownKind = (kind: unknown): string =>
  `the event kind ${JSON.stringify(kind)} is none of ${EVENT_KINDS.join(", ")}`;
