/** The same call asked about twice within seconds: by two hooks of one assistant, or by one that runs another's hooks as well. */
import { createHmac, randomBytes } from "node:crypto";
import type { ToolCall } from "./payload.ts";

const WINDOW_MS = 5_000;

/** Keeps keyed digests alone: what was in a call cannot be told from them. */
export function createRecent() {
  const key = randomBytes(32);
  const seen = new Map<string, { at: number; client: string; callId: string | null }>();
  return {
    /** `now`: ms of a clock that nobody sets. */
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
      // One assistant that numbers its calls says itself that these are two.
      const numbered = before.client === call.client && before.callId !== null && call.callId !== null;
      return numbered && before.callId !== call.callId;
    },
  };
}
