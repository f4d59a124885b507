/** Files that can only be read whole: documents, and logs whose later rows change earlier ones. */
import { stat } from "node:fs/promises";
import type { NewEvent, OpenLog } from "../contract/adapter.ts";
import type { SessionRef, SessionSummary } from "../session/session.ts";

/** An `open` for an adapter: `read` gives all of a session's file, which is read again when its size or time changed. */
export function wholeFile(
  read: (ref: SessionRef) => Promise<{ events: readonly NewEvent[]; summary: SessionSummary }>,
): (path: string) => OpenLog {
  return (path) => ({
    async version() {
      const { size, mtimeMs } = await stat(path);
      return `${size}-${mtimeMs}`;
    },
    async *read(ref, onBytes) {
      const { events, summary } = await read(ref);
      onBytes((await stat(path)).size);
      yield* events;
      return summary;
    },
  });
}
