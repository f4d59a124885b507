/** Tool calls beside their results, in one pass over a transcript. */
import { BoundedMap, type SessionEvent } from "sessarc";

/** Calls that wait for their result at one time; of more the oldest are given up. */
const OPEN = 256;

interface AnsweredCall {
  /** Undefined for a result whose call the transcript does not have. */
  call: SessionEvent | undefined;
  result: SessionEvent;
}

/** In the order of the results. A result without an id belongs to the call before it. */
export async function* answeredCalls(chunks: AsyncIterable<readonly SessionEvent[]>): AsyncGenerator<AnsweredCall> {
  const open = new BoundedMap<string, SessionEvent>(OPEN);
  let last = "";
  for await (const chunk of chunks) {
    for (const event of chunk) {
      if (event.kind !== "tool_use" && event.kind !== "tool_result") continue;
      if (event.kind === "tool_use") {
        last = event.tool_use_id ?? "";
        open.set(last, event);
        continue;
      }
      const id = event.tool_use_id ?? last;
      const call = open.get(id);
      open.delete(id);
      yield { call, result: event };
    }
  }
}
