/** Recognizes a call that two hooks ask about within seconds: hooks of one assistant, or of an assistant that also runs another's hooks. */
import { createHmac, randomBytes } from "node:crypto";
import type { ToolCall } from "./payload.ts";

const WINDOW_MS = 5_000;

/** Stores only keyed digests, from which no call can be reconstructed. */
export function createRecent() {
  const key = randomBytes(32);
  const seen = new Map<string, { at: number; client: string; callId: string | null }>();
  return {
    /** `now`: milliseconds of a monotonic clock. */
    isNew(call: ToolCall, now: number): boolean {
      for (const [id, { at }] of seen) {
        if (now - at < WINDOW_MS) break;
        seen.delete(id);
      }
      const id = createHmac("sha256", key).update(JSON.stringify(call.tool_input)).digest("base64");
      const before = seen.get(id);
      seen.delete(id);
      seen.set(id, { at: now, client: call.client, callId: call.callId });
      if (!before) return true;
      // Different ids of one assistant are different calls.
      const numbered = before.client === call.client && before.callId !== null && call.callId !== null;
      return numbered && before.callId !== call.callId;
    },
  };
}
