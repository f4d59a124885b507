/** GET /sessions/:id/outline and /sessions/:id/find: what a virtual transcript needs before any message body is loaded. */
import {
  type Cache,
  createCache,
  defineRoute,
  EVENT_KINDS,
  type Kernel,
  type Services,
  type SessionEvent,
} from "sessarc";
import type { ToolRole } from "sessarc/adapter";
import * as v from "valibot";

/**
 * The shape of a whole session in columns, about 12 bytes a message. Position in a column is the message's seq, except where it
 * says otherwise.
 */
export interface Outline {
  total: number;
  /** One digit a message: index into EVENT_KINDS. */
  kinds: string;
  /** ms since the epoch of the first message with a time; null when none has one. */
  start: number | null;
  /** ms since the message before; the first counts from `start`. A message without a time counts 0. */
  steps: number[];
  /** Characters of text and arguments. */
  sizes: number[];
  /** Tools called, with their role if the adapter names it. */
  tools: { name: string; role: ToolRole | null }[];
  /** What the tools of this assistant do: for those that a growing session calls first. */
  roles: Readonly<Record<string, ToolRole>>;
  /** One for each tool_use, in order: index into `tools`. */
  calls: number[];
  /** One for each tool_result, in order: seq of its call, -1 when unknown. */
  results: number[];
  /** seq of failed results. */
  errors: number[];
  /** Beginning of what the user wrote and of notes. */
  prompts: { seq: number; text: string }[];
}

/** Where a query is found in a session, as the archive answers it. */
export interface FoundIn extends Awaited<ReturnType<Services["archive"]["findWithin"]>> {}

const PROMPT = 200;
const KEPT = 12;
const cache = new WeakMap<Kernel, Cache<Outline>>();

const outline = defineRoute({
  method: "GET",
  path: "/sessions/:id/outline",
  meta: { team: true },
  summary: "Kinds, times, tools and prompts of all messages, in columns",
  handler: async ({ kernel, params }): Promise<Outline> => {
    const archive = kernel.inject("archive");
    const row = await archive.get(params.id);
    const version = `${row.revision} ${row.messageCount}`;
    const known = cache.get(kernel) ?? createCache<Outline>(KEPT);
    cache.set(kernel, known);
    return known.get(row.id, () => build(archive.events(row), archive.adapter(row.tool)?.tools ?? {}), version);
  },
});

const find = defineRoute({
  method: "GET",
  path: "/sessions/:id/find",
  meta: { team: true },
  summary:
    "Messages of a session that a query of the search finds; where none has all of its words, those that have one (`relaxed`)",
  query: v.object({ q: v.pipe(v.string(), v.minLength(1), v.maxLength(500)) }),
  handler: ({ kernel, params, query, signal }): Promise<FoundIn> =>
    kernel.inject("archive").findWithin(params.id, query.q, signal),
});

export const outlineRoutes = [outline, find] as const;

function words(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  return Object.values(value).map(words).join("\n");
}

async function build(
  batches: AsyncIterable<SessionEvent[]>,
  roles: Readonly<Record<string, ToolRole>>,
): Promise<Outline> {
  const kinds: string[] = [];
  const out: Outline = {
    total: 0,
    kinds: "",
    start: null,
    steps: [],
    sizes: [],
    tools: [],
    roles,
    calls: [],
    results: [],
    errors: [],
    prompts: [],
  };
  const toolIndex = new Map<string, number>();
  const open = new Map<string, number>();
  let last: number | null = null;
  for await (const batch of batches) {
    for (const event of batch) {
      const kind = EVENT_KINDS.indexOf(event.kind);
      kinds.push(String(kind));
      const at = event.at === undefined ? Number.NaN : Date.parse(event.at);
      if (Number.isNaN(at)) out.steps.push(0);
      else {
        out.start ??= at;
        out.steps.push(at - (last ?? out.start));
        last = at;
      }
      out.sizes.push(event.text.length + (event.tool_input === undefined ? 0 : words(event.tool_input).length));
      if (event.kind === "tool_use") {
        const name = event.tool_name ?? "";
        let index = toolIndex.get(name);
        if (index === undefined) {
          index = out.tools.push({ name, role: roles[name] ?? null }) - 1;
          toolIndex.set(name, index);
        }
        out.calls.push(index);
        if (event.tool_use_id !== undefined) open.set(event.tool_use_id, event.seq);
      } else if (event.kind === "tool_result") {
        out.results.push((event.tool_use_id === undefined ? undefined : open.get(event.tool_use_id)) ?? -1);
        if (event.is_error) out.errors.push(event.seq);
      } else if (event.kind === "user" || event.kind === "note") {
        out.prompts.push({ seq: event.seq, text: event.text.slice(0, PROMPT) });
      }
    }
  }
  out.kinds = kinds.join("");
  out.total = kinds.length;
  return out;
}
