/** Results that are bytes, on their way to a client: within a stream of events that the SDK writes. */
import { randomUUID } from "node:crypto";
import type { JsonRecord } from "sessarc";
import { bytesOf } from "../upstream/large.ts";

interface LargeAnswers {
  /** The result as the SDK may write it: a mark takes the place of its bytes. */
  hold(result: JsonRecord): JsonRecord;
  /** What a stream sends, with bytes in the place of marks. */
  fill(chunk: Uint8Array): Uint8Array[];
  close(): void;
}

const MARK = "sessarc:bytes";

/** Of one session. A mark is filled as soon as it is written; a client that is gone leaves at most this many. */
const MOST_HELD = 8;

export function createLargeAnswers(): LargeAnswers {
  const held = new Map<string, Buffer>();
  return {
    hold(result) {
      const bytes = bytesOf(result);
      if (!bytes) return result;
      // Called each time the SDK writes the answer: also for a client that takes up a broken stream.
      const toJSON = () => {
        const token = randomUUID();
        held.set(token, bytes);
        for (const oldest of [...held.keys()].slice(0, -MOST_HELD)) held.delete(oldest);
        return { [MARK]: token };
      };
      return Object.defineProperty({ ...result }, "toJSON", { value: toJSON });
    },
    fill(chunk) {
      if (held.size === 0) return [chunk];
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const parts: Uint8Array[] = [];
      let from = 0;
      for (const [token, bytes] of held) {
        const mark = `{"${MARK}":"${token}"}`;
        const at = text.indexOf(mark, from);
        if (at < 0) continue;
        held.delete(token);
        parts.push(text.subarray(from, at), bytes);
        from = at + mark.length;
      }
      return [...parts, text.subarray(from)];
    },
    close: () => held.clear(),
  };
}
