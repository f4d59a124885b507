/**
 * Messages of a service in the order they came, one at a time. The SDK looks at a notification a moment after it got it, and forgets a
 * call's progress with its answer: what comes in one piece is told apart here, or the last progress of every call would be lost.
 */
import type { Transport } from "@modelcontextprotocol/client";

type Take = NonNullable<Transport["onmessage"]>;

/** Microtasks the SDK takes until a notification has reached its handler. */
const A_MOMENT = 4;

/** Stands between a transport and the client that is connected to it. */
export function keepApart(transport: Transport): void {
  const take = transport.onmessage;
  if (!take) return;
  const waiting: Parameters<Take>[] = [];
  let pumping = false;

  async function pump(): Promise<void> {
    pumping = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      take?.(...next);
      if (isNotification(next[0])) for (let i = 0; i < A_MOMENT; i++) await undefined;
    }
    pumping = false;
  }

  const receive: Take = (...arrived) => {
    if (!pumping && !isNotification(arrived[0])) return take(...arrived);
    waiting.push(arrived);
    if (!pumping) void pump();
  };
  transport.onmessage = receive;
}

const isNotification = (message: Parameters<Take>[0]) => !("id" in message);
