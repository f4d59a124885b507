/** Prompts that a person typed while the assistant worked: the log has them as operations of a queue before, or instead of, a message. */
import { type JsonRecord, toText } from "sessarc";
import type { NewEvent } from "sessarc/adapter";

/** Prompts that are remembered. */
const MOST = 16;

export function createQueue() {
  /** Typed and not delivered yet. */
  const waiting: string[] = [];
  /** Given as events when they left the queue. */
  const given: string[] = [];
  const put = (list: string[], text: string) => {
    list.push(text);
    if (list.length > MOST) list.shift();
  };
  const take = (list: string[], text: string): boolean => {
    const at = list.indexOf(text);
    if (at >= 0) list.splice(at, 1);
    return at >= 0;
  };
  return {
    /** The prompt that is delivered while the assistant works, if no message has it. One that is delivered later, or taken back, has none here. */
    operation({ operation, content }: JsonRecord): string | undefined {
      const text = toText(content)?.trim();
      if (operation === "enqueue" && text !== undefined) put(waiting, text);
      else if (operation === "popAll") waiting.length = 0;
      else if (operation === "dequeue") waiting.shift();
      else if (operation === "remove") {
        const next = text !== undefined && take(waiting, text) ? text : waiting.shift();
        if (next !== undefined) put(given, next);
        return next;
      }
      return undefined;
    },
    /** Messages without those that the queue gave already. */
    without(events: NewEvent[]): NewEvent[] {
      if (waiting.length === 0 && given.length === 0) return events;
      return events.filter(({ kind, text }) => {
        if (kind !== "user") return true;
        take(waiting, text.trim());
        return !take(given, text.trim());
      });
    },
    /** Prompts that wait for ever once the assistant has ended. */
    left: (): readonly string[] => waiting,
  };
}
