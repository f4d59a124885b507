/**
 * Sums over all sessions by UTC day, tool, model and quarter-hour, kept as sessions come, change and go: what a view over many sessions
 * reads grows with the days, not with the sessions. Whole numbers throughout, so that it always equals a sum made anew.
 *
 * Sessions are counted once however many days they touch. So of each session that counts (with its sub-agents) it is kept how long before
 * each of its quarter-hours the last one was: in a span of days it counts at the first of them alone, whatever days the zone has.
 */
import type { UsageEvidence } from "sessarc";
import { Cells } from "./cells.ts";
import type { CubeSession } from "./cube-session.ts";
import { nameOf } from "./names.ts";
import { FIELDS } from "./packed.ts";

export const QUARTERS_A_DAY = 96;
/** In place of a distance, where there is no quarter-hour before. */
const FIRST = 2 ** 32 - 1;
const SCALE = 2 ** 32;

/** One tool on one UTC day. */
export interface ToolDay {
  /** By quarter-hour: messages, active ms, failed calls. */
  readonly slots: Cells;
  /** By model and quarter-hour: tokens, in the order of `FIELDS`. */
  readonly tokens: Map<string, Cells>;
  readonly roots: Cells;
}
export interface RollupDay {
  readonly tools: Map<string, ToolDay>;
  /** Sessions by quarter-hour and the distance to their last one; read with `quarterOfRoot` and `beforeRoot`. */
  readonly roots: Cells;
}

/** How the numbers of a packed rollup are to be read: for each cells how many rows there are. */
export interface RollupLayout {
  days: {
    day: number;
    roots: number;
    tools: { name: string; slots: number; roots: number; tokens: [model: string, rows: number][] }[];
  }[];
  calls: [name: string, calls: number, errors: number][];
  evidence: UsageEvidence;
}

/** The quarter-hour that a key of `roots` is about, of the UTC day `day`. */
export const quarterOfRoot = (day: number, key: number): number => day * QUARTERS_A_DAY + Math.floor(key / SCALE);
/** How many quarter-hours before it the same session was last seen; undefined: never. */
export function beforeRoot(key: number): number | undefined {
  const distance = key % SCALE;
  return distance === FIRST ? undefined : distance;
}

export class Rollup {
  readonly #days = new Map<number, RollupDay>();
  /** Sessions that count with another one, by that one. */
  readonly #kin = new Map<string, Set<CubeSession>>();
  /** Sessions that others count with, as far as there are such. */
  readonly #own = new Map<string, CubeSession>();
  readonly #calls = new Map<string, { calls: number; errors: number }>();
  readonly #evidence: UsageEvidence = noEvidence();

