/** A session as documents are made of it, and the writer they are made with. */
import type { Json, SessionEvent } from "sessarc";
import { NOT_CHECKED } from "../secrets/redact/not-checked.ts";

/** What stands above the messages. Every string is redacted. */
export interface DocumentHead {
  title: string;
  tool: string;
  project: string | null;
  path: string | null;
  branch: string | null;
  models: string[];
  startedAt: string | null;
  endedAt: string | null;
  messages: number;
  /** The user's own bookmarks, tags and notes, a line each. None in a link. */
  notes: string[];
}

export interface SessionDocument {
  head: DocumentHead;
  events: readonly SessionEvent[];
  /** How often a placeholder was written, by rule. Null: nothing was redacted. */
  redactions: Record<string, number> | null;
  /** When the copy was made, ISO 8601 UTC. */
  madeAt: string;
  /** When its link ends. */
  expiresAt?: string | undefined;
  /** The assistant as people call it. */
  toolName?: string | undefined;
}

/**
 * Puts a document together and remembers which parts are our own words: a user called "session" must not stop every export
 * because the page says "session".
 */
export class DocumentWriter {
  #parts: string[] = [];
  #length = 0;
  /** Start and end of each part of the template, in order. */
  readonly #own: number[] = [];

  /** Our own words. */
  raw(text: string): this {
    this.#own.push(this.#length, this.#length + text.length);
    return this.#add(text);
  }

  /** What came from the session, already escaped. */
  text(text: string): this {
    return this.#add(text);
  }

  #add(text: string): this {
    this.#parts.push(text);
    this.#length += text.length;
    return this;
  }

  /** Whether the character at `offset` is part of the template. */
  isOwn(offset: number): boolean {
    let low = 0;
    let high = this.#own.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#own[middle * 2 + 1] as number) <= offset) low = middle + 1;
      else high = middle;
    }
    return low * 2 < this.#own.length && (this.#own[low * 2] as number) <= offset;
  }

  toString(): string {
    return this.#parts.join("");
  }
}

/** One entry of a document: a message, or a call with its result. */
export interface Entry {
  event: SessionEvent;
  result?: SessionEvent;
}

/** Calls with their results beside them; results whose call is not there stand for themselves. */
export function toEntries(events: readonly SessionEvent[]): Entry[] {
  const results = new Map<string, SessionEvent>();
  for (const event of events)
    if (event.kind === "tool_result" && event.tool_use_id !== undefined && !results.has(event.tool_use_id))
      results.set(event.tool_use_id, event);
  const used = new Set<SessionEvent>();
  const entries: Entry[] = [];
  for (const event of events) {
    if (event.kind === "tool_use" && event.tool_use_id !== undefined) {
      const result = results.get(event.tool_use_id);
      if (result && !used.has(result)) {
        used.add(result);
        entries.push({ event, result });
        continue;
      }
    }
    entries.push({ event });
  }
  return entries.filter(({ event }) => !used.has(event));
}

export function oneLine(text: string, max = 120): string {
  const line = text
    .slice(0, max * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > max ? `${[...line].slice(0, max - 1).join("")}…` : line;
}

/** A call's arguments as text: a lone string argument as it is, others as JSON. */
export function argumentText(input: Json | undefined): { text: string; language: string } {
  if (input === undefined) return { text: "", language: "" };
  if (typeof input === "string") return { text: input, language: "" };
  if (typeof input === "object" && input !== null && !Array.isArray(input)) {
    const [only, ...others] = Object.entries(input).filter(([key]) => key !== "description");
    if (only && others.length === 0 && typeof only[1] === "string" && /^(command|cmd)$/.test(only[0]))
      return { text: only[1], language: "sh" };
  }
  return { text: JSON.stringify(input, null, 2), language: "json" };
}

/** The session's folder as a reader needs it: what is before a redacted name says nothing. */
export const toFolder = (path: string | null): string | null => path?.replace(/^.*\[REDACTED:[^\]]*\]/s, "…") ?? null;

/** `2026-11-20T20:15:03.000Z` → `2026-11-20 20:15`. */
export const shortTime = (iso: string | null | undefined): string => (iso ? iso.slice(0, 16).replace("T", " ") : "");

/** The notice about texts that were not checked; undefined when all were checked. */
export function uncheckedNote(redactions: Record<string, number> | null): string | undefined {
  const count = redactions?.[NOT_CHECKED] ?? 0;
  if (count === 0) return undefined;
  return `${count} ${count === 1 ? "text" : "texts"} could not be checked in time and ${count === 1 ? "was" : "were"} left out`;
}

export const countAll = (redactions: Record<string, number> | null): number =>
  Object.values(redactions ?? {}).reduce((sum, n) => sum + n, 0);

export const LABELS: Record<string, string> = {
  user: "You",
  assistant: "Assistant",
  thinking: "Thinking",
  tool_use: "Tool",
  tool_result: "Result",
  note: "Note",
};
