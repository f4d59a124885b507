/** Streams of events as they leave. */
import { type JsonRecord, parseRecord } from "sessarc";

type Chunk = Uint8Array<ArrayBufferLike>;
type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Chunk>["read"]>>;

const HELLO = new TextEncoder().encode(": ok\n\n");
/** Bytes that wait for a client that does not read. Its stream ends then: the client can resume it where it stopped. */
const MOST_UNREAD = 64 * 2 ** 20;
/** An answer that takes longer is a stream: its head is sent, and a connection that breaks can be resumed. */
const AT_ONCE_MS = 100;
/** A larger answer is not worth parsing again. */
const MOST_JSON = 2 ** 16;

export interface RelayOptions {
  /** Sends a comment first: Node holds the head of an answer back until a byte of its body is there. */
  hello?: boolean;
  /** Called once. */
  ended?: () => void;
  /** Returns what is sent in the place of a chunk. */
  fill?: (chunk: Chunk) => Chunk[];
}

/** The same answer, its body read as it comes, so that what waits for a slow client is counted. */
export function relayed(response: Response, options: RelayOptions = {}): Response {
  if (response.body) return relay(response, response.body.getReader(), options);
  options.ended?.();
  return response;
}

/**
 * The answer to one request, as JSON where the stream's first message is the answer and comes at once: JSON costs less to send and to read
 * than a stream. Any other stream goes on as one. The SDK's transport decides between JSON and streams for all of its requests.
 */
export async function jsonOrStream(response: Response, { ended, fill }: RelayOptions): Promise<Response | JsonRecord> {
  if (!response.body) return relayed(response, { ended });
  const reader = response.body.getReader();
  const parts: Chunk[] = [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), AT_ONCE_MS);
  });
  try {
    for (;;) {
      const next = reader.read();
      const read = await Promise.race([next, late]);
      if (!read || read.done) return relay(response, reader, { ended, fill }, parts, next);
      const filled = fill?.(read.value) ?? [read.value];
      parts.push(...filled);
      const message = filled.length === 1 ? readEvent(read.value) : undefined;
      if (message && !("method" in message)) {
        ended?.();
        return message;
      }
      if (message || filled.length > 1) return relay(response, reader, { ended, fill }, parts);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** `before` is what was read of the stream so far, `next` the read that is under way. */
function relay(
  { status, headers }: Response,
  reader: ReadableStreamDefaultReader<Chunk>,
  { hello = false, ended = () => {}, fill = (chunk) => [chunk] }: RelayOptions,
  before: readonly Chunk[] = [],
  next: Promise<Read> = reader.read(),
): Response {
  let isEnded = false;
  const end = () => {
    if (!isEnded) ended();
    isEnded = true;
  };

  async function pump(out: ReadableStreamDefaultController<Chunk>): Promise<void> {
    try {
      for (let { done, value } = await next; !done; { done, value } = await reader.read()) {
        for (const part of value ? fill(value) : []) out.enqueue(part);
        if ((out.desiredSize ?? 0) <= 0) throw new Error("The client does not read its stream");
      }
      out.close();
    } catch (error) {
      out.error(error);
      // Ended already, or the service is gone: nothing is left to cancel.
      await reader.cancel(error).catch(() => {});
    } finally {
      end();
    }
  }

  const body = new ReadableStream<Chunk>(
    {
      start(out) {
        for (const chunk of hello ? [HELLO, ...before] : before) out.enqueue(chunk);
        void pump(out);
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MOST_UNREAD }),
  );
  return new Response(body, { status, headers });
}

/** The message of an event; undefined for one without, and for a large one. */
function readEvent(chunk: Chunk): JsonRecord | undefined {
  if (chunk.length > MOST_JSON) return undefined;
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("utf8");
  const at = text.indexOf(DATA);
  // The SDK's first event has none; a parse that fails costs more than all the rest here.
  return at < 0 ? undefined : parseRecord(text.slice(at + DATA.length - 1));
}
const DATA = "data: {";

export const isEvents = (response: Response): boolean =>
  response.headers.get("content-type")?.includes("text/event-stream") === true;