  /** By number of the UTC day. */
  get days(): ReadonlyMap<number, RollupDay> {
    return this.#days;
  }
  /** Calls and failures by tool name, of all sessions that have a quarter-hour. */
  get calls(): ReadonlyMap<string, { calls: number; errors: number }> {
    return this.#calls;
  }
  /** Of the same sessions. */
  get evidence(): UsageEvidence {
    return { ...this.#evidence };
  }

  /** Some sessions take the place of others; one that only moved under another root is in both. About 10 µs a session. */
  change(gone: readonly CubeSession[], come: readonly CubeSession[]): void {
    const roots = new Set([...gone, ...come].map((session) => session.root));
    for (const root of roots) this.#touch(this.#family(root), -1);
    for (const session of gone) this.#count(session, -1);
    for (const session of come) this.#count(session, 1);
    for (const root of roots) this.#touch(this.#family(root), 1);
    for (const day of new Set(quartersOf(gone).map(dayOf))) this.#tidy(day);
  }

  /** A copy of the sums, made in one go. */
  packed(): { layout: RollupLayout; numbers: Float64Array } {
    const cells: Cells[] = [];
    const rows = (one: Cells) => {
      cells.push(one);
      return one.length;
    };
    const layout: RollupLayout = {
      days: [...this.#days].map(([day, { tools, roots }]) => ({
        day,
        roots: rows(roots),
        tools: [...tools].map(([name, tool]) => ({
          name,
          slots: rows(tool.slots),
          roots: rows(tool.roots),
          tokens: [...tool.tokens].map(([model, tokens]): [string, number] => [model, rows(tokens)]),
        })),
      })),
      calls: [...this.#calls].map(([name, { calls, errors }]) => [name, calls, errors]),
      evidence: this.evidence,
    };
    const parts = cells.flatMap(({ all }) => [all.keys, all.figures]);
    const numbers = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      numbers.set(part, at);
      at += part.length;
    }
    return { layout, numbers };
  }

  /** What `packed` gave. The sessions it is of are handed to `attach`. */
  static of({ days, calls, evidence }: RollupLayout, numbers: Float64Array): Rollup {
    const rollup = new Rollup();
    let at = 0;
    const take = (length: number) => {
      at += length;
      return numbers.subarray(at - length, at);
    };
    const cells = (rows: number, width: number) => Cells.of(width, take(rows), take(rows * width));
    for (const { day, roots, tools } of days) {
      const one: RollupDay = { tools: new Map(), roots: cells(roots, 1) };
      rollup.#days.set(day, one);
      for (const tool of tools) {
        const slots = cells(tool.slots, SLOT);
        const own = cells(tool.roots, 1);
        const tokens = new Map(tool.tokens.map(([model, length]) => [model, cells(length, FIELDS.length)] as const));
        one.tools.set(tool.name, { slots, tokens, roots: own });
      }
    }
    if (at !== numbers.length) throw new Error("its sums are no sums");
    for (const [name, sum, errors] of calls) rollup.#calls.set(name, { calls: sum, errors });
    addEvidence(rollup.#evidence, evidence);
    return rollup;
  }

  /** Sessions that the sums hold already. */
  attach(sessions: readonly CubeSession[]): void {
    for (const session of sessions) this.#relate(session, 1);
  }

  #family(root: string): CubeSession[] {
    const own = this.#own.get(root);
    return [...(own ? [own] : []), ...(this.#kin.get(root) ?? [])];
  }

  #relate(session: CubeSession, sign: 1 | -1): void {
    const { id, root } = session;
    if (root === id) {
      if (sign > 0) this.#own.set(id, session);
      else this.#own.delete(id);
    } else {
      const kin = this.#kin.get(root) ?? new Set();
      if (sign > 0) this.#kin.set(root, kin.add(session));
      else if (kin.delete(session) && kin.size === 0) this.#kin.delete(root);
    }
  }

  #count(session: CubeSession, sign: 1 | -1): void {
    this.#relate(session, sign);
    session.eachSlot((quarter, ...work) => {
      this.#tool(dayOf(quarter), session.tool).slots.add(inDay(quarter), work, sign);
    });
    session.eachTokens((quarter, number, tokens) => {
      const models = this.#tool(dayOf(quarter), session.tool).tokens;
      const model = nameOf(number);
      const cells = models.get(model) ?? new Cells(FIELDS.length);
      models.set(model, cells);
      cells.add(inDay(quarter), tokens, sign);
      if (cells.length === 0) models.delete(model);
    });
    if (session.hasAny) {
      addEvidence(this.#evidence, session.evidence, sign);
      session.eachTool((name, calls, errors) => {
        const sum = this.#calls.get(name) ?? { calls: 0, errors: 0 };
        sum.calls += sign * calls;
        sum.errors += sign * errors;
        if (sum.calls === 0 && sum.errors === 0) this.#calls.delete(name);
        else this.#calls.set(name, sum);
      });
    }
  }

  #touch(family: readonly CubeSession[], sign: 1 | -1): void {
    const tools = new Set(family.map((session) => session.tool));
    for (const tool of tools) {
      const some = tools.size === 1 ? family : family.filter((session) => session.tool === tool);
      eachDistance(some, (quarter, key) => this.#tool(dayOf(quarter), tool).roots.add(key, ONE, sign));
    }
    eachDistance(family, (quarter, key) => this.#day(dayOf(quarter)).roots.add(key, ONE, sign));
  }

  #tidy(number: number): void {
    const day = this.#days.get(number);
    if (!day) return;
    for (const [name, { slots, tokens, roots }] of day.tools)
      if (slots.length + tokens.size + roots.length === 0) day.tools.delete(name);
    if (day.tools.size + day.roots.length === 0) this.#days.delete(number);
  }

  #day(number: number): RollupDay {
    let day = this.#days.get(number);
    if (!day) {
      day = { tools: new Map(), roots: new Cells(1) };
      this.#days.set(number, day);
    }
    return day;
  }
  #tool(number: number, name: string): ToolDay {
    const { tools } = this.#day(number);
    let tool = tools.get(name);
    if (!tool) {
      tool = { slots: new Cells(SLOT), tokens: new Map(), roots: new Cells(1) };
      tools.set(name, tool);
    }
    return tool;
  }
}

export const noEvidence = (): UsageEvidence => ({
  records: 0,
  requests: 0,
  duplicatesFolded: 0,
  inheritedExcluded: 0,
});
export function addEvidence(sum: UsageEvidence, own: UsageEvidence | null, sign: 1 | -1 = 1): void {
  if (own) for (const key of Object.keys(sum) as (keyof UsageEvidence)[]) sum[key] += sign * own[key];
}

const ONE = [1];
/** Figures of a quarter-hour. */
const SLOT = 3;
const dayOf = (quarter: number) => Math.floor(quarter / QUARTERS_A_DAY);
const inDay = (quarter: number) => quarter - dayOf(quarter) * QUARTERS_A_DAY;

/** In time, each once. */
function quartersOf(family: readonly CubeSession[]): number[] {
  const quarters = new Set<number>();
  const put = (quarter: number) => quarters.add(quarter);
  for (const session of family) {
    session.eachSlot(put);
    session.eachTokens(put);
  }
  return [...quarters].sort((a, b) => a - b);
}

function eachDistance(family: readonly CubeSession[], use: (quarter: number, key: number) => void): void {
  let before: number | undefined;
  for (const quarter of quartersOf(family)) {
    use(quarter, inDay(quarter) * SCALE + (before === undefined ? FIRST : quarter - before));
    before = quarter;
  }
}
