/** Message bodies, loaded by page when they come near the view; pages far away are dropped. */
import { shallowReactive, shallowRef } from "vue";
import { api } from "../../../client.ts";
import type { Message } from "../../../wire.ts";

const PAGE = 200;
/** Longer texts come cut and are fetched whole when asked for. */
const CUT = 20_000;
const KEPT = 24;

export interface Pages {
  /** Tracks the page: a component that asks is drawn again when it arrives. */
  get(seq: number): Message | undefined;
  /** Loads the pages of a stretch. Resolves when they are there. */
  ensure(from: number, to: number): Promise<void>;
  /** Takes a message that came by another way. */
  put(message: Message): void;
  /** The whole of a cut message. */
  whole(seq: number): Promise<Message | undefined>;
  /** Drops the messages from `from` on. */
  cut(from: number): void;
  clear(): void;
  readonly error: { value: unknown };
}

export function createPages(id: string, total: () => number): Pages {
  const pages = shallowReactive(new Map<number, readonly (Message | undefined)[]>());
  const running = new Map<number, Promise<void>>();
  const error = shallowRef<unknown>();
  const used: number[] = [];
  /** Version of the session: an answer from before a cut or a re-import is not valid for the current messages. */
  let age = 0;

  function touch(page: number): void {
    const at = used.indexOf(page);
    if (at >= 0) used.splice(at, 1);
    used.push(page);
    while (used.length > KEPT) {
      const oldest = used.shift();
      if (oldest !== undefined) pages.delete(oldest);
    }
  }

  async function load(page: number): Promise<void> {
    const first = page * PAGE;
    const asked = age;
    try {
      const answer = await api("GET /sessions/:id/messages", {
        params: { id },
        query: { after: first === 0 ? undefined : first - 1, limit: PAGE, cut: CUT },
      });
      if (asked !== age) return await load(page);
      const slots: (Message | undefined)[] = [...(pages.get(page) ?? [])];
      for (const message of answer.messages) if (message.seq < first + PAGE) slots[message.seq - first] = message;
      pages.set(page, slots);
      error.value = undefined;
    } catch (failure) {
      error.value = failure;
    } finally {
      running.delete(page);
    }
  }

  function isFull(page: number): boolean {
    const slots = pages.get(page);
    return slots !== undefined && slots.length >= Math.min(PAGE, total() - page * PAGE) && !slots.includes(undefined);
  }

  return {
    error,
    get: (seq) => pages.get(Math.floor(seq / PAGE))?.[seq % PAGE],
    async ensure(from, to) {
      const waits: Promise<void>[] = [];
      for (
        let page = Math.max(0, Math.floor(from / PAGE));
        page <= Math.floor(Math.max(0, Math.min(to, total() - 1)) / PAGE);
        page++
      ) {
        touch(page);
        if (isFull(page)) continue;
        let wait = running.get(page);
        if (!wait) {
          wait = load(page);
          running.set(page, wait);
        }
        waits.push(wait);
      }
      await Promise.all(waits);
    },
    put(message) {
      const page = Math.floor(message.seq / PAGE);
      const slots = [...(pages.get(page) ?? [])];
      slots[message.seq % PAGE] = message;
      pages.set(page, slots);
      touch(page);
    },
    async whole(seq) {
      const answer = await api("GET /sessions/:id/messages", {
        params: { id },
        query: { after: seq === 0 ? undefined : seq - 1, limit: 1 },
      });
      const message = answer.messages[0];
      if (message) this.put(message);
      return message;
    },
    cut(from) {
      age++;
      for (const [page, slots] of [...pages]) {
        if (page * PAGE >= from) pages.delete(page);
        else if ((page + 1) * PAGE > from) pages.set(page, slots.slice(0, from - page * PAGE));
      }
    },
    clear() {
      age++;
      pages.clear();
    },
  };
}
