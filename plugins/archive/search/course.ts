/** The sessions a search goes through, found as it goes: what stands behind a full page is never looked at. */
import { type Entry, type ListPlace, newestFirst } from "./entry.ts";
import type { Looker, Scope } from "./looker.ts";

/** Sessions looked at between two looks at the clock. */
const STEP = 1_024;

export class Course {
  readonly #entries: readonly Entry[];
  readonly #looker: Looker;
  readonly #scope: Scope;
  /** Where the list was left. */
  #next: number;
  readonly #found: Entry[] = [];

  constructor(entries: readonly Entry[], looker: Looker, scope: Scope, start: ListPlace | undefined) {
    this.#entries = entries;
    this.#looker = looker;
    this.#scope = scope;
    this.#next = start ? placeBehind(entries, start) : 0;
  }

  /** The `i`th session that passes the filters and that columns do not rule out; undefined behind the last. Lets others run meanwhile. */
  async at(i: number): Promise<Entry | undefined> {
    const { slices } = this.#looker;
    while (this.#found.length <= i && this.#next < this.#entries.length) {
      const entry = this.#entries[this.#next++] as Entry;
      if (passes(entry, this.#scope) && !this.#looker.rulesOut(entry)) this.#found.push(entry);
      if (this.#next % STEP === 0 && slices.due) await slices.turn();
    }
    return this.#found[i];
  }

  /** From the `i`th on as many as there are, at most `count`. */
  async some(i: number, count: number): Promise<readonly Entry[]> {
    await this.at(i + count - 1);
    return this.#found.slice(i, i + count);
  }
}

/** Whether the session passes the filters that are about sessions. */
export function passes(entry: Entry, { query, projects }: Scope): boolean {
  if (projects && !projects.has(entry.projectId)) return false;
  if (!query.tool.every((tools) => tools.some((tool) => entry.tool.includes(tool)))) return false;
  if (query.notTool.some((tool) => entry.tool.includes(tool))) return false;
  if (query.error === true && entry.errors === 0) return false;
  if (query.after !== null && entry.endMs !== null && entry.endMs < query.after) return false;
  return !(query.before !== null && entry.startMs !== null && entry.startMs >= query.before);
}

/** How many stand up to `start`, itself included. */
export function placeBehind(entries: readonly Entry[], start: ListPlace): number {
  const at = entries.findIndex((entry) => entry.id !== start.id && newestFirst(entry, start) > 0);
  return at < 0 ? entries.length : at;
}
