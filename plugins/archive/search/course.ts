/** The sessions a search goes through, found as it goes: what stands behind a full page is never looked at. */
import type { Entry, Place } from "./entry.ts";
import { type List, placeIn } from "./list.ts";
import type { Looker, Scope } from "./looker.ts";
import type { Run } from "./runs.ts";

export class Course {
  readonly #list: readonly Entry[];
  readonly #runs: readonly Run[];
  readonly #looker: Looker;
  readonly #scope: Scope;
  /** Where the list was left, and in which run that is. */
  #next: number;
  #run = 0;
  readonly #found: Entry[] = [];

  constructor({ entries, runs }: List, looker: Looker, scope: Scope, start: Place | undefined) {
    this.#list = entries;
    this.#runs = runs;
    this.#looker = looker;
    this.#scope = scope;
    this.#next = start ? placeBehind(entries, start) : 0;
  }

  /** The `i`th session that passes the filters and that columns do not rule out; undefined behind the last. Lets others run meanwhile. */
  async at(i: number): Promise<Entry | undefined> {
    const { slices } = this.#looker;
    while (this.#found.length <= i) {
      if (slices.due) await slices.turn();
      if (!this.#goOn(i + 1)) break;
    }
    return this.#found[i];
  }

  /** From the `i`th on as many as there are, at most `count`. */
  async some(i: number, count: number): Promise<readonly Entry[]> {
    await this.at(i + count - 1);
    return this.#found.slice(i, i + count);
  }

  /** Looks through the rest of a run until there are `wanted`; false at the end of the list. */
  #goOn(wanted: number): boolean {
    let run = this.#runs[this.#run];
    while (run && run.to <= this.#next) run = this.#runs[++this.#run];
    if (!run) return false;
    const { file } = run;
    if (file && this.#next === run.from && this.#looker.rulesOutAll(file, run.chunks)) {
      this.#next = run.to;
      return true;
    }
    const end = Math.min(run.to, this.#next + STEP);
    while (this.#next < end && this.#found.length < wanted) {
      const entry = this.#list[this.#next++] as Entry;
      if (passes(entry, this.#scope) && !this.#looker.rulesOut(entry)) this.#found.push(entry);
    }
    return true;
  }
}

/** Sessions looked at between two looks at the clock. */
const STEP = 1_024;

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
export function placeBehind(list: readonly Entry[], start: Place): number {
  const at = placeIn(list, start);
  return list[at]?.id === start.id ? at + 1 : at;
}
