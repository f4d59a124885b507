/** GET /sessions/:id/messages: a page of a session's text, or of an earlier one, or all of it as a stream. */

import { defineRoute, EVENT_KINDS, type EventKind, type Kernel, SessarcError, type SessionEvent } from "sessarc";
import * as v from "valibot";
import { isDamage } from "../catalogue/damage.ts";
import { lengthOf, type Project, type Session, type StoredSession, toParts } from "../catalogue/types.ts";
import { count, limit, seq } from "./query.ts";
import { redactedQuery, redactSession } from "./redacted.ts";

/** `Message` of the wire contract. */
export interface Message extends Omit<SessionEvent, "id" | "at"> {
  id: string | null;
  at: string | null;
  /** Length of the whole text in UTF-16 units, when the answer holds only its start. */
  textLength?: number;
}

export const messages = defineRoute({
  method: "GET",
  path: "/sessions/:id/messages",
  meta: { team: true },
  summary: "Messages of a session: a page, or all of them",
  query: v.object({
    /** seq after which the page starts. */
    after: v.optional(seq),
    /** The same, as `nextCursor` of the last page says it; goes before `after`. */
    cursor: v.optional(seq),
    /** seq before which it ends. */
    before: v.optional(seq),
    limit: v.optional(limit),
    kinds: v.optional(v.string()),
    /** An earlier text: `version` of one of `earlier` of the session. */
    version: v.optional(seq),
    /** Cut longer texts to this many characters and say how long they are. */
    cut: v.optional(count(10_000_000)),
    /** `1`: secrets are masked, in whole texts before they are cut; without `limit` the first 1,000 messages. */
    redacted: redactedQuery,
  }),
  handler: async ({ kernel, params, query }) => {
    const archive = kernel.inject("archive/open");
    const end = archive.readers.begin();
    let streams = false;
    try {
      const [row, session] = await Promise.all([archive.row(params.id), archive.session(params.id)]);
      const project = await archive.project(session.projectId);
      const after = query.cursor ?? query.after;
      const isRedacted = query.redacted === "1";
      const show = async (events: readonly SessionEvent[]) => {
        const shown = isRedacted ? await kernel.inject("redactor").messages(events) : events;
        return shown.map((event) => toMessage(event, page.cut));
      };
      const page: Page = {
        from: after === undefined ? 0 : after + 1,
        to: query.before ?? Number.POSITIVE_INFINITY,
        limit: query.limit ?? (isRedacted ? REDACTED_LIMIT : Number.POSITIVE_INFINITY),
        kinds: query.kinds === undefined ? null : parseKinds(query.kinds),
        cut: query.cut ?? Number.POSITIVE_INFINITY,
      };
      const text = query.version === undefined ? toParts(row) : await earlierText(kernel, row, query.version);
      const total = lengthOf(text);
      const head = { session: isRedacted ? await redactSession(kernel, session) : session, project, total };
      const read = (from: number) => told(kernel, row.id, kernel.storage.transcripts.events(row.id, text, from));
      if (query.before !== undefined && after === undefined && query.limit !== undefined)
        return {
          ...head,
          messages: await show(await lastBefore(read, { ...page, to: Math.min(page.to, total) })),
          nextCursor: null,
        };
      const chosen = select(read(page.from), page);
      if (!isRedacted && query.limit === undefined && total > STREAM_OVER) {
        streams = true;
        return streamAll(chosen, page.cut, head, end);
      }
      const found: SessionEvent[] = [];
      let more = false;
      for await (const events of chosen) {
        const room = page.limit - found.length;
        found.push(...events.slice(0, room));
        more = events.length > room;
        if (more) break;
      }
      const last = found.at(-1)?.seq;
      return { ...head, messages: await show(found), nextCursor: more && last !== undefined ? String(last) : null };
    } finally {
      if (!streams) end();
    }
  },
});

/** Messages of one answer that is redacted and asked for all. */
const REDACTED_LIMIT = 1_000;
/** Messages read first if kinds are chosen; then twice as many. */
const LOOK = 512;

