/**
 * Messages of a service in the order they came, one at a time. The SDK handles a notification a moment after it received it, and forgets
 * a call's progress with its answer: without this the last progress of every call would be lost. Floods end here, before they cost
 * anything more: log messages and progress beyond a limit are dropped, and counted.
 */
import type { Transport } from "@modelcontextprotocol/client";

type Take = NonNullable<Transport["onmessage"]>;
type Message = Parameters<Take>[0];

/** Microtasks the SDK takes until a notification has reached its handler. */
const A_MOMENT = 4;
/** Log messages and progress of one connection that are passed on within a second. */
const MOST_PER_SECOND = 500;
const LIMITED = new Set(["notifications/message", "notifications/progress"]);

/** Takes the place between a transport and the client that is connected to it. */
export function keepApart(transport: Transport): void {
  const take = transport.onmessage;
  if (!take) return;
  const waiting: Parameters<Take>[] = [];
  const flood = createFlood();
  let pumping = false;

  async function pump(take: Take): Promise<void> {
    pumping = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      take(...next);
      if (isNotification(next[0])) for (let i = 0; i < A_MOMENT; i++) await undefined;
    }
    pumping = false;
  }

  const receive: Take = (...arrived) => {
    const isNotice = isNotification(arrived[0]);
    if (isNotice && flood.drops(arrived[0])) return;
    const dropped = flood.report();
    if (dropped) waiting.push([dropped]);
    if (!pumping && !isNotice && !dropped) return take(...arrived);
    waiting.push(arrived);
    if (!pumping) void pump(take);
  };
  transport.onmessage = receive;
}

const isNotification = (message: Message) => !("id" in message);

function createFlood() {
  let since = 0;
  let count = 0;
  let dropped = 0;
  return {
    drops(message: Message): boolean {
      if (!("method" in message) || !LIMITED.has(message.method)) return false;
      const now = performance.now();
      if (now - since >= 1_000) [since, count] = [now, 0];
      if (++count <= MOST_PER_SECOND) return false;
      dropped++;
      return true;
    },
    /** Called with the next message that is passed on: how many were dropped before it; undefined when none were. */
    report(): Message | undefined {
      if (dropped === 0) return undefined;
      const data = `${dropped} log and progress messages were dropped: the service sent more than ${MOST_PER_SECOND} in a second`;
      dropped = 0;
      return {
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "warning", logger: "sessarc", data },
      };
    },
  };
}
