/** All watched sessions: one feed each, however many follow it. */
import { type Kernel, SessarcError } from "sessarc";
import type { Client } from "./client.ts";
import { Feed, type FeedStatus } from "./feed.ts";
import type { SessionRow } from "./history.ts";
import type { Position } from "./position.ts";

export interface Live {
  /** Follows a session; its feed starts with the first follower and stops with the last. Throws ADAPTER_MISSING. */
  follow(row: SessionRow, wanted: Position | undefined): Client;
  status(): FeedStatus[];
  /** Reads of logs and frames made since the start, over all feeds. */
  readonly stats: { reads: number; frames: number };
  imported(id: string): Promise<void>;
  removed(id: string): void;
  /** Ends all streams. */
  close(): Promise<void>;
}

export function createLive(kernel: Kernel): Live {
  const feeds = new Map<string, Feed>();
  const stopping = new Set<Promise<void>>();
  const past = { reads: 0, frames: 0 };

  function onStop(feed: Feed): void {
    if (feeds.get(feed.id) === feed) feeds.delete(feed.id);
    past.reads += feed.reads;
    past.frames += feed.framesMade;
    const settled = feed.settled().finally(() => stopping.delete(settled));
    stopping.add(settled);
  }

  return {
    follow(row, wanted) {
      let feed = feeds.get(row.id);
      if (!feed) {
        const adapter = kernel.inject("archive").adapter(row.tool);
        if (!adapter) throw new SessarcError("ADAPTER_MISSING", { tool: row.tool });
        feed = new Feed(kernel, adapter, row, onStop);
        feeds.set(row.id, feed);
      }
      return feed.join(wanted);
    },
    status: () => [...feeds.values()].map((feed) => feed.status),
    get stats() {
      const sum = { ...past };
      for (const feed of feeds.values()) {
        sum.reads += feed.reads;
        sum.frames += feed.framesMade;
      }
      return sum;
    },
    async imported(id) {
      const feed = feeds.get(id);
      if (!feed) return;
      const row = await kernel.inject("archive").store.row(id);
      if (row) await feed.imported(row);
    },
    removed: (id) => feeds.get(id)?.stop("removed"),
    async close() {
      for (const feed of [...feeds.values()]) feed.stop("closing");
      await Promise.all(stopping);
    },
  };
}
