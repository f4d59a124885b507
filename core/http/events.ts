/** Server-sent events: the one writer of streams whose frames are JSON. */
import type { MaybePromise } from "../utils/async.ts";

interface EventWriter {
  /** Writes `data: <JSON>`; nothing once the stream has ended. */
  send(frame: object, event?: string): void;
  /** Resolves when the reader is at most half a queue behind, or gone: before the next piece of what stands ready already. */
  room(): Promise<void>;
  /** Writes a line that readers ignore: an answer's head leaves with its first byte. */
  comment(text: string): void;
  /** Ends the stream. Calling it again does nothing. */
  close(): void;
  /** Aborts when the client disconnected or `write` failed, so that further work for this client can stop. */
  readonly gone: AbortSignal;
}

const QUEUE = 8 << 20;

/**
 * A stream that `write` fills until it calls `close`. What `write` throws breaks the stream off, and so does a reader that leaves
 * `QUEUE` bytes unread: a writer that may be that far ahead makes its own stream and answers it with `eventsResponse`.
 */
export function toEvents(write: (out: EventWriter) => MaybePromise<void>): Response {
  const encoder = new TextEncoder();
  const reader = new AbortController();
  let open = true;
  let waiting: (() => void)[] = [];
  const goOn = () => {
    const all = waiting;
    waiting = [];
    for (const resolve of all) resolve();
  };
  reader.signal.addEventListener("abort", goOn, { once: true });
  const isBehind = (controller: ReadableStreamDefaultController) => open && (controller.desiredSize ?? 0) < QUEUE / 2;
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const put = (text: string) => {
      if (!open) return;
      controller.enqueue(encoder.encode(text));
      if ((controller.desiredSize ?? 0) > 0) return;
      open = false;
      controller.error(new DOMException("The client does not read", "AbortError"));
      reader.abort();
    };
    const out: EventWriter = {
      gone: reader.signal,
      send(frame, event) {
        const head = event === undefined ? "" : `event: ${event}\n`;
        put(`${head}data: ${JSON.stringify(frame)}\n\n`);
      },
      room: () => (isBehind(controller) ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
      comment: (text) => put(`: ${text}\n\n`),
      close() {
        if (open) controller.close();
        open = false;
        goOn();
      },
    };
    // Not awaited: frames are read while more are written.
    new Promise<void>((resolve) => resolve(write(out))).catch((error: unknown) => {
      if (open) controller.error(error);
      open = false;
      reader.abort();
    });
  };
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (!isBehind(controller)) goOn();
  };
  const cancel = () => {
    open = false;
    reader.abort();
  };
  return eventsResponse(
    new ReadableStream<Uint8Array>({ start, pull, cancel }, new ByteLengthQueuingStrategy({ highWaterMark: QUEUE })),
  );
}

/** Answers a stream of server-sent events as what it is. */
export function eventsResponse(stream: ReadableStream<Uint8Array>): Response {
  return new Response(stream, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // Proxies would hold frames back.
      "x-accel-buffering": "no",
    },
  });
}