/** The page right before `page.to`. */
async function lastBefore(read: (from: number) => Batches, page: Page): Promise<SessionEvent[]> {
  let found: SessionEvent[] = [];
  let size = page.kinds ? Math.max(LOOK, page.limit) : page.limit;
  for (let { to } = page; to > 0 && found.length < page.limit; size *= 2) {
    const from = Math.max(0, to - size);
    const part: SessionEvent[] = [];
    for await (const events of select(read(from), { ...page, to })) part.push(...events);
    found = [...part, ...found];
    to = from;
  }
  return found.slice(-page.limit);
}

async function earlierText(kernel: Kernel, { id, generation, parts }: StoredSession, version: number) {
  if (version === generation) return toParts({ parts });
  const texts = await kernel.inject("archive/open").store.earlier(id);
  const found = texts.find((text) => text.version === version);
  if (found) return found.parts;
  throw new SessarcError(
    "INVALID_INPUT",
    { reason: `${id} has no earlier text ${version}` },
    { issues: [{ path: "version", message: texts.map((text) => text.version).join(", ") || "there are none" }] },
  );
}

/** A longer session without `limit` is streamed, so that neither memory nor other requests feel it. */
const STREAM_OVER = 1_000;

interface Page {
  from: number;
  to: number;
  limit: number;
  kinds: ReadonlySet<EventKind> | null;
  cut: number;
}

type Batches = AsyncIterable<SessionEvent[]>;

/** Those before `to`, of `kinds`. */
async function* select(batches: Batches, { to, kinds }: Page): AsyncGenerator<SessionEvent[]> {
  for await (const events of batches) {
    yield events.filter(({ seq, kind }) => seq < to && (!kinds || kinds.has(kind)));
    if ((events.at(-1)?.seq ?? 0) >= to - 1) return;
  }
}

function toMessage(event: SessionEvent, cut = Number.POSITIVE_INFINITY): Message {
  const { seq: number, id, at, ...rest } = event;
  const message: Message = { seq: number, id: id ?? null, at: at ?? null, ...rest };
  if (message.text.length > cut) {
    message.textLength = message.text.length;
    message.text = message.text.slice(0, cut);
    message.truncated = true;
  }
  return message;
}

/** Reports a transcript that cannot be read, so that it is repaired from the log if that is still there. */
async function* told<T>(kernel: Kernel, id: string, events: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* events;
  } catch (error) {
    if (isDamage(error)) kernel.inject("archive/open").damage.found(id);
    throw error;
  }
}

/** Characters of JSON written at once. */
const BLOCK = 1 << 18;

/** Made as it is read: nothing is inflated before there is room for it. */
function streamAll(
  chosen: AsyncGenerator<SessionEvent[]>,
  cut: number,
  head: { session: Session; project: Project; total: number },
  end: () => void,
): Response {
  const encoder = new TextEncoder();
  const opening = JSON.stringify(head);
  let text = `${opening.slice(0, -1)},"messages":[`;
  let first = true;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        while (text.length < BLOCK) {
          const step = await chosen.next();
          if (step.done) {
            end();
            controller.enqueue(encoder.encode(`${text}],"nextCursor":null}`));
            controller.close();
            return;
          }
          for (const event of step.value) {
            text += (first ? "" : ",") + JSON.stringify(toMessage(event, cut));
            first = false;
          }
        }
        controller.enqueue(encoder.encode(text));
        text = "";
      } catch (error) {
        end();
        throw error;
      }
    },
    async cancel() {
      await chosen.return(undefined);
      end();
    },
  });
  return new Response(stream, { headers: { "content-type": "application/json; charset=utf-8" } });
}

function parseKinds(text: string): ReadonlySet<EventKind> {
  const kinds = text.split(",").map((kind) => kind.trim());
  const wrong = kinds.find((kind) => !(EVENT_KINDS as readonly string[]).includes(kind));
  if (wrong !== undefined) {
    throw new SessarcError(
      "INVALID_INPUT",
      { reason: `"${wrong}" is no kind of message` },
      { issues: [{ path: "kinds", message: `one or more of ${EVENT_KINDS.join(", ")}` }] },
    );
  }
  return new Set(kinds as EventKind[]);
}
