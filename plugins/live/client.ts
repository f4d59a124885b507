/** One connection of `GET /sessions/:id/live`: a stream with a bounded queue. */
import type { Position } from "./position.ts";

/** Bytes waiting for a slow client; more is not made before it has read some. */
const QUEUE = 256 << 10;

export class Client {
  /** seq of the next message it needs. */
  position = 0;
  /** Older messages are being read for it. */
  busy = false;
  closed = false;
  /** Heartbeats in a row for which there was no room. */
  missed = 0;
  /** What the client sent when it connected: its last frame, or the seq it has. */
  readonly wanted: Position | undefined;
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: (() => void) | undefined;
  readonly #onGone: () => void;

  constructor(wanted: Position | undefined, first: Uint8Array, onRoom: () => void, onGone: () => void) {
    this.wanted = wanted;
    this.#onGone = onGone;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(first);
        },
        pull: () => {
          this.missed = 0;
          this.#waiting?.();
          this.#waiting = undefined;
          onRoom();
        },
        cancel: () => this.#leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: QUEUE }),
    );
  }

  get hasRoom(): boolean {
    return !this.closed && (this.#controller?.desiredSize ?? 0) > 0;
  }

  send(bytes: Uint8Array): void {
    if (!this.closed) this.#controller?.enqueue(bytes);
  }

  /** Resolves when there is room, or the client is gone. */
  async room(): Promise<void> {
    while (!this.closed && !this.hasRoom) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  /** Ends the stream; what is queued is still sent. */
  end(): void {
    if (this.closed) return;
    this.#controller?.close();
    this.#leave();
  }

  /** The connection is gone. */
  drop(): void {
    if (this.closed) return;
    this.#controller?.error(new DOMException("The client is gone", "AbortError"));
    this.#leave();
  }

  #leave(): void {
    if (this.closed) return;
    this.closed = true;
    this.#waiting?.();
    this.#waiting = undefined;
    this.#onGone();
  }
}
