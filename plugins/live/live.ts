/** All watched sessions: one feed each, however many follow it. */
import { type Kernel, SessarcError } from "sessarc";
import type { Client } from "./client.ts";
import { Feed, type FeedOptions, type FeedStatus } from "./feed.ts";
import type { Position } from "./position.ts";
import { findTarget, type Target } from "./target.ts";

export interface Live {
  /**
   * Follows a session; its feed starts with the first follower and stops with the last. Throws SESSION_NOT_FOUND and
   * ADAPTER_MISSING.
   */
  follow(id: string, wanted: Position | undefined): Promise<Client>;
  status(): FeedStatus[];
  /** Reads of logs and frames made since the start, over all feeds. */
  readonly stats: { reads: number; frames: number };
  imported(id: string): Promise<void>;
  removed(id: string): void;
  /** Ends all streams. */
  close(): Promise<void>;
}

export function createLive(kernel: Kernel, options: FeedOptions = {}): Live {
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

  function open(target: Target): Feed {
    const { id, tool } = target.row;
    const adapter = kernel.inject("archive").adapter(tool);
    if (!adapter) throw new SessarcError("ADAPTER_MISSING", { tool });
    const feed = new Feed(kernel, adapter, target, options, onStop);
    feeds.set(id, feed);
    return feed;
  }

  return {
    async follow(id, wanted) {
      const known = feeds.get(id);
      if (known) return known.join(wanted);
      const target = await findTarget(kernel, id);
      // Another client may have been quicker.
      return (feeds.get(id) ?? open(target)).join(wanted);
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
      const row = await kernel.inject("archive").find(id);
      if (row) await feed.imported(row);
    },
    removed: (id) => feeds.get(id)?.stop("removed"),
    async close() {
      for (const feed of [...feeds.values()]) feed.stop("closing");
      await Promise.all(stopping);
    },
  };
}
