/** The last messages of a client's streams, so that one whose connection broke gets what it missed. */
import type { EventStore } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { estimateTokens } from "../hub/stats.ts";

type Message = Parameters<EventStore["storeEvent"]>[1];
interface Kept {
  id: string;
  stream: string;
  message: Message;
  size: number;
}

const MOST_EVENTS = 256;
const MOST_CHARS = 2 ** 20;

/**
 * Without `getStreamIdForEventId`: with it the SDK refuses to take up a stream whose broken connection it has not noticed yet, which may
 * take minutes. `has` says whether an event is still stored.
 */
export function createEventStore(): EventStore & { has(id: string): boolean } {
  let events: Kept[] = [];
  let size = 0;
  let count = 0;

  function trim(): void {
    let drop = Math.max(0, events.length - MOST_EVENTS);
    for (let i = 0; i < drop; i++) size -= events[i]?.size ?? 0;
    while (size > MOST_CHARS && drop < events.length - 1) size -= events[drop++]?.size ?? 0;
    if (drop > 0) events = events.slice(drop);
  }

  return {
    async storeEvent(stream, message) {
      const id = `${stream}/${++count}`;
      const chars = estimateTokens(message) * 4;
      events.push({ id, stream, message, size: chars });
      size += chars;
      // In steps, or every message would copy the list.
      if (events.length > MOST_EVENTS * 1.5 || size > MOST_CHARS) trim();
      return id;
    },
    has: (id) => events.some((event) => event.id === id),
    async replayEventsAfter(last, { send }) {
      const at = events.findIndex((event) => event.id === last);
      const stream = events[at]?.stream;
      if (stream === undefined) throw new Error("This event is no longer kept");
      for (const event of events.slice(at + 1)) if (event.stream === stream) await send(event.id, event.message);
      return stream;
    },
  };
}
