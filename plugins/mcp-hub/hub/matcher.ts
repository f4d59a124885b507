/** Which of the open calls a message made. One step for a message, however many calls are open. */
import type { SessionEvent } from "sessarc";

export interface OpenCall {
  /** ms since the epoch. */
  at: number;
  /** The name the client called. */
  name: string;
  /** The client's own id of the call, where it sent one. */
  tool_use_id: string | null;
}

/** The client's clock and ours are the same; what lies between is the way to the hub and a person who has to allow the call. */
export const NEAR_MS = 60_000;

/** Clients put their own name of the hub in front. */
export const isNameOf = (name: string, call: Pick<OpenCall, "name">) => name.endsWith(call.name);

/**
 * Answers the call of a message, each call once: by the client's own id where it sent one; else the oldest of the same tool at about
 * that time, of two tools the one with the longer name.
 */
export function createMatcher<Call extends OpenCall>(
  calls: readonly Call[],
): (event: Pick<SessionEvent, "tool_use_id" | "tool_name" | "at">) => Call | undefined {
  const byId = new Map<string, Call[]>();
  const byName = new Map<string, Call[]>();
  for (const call of [...calls].sort((a, b) => a.at - b.at)) {
    const [group, key] = call.tool_use_id === null ? [byName, call.name] : [byId, call.tool_use_id];
    const same = group.get(key);
    if (same) same.push(call);
    else group.set(key, [call]);
  }
  const names = [...byName].sort(([a], [b]) => b.length - a.length);

  return ({ tool_use_id: id, tool_name: tool, at: time }) => {
    const known = id === undefined ? undefined : byId.get(id)?.shift();
    if (known) return known;
    const at = Date.parse(time ?? "");
    if (!tool || Number.isNaN(at)) return undefined;
    for (const [name, open] of names) {
      if (!isNameOf(tool, { name })) continue;
      const first = firstFrom(open, at - NEAR_MS);
      const call = open[first];
      if (call === undefined || call.at > at + NEAR_MS) continue;
      open.splice(first, 1);
      return call;
    }
    return undefined;
  };
}

/** Index of the first call at or after `at`; they are in order. */
function firstFrom(calls: readonly OpenCall[], at: number): number {
  let [from, to] = [0, calls.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((calls[middle]?.at ?? 0) < at) from = middle + 1;
    else to = middle;
  }
  return from;
}
