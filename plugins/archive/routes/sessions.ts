/** Sessions: list, get, messages, rename, delete, sync. */
import { defineRoute, EVENT_KINDS, type EventKind, type Kernel, SessarcError, type SessionEvent } from "sessarc";
import * as v from "valibot";
import {
  type EarlierText,
  lengthOf,
  type Project,
  partsOf,
  type Session,
  type StoredSession,
} from "../catalogue/types.ts";
import { isDamage } from "../import/damage.ts";
import { removeSource } from "../places/source-file.ts";

const count = (max: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be a whole number"), v.transform(Number), v.maxValue(max));
const seq = count(999_999_999);
const limit = v.pipe(count(1000), v.minValue(1));

/** ISO 8601 to ms. */
const time = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => !Number.isNaN(Date.parse(text)), "must be a time in ISO 8601"),
    v.transform(Date.parse),
  ),
);

const list = defineRoute({
  method: "GET",
  path: "/sessions",
  summary: "Sessions, newest first",
  query: v.object({
    /** Id, name or path. */
    project: v.optional(v.string()),
    tool: v.optional(v.string()),
    days: v.optional(v.pipe(count(3650), v.minValue(1))),
    /** ISO 8601: sessions that went on at or after this time. */
    after: time,
    /** Sessions that had begun before this time. */
    before: time,
    q: v.optional(v.string()),
    parent: v.optional(v.string()),
    subagents: v.optional(v.picklist(["0", "1"])),
    sort: v.optional(v.picklist(["recent", "oldest", "messages", "active"])),
    limit: v.optional(limit),
    cursor: v.optional(seq),
  }),
  handler: async ({ kernel, query }) => {
    const { store, checkTool } = kernel.inject("archive");
    if (query.tool !== undefined) await checkTool(query.tool);
    const filter = {
      project: query.project === undefined ? undefined : await store.projectIds(query.project),
      tool: query.tool,
      q: query.q,
      parent: query.parent,
      topLevel: query.subagents === "0",
      since: query.after ?? (query.days === undefined ? undefined : Date.now() - query.days * 86_400_000),
      until: query.before,
      sort: query.sort,
    };
    const size = query.limit ?? 100;
    const offset = query.cursor ?? 0;
    const [sessions, total] = await Promise.all([store.list({ ...filter, limit: size, offset }), store.count(filter)]);
    return { sessions, total, nextCursor: offset + sessions.length < total ? String(offset + sessions.length) : null };
  },
});

const find = defineRoute({
  method: "GET",
  path: "/sessions/find",
  summary: "The session a text names: its id, the beginning or a part of it, or `last`",
  query: v.object({ name: v.string() }),
  handler: async ({ kernel, query }) => {
    const archive = kernel.inject("archive");
    return { session: await archive.session(await archive.store.sessionNamed(query.name)) };
  },
});

const get = defineRoute({
  method: "GET",
  path: "/sessions/:id",
  summary: "One session with its sub-agents, forks and earlier texts",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive");
    const session = await archive.session(params.id);
    const [project, subagents, forks, earlier] = await Promise.all([
      archive.project(session.projectId),
      archive.store.list({ parent: params.id, sort: "oldest" }),
      archive.store.list({ forkedFrom: params.id, sort: "oldest" }),
      archive.store.earlier(params.id),
    ]);
    const texts = earlier.map(({ parts: _, ...text }): EarlierText => text);
    return { session, project, subagents, forks, earlier: texts };
  },
});

/** `Message` of the wire contract. */
export interface Message extends Omit<SessionEvent, "id" | "at"> {
  id: string | null;
  at: string | null;
  /** Length of the whole text in UTF-16 units, when the answer holds only its start. */
  textLength?: number;
}

const messages = defineRoute({
  method: "GET",
  path: "/sessions/:id/messages",
  summary: "Messages of a session: a page, or all of them",
  query: v.object({
    /** seq after which the page starts. */
    after: v.optional(seq),
    /** seq before which it ends. */
    before: v.optional(seq),
    limit: v.optional(limit),
    kinds: v.optional(v.string()),
    /** An earlier text: `version` of one of `earlier` of the session. */
    version: v.optional(seq),
    /** Cut longer texts to this many characters and say how long they are. */
    cut: v.optional(count(10_000_000)),
  }),
  handler: async ({ kernel, params, query }) => {
    const archive = kernel.inject("archive");
    const end = archive.readers.begin();
    let streams = false;
    try {
      const [row, session] = await Promise.all([archive.row(params.id), archive.session(params.id)]);
      const project = await archive.project(session.projectId);
      const page: Page = {
        from: query.after === undefined ? 0 : query.after + 1,
        to: query.before ?? Number.POSITIVE_INFINITY,
        limit: query.limit ?? Number.POSITIVE_INFINITY,
        kinds: query.kinds === undefined ? null : parseKinds(query.kinds),
        cut: query.cut ?? Number.POSITIVE_INFINITY,
      };
      if (query.before !== undefined && query.after === undefined && query.limit !== undefined && !page.kinds) {
        page.from = Math.max(0, query.before - query.limit); // the page right before `before`
      }
      const text = query.version === undefined ? partsOf(row) : await earlierText(kernel, row, query.version);
      const total = lengthOf(text);
      const head = { session, project, total };
      const events = told(kernel, row.id, kernel.storage.transcripts.events(row.id, text, page.from));
      if (query.limit === undefined && total > STREAM_OVER) {
        streams = true;
        return streamAll(select(events, page), head, end);
      }
      const found: Message[] = [];
      let more = false;
      for await (const batch of select(events, page)) {
        for (const message of batch) {
          if (found.length === page.limit) {
            more = true;
            break;
          }
          found.push(message);
        }
        if (more) break;
      }
      const last = found.at(-1)?.seq;
      return { ...head, messages: found, nextCursor: more && last !== undefined ? String(last) : null };
    } finally {
      if (!streams) end();
    }
  },
});

