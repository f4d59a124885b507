/** Sessions whose assistant waits for a person. In memory only: after a restart the assistants' next hooks report again. */
import { BoundedMap, type Kernel } from "sessarc";
import type { Show } from "./system.ts";

/** `permission`: to run something. `answer`: the turn is over. `ended`: the assistant waits no more. */
export const EVENTS = ["permission", "answer", "ended"] as const;
export type WaitingEvent = (typeof EVENTS)[number];

export interface WaitingEntry {
  /** The session's id in the archive, which may not have it yet. */
  id: string;
  tool: string;
  /** Name of the assistant. */
  label: string;
  kind: "permission" | "answer";
  /** ISO 8601 UTC. */
  since: string;
  /** The archive has the session. */
  archived: boolean;
  /** The session's title; null where the archive has none yet. */
  title: string | null;
  /** In English, for a terminal: `Claude Code waits for a permission: Fix the parser`. */
  text: string;
}

export interface Waiting {
  list(): Promise<WaitingEntry[]>;
  /** Returns how many wait. */
  report(tool: string, session: string, event: WaitingEvent): Promise<number>;
  /** Ends the entry if the log has a message that is newer. */
  wentOn(id: string): Promise<void>;
  remove(id: string): void;
}

interface Entry {
  id: string;
  tool: string;
  kind: WaitingEntry["kind"];
  at: number;
}

/** A killed assistant reports no end: its entry expires after a day's work. */
const LASTS_MS = 8 * 3_600_000;
/** Any local process may report; the oldest are dropped. */
const MOST = 100;
const MOST_TITLE = 200;
/** Messages read from the end to find the last one that is not a note. */
const LOOK_BACK = 16;

/** Grok Build reports the end of a last turn while the session ends, after it or before. */
const ENDING_MS = 10_000;

export function createWaiting(kernel: Kernel, show: Show): Waiting {
  const entries = new BoundedMap<string, Entry>(MOST);
  /** When sessions ended, lately. */
  const ended = new BoundedMap<string, number>(MOST);

  const sweep = () => {
    const now = Date.now();
    for (const { id, at } of entries.values()) if (now - at > LASTS_MS) entries.delete(id);
    for (const [id, at] of ended) if (now - at > ENDING_MS || now < at) ended.delete(id);
  };
  async function toEntry({ id, tool, kind, at }: Entry): Promise<WaitingEntry> {
    const archive = kernel.inject("archive");
    const label = archive.adapter(tool)?.label ?? tool;
    const [session] = await archive.list({ ids: [id] });
    const title = session?.name || session?.title || session?.firstPrompt?.slice(0, MOST_TITLE) || null;
    const what = kind === "permission" ? "a permission" : "an answer";
    const text = `${label} waits for ${what}${title === null ? "" : `: ${title}`}`;
    return { id, tool, label, kind, since: new Date(at).toISOString(), archived: session !== undefined, title, text };
  }

  return {
    list() {
      sweep();
      return Promise.all([...entries.values()].sort((a, b) => a.at - b.at).map(toEntry));
    },
    async report(tool, session, event) {
      sweep();
      const id = `${tool}:${session}`;
      const known = entries.get(id);
      if (event === "ended") {
        entries.delete(id);
        ended.set(id, Date.now());
      }
      // Claude Code reports a turn's end, and once more after a minute without an answer: it is the same waiting.
      else if (known?.kind !== event && !ended.has(id)) {
        const entry: Entry = { id, tool, kind: event, at: Date.now() };
        entries.set(id, entry);
        const { label, text, title } = await toEntry(entry);
        show(`${label} waits for you`, title ?? text);
      }
      return entries.size;
    },
    async wentOn(id) {
      const entry = entries.get(id);
      if (!entry) return;
      const archive = kernel.inject("archive");
      const row = await archive.find(id);
      if (!row) return;
      let last = 0;
      for await (const events of archive.events(row, Math.max(0, row.length - LOOK_BACK)))
        for (const { kind, at } of events) {
          const time = Date.parse(at ?? "");
          // Claude Code writes notes of its own about the hook after it.
          if (kind !== "note" && time > last) last = time;
        }
      if (last > entry.at && entries.get(id) === entry) entries.delete(id);
    },
    remove: (id) => void entries.delete(id),
  };
}
