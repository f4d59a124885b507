/** What the assistant did for each prompt of a session: when, with which tokens, by which tool calls. */
import type { Kernel, SessionEvent, SessionUsage } from "sessarc";
import { addUsage } from "sessarc/adapter";
import type { Invocation } from "./otlp.ts";

interface Open {
  seq: number;
  from: number;
  to: number;
  model: string | undefined;
  usage: SessionUsage;
  calls: Invocation["calls"][number][];
  /** The assistant did something. */
  answered: boolean;
}
/** Tokens of all models in one. */
const ALL = "";

/** Prompts without a reply between them are one. Messages without a time, and tool calls without a result, are left out. Throws SESSION_NOT_FOUND. */
export async function readInvocations(kernel: Kernel, id: string): Promise<Invocation[]> {
  const archive = kernel.inject("archive");
  const session = await archive.get(id);
  const { missing, prompts, rest } = await kernel.inject("insights").prompts(id);
  const tokens = new Map(prompts.map((one) => [one.seq, one.tokens]));
  const found: Open[] = [];
  const waiting = new Map<string, SessionEvent>();
  let last = "";
  for await (const events of archive.events(session))
    for (const event of events) {
      const time = Date.parse(event.at ?? "");
      let current = found.at(-1);
      if (!current || (event.kind === "user" && current.answered)) {
        if (Number.isNaN(time)) continue;
        current = { seq: event.seq, from: time, to: time, model: undefined, usage: {}, calls: [], answered: false };
        found.push(current);
      }
      const own = tokens.get(event.seq);
      if (own) addUsage(current.usage, ALL, own);
      current.model ??= event.model;
      current.answered ||= event.kind !== "user" && event.kind !== "note";
      if (!Number.isNaN(time)) current.to = Math.max(current.to, time);
      if (event.kind === "tool_use") {
        last = event.tool_use_id ?? "";
        waiting.set(last, event);
      } else if (event.kind === "tool_result") {
        const key = event.tool_use_id ?? last;
        const call = toCall(waiting.get(key), event);
        waiting.delete(key);
        if (call) current.calls.push(call);
      }
    }
  // Tokens before the first prompt: with them the spans add up to the session.
  if (found[0]) addUsage(found[0].usage, ALL, rest.tokens);
  return found
    .filter(({ answered }) => answered)
    .map(({ answered: _, usage, ...one }) => ({ ...one, tokens: missing === null ? usage[ALL] : undefined }));
}

function toCall(call: SessionEvent | undefined, result: SessionEvent): Invocation["calls"][number] | undefined {
  const from = Date.parse(call?.at ?? "");
  if (!call || Number.isNaN(from)) return undefined;
  const to = Date.parse(result.at ?? "");
  return {
    ...{ seq: call.seq, id: call.tool_use_id, tool: call.tool_name ?? "unknown", from },
    to: to >= from ? to : from,
    failed: result.is_error === true,
  };
}