const rename = defineRoute({
  method: "PATCH",
  path: "/sessions/:id",
  summary: "Rename a session; null or an empty name goes back to the tool's title",
  body: v.object({ name: v.nullable(v.pipe(v.string(), v.trim(), v.maxLength(300))) }),
  handler: async ({ kernel, params, body }): Promise<Session> => {
    const archive = kernel.inject("archive");
    if (!(await archive.store.renameSession(params.id, body.name || null)))
      throw new SessarcError("SESSION_NOT_FOUND", { id: params.id });
    archive.changed();
    return archive.session(params.id);
  },
});

const remove = defineRoute({
  method: "DELETE",
  path: "/sessions/:id",
  summary: "Delete the archive's copy; it does not come back by sync",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive");
    await archive.row(params.id);
    const row = await archive.importer.alone(async () => {
      const found = await archive.row(params.id);
      const generations = await archive.store.generations(found.id);
      await kernel.storage.db.batch(archive.store.removal([found.id], new Date().toISOString()));
      await archive.readers.retire(() => kernel.storage.transcripts.remove(found.id, generations));
      return found;
    });
    archive.changed();
    await kernel.notify("session:removed", { id: row.id });
    return { deleted: true };
  },
});

const removeSourceFile = defineRoute({
  method: "DELETE",
  path: "/sessions/:id/source-file",
  summary: "Delete the log itself, where one file is one session; the archive's copy stays",
  handler: async ({ kernel, params }) => ({ deleted: await removeSource(kernel, params.id) }),
});

const sync = defineRoute({
  method: "POST",
  path: "/sessions/:id/sync",
  summary: "Import this session again when its log changed",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive");
    const row = await archive.row(params.id);
    if (!archive.adapter(row.tool)) throw new SessarcError("ADAPTER_MISSING", { tool: row.tool });
    const report = await archive.importer.run(
      (scan) => {
        const found = scan.found.get(params.id);
        if (!found) throw new SessarcError("SOURCE_MISSING", { id: params.id });
        return [found];
      },
      new Set([params.id]),
    );
    const [failed] = report.failed;
    if (failed) throw new SessarcError("SOURCE_DAMAGED", { id: params.id, reason: failed.message });
    return {
      outcome: report.imported > 0 ? ("imported" as const) : ("unchanged" as const),
      messages: (await archive.row(params.id)).length,
    };
  },
});

export const sessionRoutes = [list, find, get, messages, rename, remove, removeSourceFile, sync] as const;

async function earlierText(kernel: Kernel, { id, generation, parts }: StoredSession, version: number) {
  if (version === generation) return partsOf({ parts });
  const texts = await kernel.inject("archive").store.earlier(id);
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

async function* select(batches: AsyncIterable<SessionEvent[]>, page: Page): AsyncGenerator<Message[]> {
  for await (const batch of batches) {
    const chosen: Message[] = [];
    for (const event of batch) {
      if (event.seq < page.from || (page.kinds && !page.kinds.has(event.kind))) continue;
      if (event.seq >= page.to) {
        yield chosen;
        return;
      }
      chosen.push(toMessage(event, page.cut));
    }
    yield chosen;
  }
}

export function toMessage(event: SessionEvent, cut = Number.POSITIVE_INFINITY): Message {
  const { seq: number, id, at, ...rest } = event;
  const message: Message = { seq: number, id: id ?? null, at: at ?? null, ...rest };
  if (message.text.length > cut) {
    message.textLength = message.text.length;
    message.text = message.text.slice(0, cut);
    message.truncated = true;
  }
  return message;
}

/** Says so when a transcript cannot be read: it is mended from the log where that is there. */
async function* told(kernel: Kernel, id: string, events: AsyncIterable<SessionEvent[]>) {
  try {
    yield* events;
  } catch (error) {
    if (isDamage(error)) kernel.inject("archive").damage.found(id);
    throw error;
  }
}

function streamAll(
  batches: AsyncGenerator<Message[]>,
  head: { session: Session; project: Project; total: number },
  end: () => void,
): Response {
  const encoder = new TextEncoder();
  const opening = JSON.stringify(head);
  let first = true;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`${opening.slice(0, -1)},"messages":[`));
    },
    async pull(controller) {
      for (;;) {
        const step = await batches.next().catch((error: unknown) => {
          end();
          throw error;
        });
        if (step.done) {
          end();
          controller.enqueue(encoder.encode('],"nextCursor":null}'));
          controller.close();
          return;
        }
        if (step.value.length === 0) continue;
        const text = step.value.map((message) => JSON.stringify(message)).join(",");
        controller.enqueue(encoder.encode(first ? text : `,${text}`));
        first = false;
        return;
      }
    },
    async cancel() {
      await batches.return(undefined);
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
