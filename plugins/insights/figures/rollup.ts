/**
 * Sums over all sessions by UTC day, tool and kind, model and quarter-hour, kept as sessions come, change and go: what a view over many
 * sessions reads grows with the days, not with the sessions. Whole numbers throughout, so that it always equals a sum made anew.
 *
 * Sessions are counted once however many days they touch. So of each session that counts (with its sub-agents) it is kept how long before
 * each of its quarter-hours the last one was: in a span of days it counts at the first of them alone, whatever days the zone has. That is
 * kept for each group by itself. Few sessions are of several groups at once; `shared` says what groups added up have of those too much.
 */
import type { UsageEvidence } from "sessarc";
import { Cells } from "./cells.ts";
import type { CubeSession, SessionKind } from "./cube-session.ts";
import { nameOf } from "./names.ts";
import { FIELDS } from "./packed.ts";
import { at } from "./tally.ts";

export const QUARTERS_A_DAY = 96;
/** In place of a distance, where there is no quarter-hour before. */
const FIRST = 2 ** 32 - 1;
const SCALE = 2 ** 32;

/** Sessions of one tool and kind. */
export interface Group {
  readonly tool: string;
  readonly kind: SessionKind;
}
/** Which groups: default all of them. */
export type GroupChoice = { readonly [key in keyof Group]?: Group[key] | undefined };

/** A group on one UTC day. */
export interface GroupDay extends Group {
  /** By quarter-hour: messages, active ms, failed calls. */
  readonly slots: Cells;
  /** By model and quarter-hour: tokens, in the order of `FIELDS`. */
  readonly tokens: Map<string, Cells>;
  /** Sessions by quarter-hour and the distance to their last one; read with `quarterOfRoot` and `beforeRoot`. */
  readonly roots: Cells;
}
export interface RollupDay {
  /** By `keyOf`. */
  readonly groups: Map<string, GroupDay>;
  /** By `keyOf` a choice of several groups: what comes to the sum of their `roots`, or is taken from it. */
  readonly shared: Map<string, Cells>;
}

export const keyOf = ({ tool, kind }: GroupChoice): string => `${kind ?? ""}\0${tool ?? ""}`;

/** How the numbers of a packed rollup are to be read: for each cells how many rows there are. */
export interface RollupLayout {
  days: {
    day: number;
    groups: (Group & { slots: number; roots: number; tokens: [model: string, rows: number][] })[];
    shared: [key: string, rows: number][];
  }[];
  calls: [name: string, calls: number, errors: number][];
  evidence: (Group & { sum: UsageEvidence })[];
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
  readonly #evidence = new Map<string, Group & { sum: UsageEvidence }>();

  /** By number of the UTC day. */
  get days(): ReadonlyMap<number, RollupDay> {
    return this.#days;
  }
  /** Calls and failures by tool name, of all sessions that have a quarter-hour. */
  get calls(): ReadonlyMap<string, { calls: number; errors: number }> {
    return this.#calls;
  }
  /** Of those of the same sessions that are chosen. */
  evidence(of: GroupChoice = {}): UsageEvidence {
    const all = noEvidence();
    for (const { sum, ...group } of this.#evidence.values()) if (isOf(group, of)) addEvidence(all, sum);
    return all;
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
      days: [...this.#days].map(([day, { groups, shared }]) => ({
        day,
        groups: [...groups.values()].map(({ tool, kind, slots, tokens, roots }) => ({
          tool,
          kind,
          slots: rows(slots),
          roots: rows(roots),
          tokens: [...tokens].map(([model, own]): [string, number] => [model, rows(own)]),
        })),
        shared: [...shared].map(([key, own]): [string, number] => [key, rows(own)]),
      })),
      calls: [...this.#calls].map(([name, { calls, errors }]) => [name, calls, errors]),
      // In one go with what is copied: the sums go on.
      evidence: [...this.#evidence.values()].map(({ sum, ...group }) => ({ ...group, sum: { ...sum } })),
    };
    const parts = cells.flatMap(({ all }) => [all.keys, all.figures]);
    const numbers = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
    let place = 0;
    for (const part of parts) {
      numbers.set(part, place);
      place += part.length;
    }
    return { layout, numbers };
  }

  /** What `packed` gave. The sessions it is of are handed to `attach`. */
  static of({ days, calls, evidence }: RollupLayout, numbers: Float64Array): Rollup {
    const rollup = new Rollup();
    let place = 0;
    const take = (length: number) => {
      place += length;
      return numbers.subarray(place - length, place);
    };
    const cells = (rows: number, width: number) => Cells.of(width, take(rows), take(rows * width));
    for (const { day, groups, shared } of days) {
      const one: RollupDay = { groups: new Map(), shared: new Map() };
      rollup.#days.set(day, one);
      for (const { tool, kind, ...rows } of groups) {
        const slots = cells(rows.slots, SLOT);
        const roots = cells(rows.roots, 1);
        const tokens = new Map(rows.tokens.map(([model, length]) => [model, cells(length, FIELDS.length)] as const));
        one.groups.set(keyOf({ tool, kind }), { tool, kind, slots, tokens, roots });
      }
      for (const [key, length] of shared) one.shared.set(key, cells(length, 1));
    }
    if (place !== numbers.length) throw new Error("its sums are no sums");
    for (const [name, sum, errors] of calls) rollup.#calls.set(name, { calls: sum, errors });
    for (const one of evidence) rollup.#evidence.set(keyOf(one), one);
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
    const key = keyOf(session);
    session.eachSlot((quarter, ...work) => {
      this.#group(dayOf(quarter), key, session).slots.add(inDay(quarter), work, sign);
    });
    session.eachTokens((quarter, number, tokens) => {
      const models = this.#group(dayOf(quarter), key, session).tokens;
      const model = nameOf(number);
      const cells = models.get(model) ?? new Cells(FIELDS.length);
      models.set(model, cells);
      cells.add(inDay(quarter), tokens, sign);
      if (cells.length === 0) models.delete(model);
    });
    if (session.hasAny) {
      const { tool, kind } = session;
      addEvidence(at(this.#evidence, key, () => ({ tool, kind, sum: noEvidence() })).sum, session.evidence, sign);
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
    const groups = new Map<string, CubeSession[]>();
    for (const session of family) at(groups, keyOf(session), () => []).push(session);
    for (const [key, some] of groups)
      eachDistance(some, (quarter, cell) =>
        this.#group(dayOf(quarter), key, some[0] as Group).roots.add(cell, ONE, sign),
      );
    if (groups.size === 1) return;
    const choices = [{}, ...family.map(({ tool }) => ({ tool })), ...family.map(({ kind }) => ({ kind }))];
    for (const [key, of] of new Map(choices.map((one) => [keyOf(one), one]))) {
      const own = [...groups.values()].filter(([one]) => one && isOf(one, of));
      if (own.length === 1) continue;
      const put = (by: 1 | -1) => (quarter: number, cell: number) => {
        const { shared } = this.#day(dayOf(quarter));
        const cells = at(shared, key, () => new Cells(1));
        cells.add(cell, ONE, by);
        if (cells.length === 0) shared.delete(key);
      };
      for (const some of own) eachDistance(some, put(sign > 0 ? -1 : 1));
      eachDistance(own.flat(), put(sign));
    }
  }

  #tidy(number: number): void {
    const day = this.#days.get(number);
    if (!day) return;
    for (const [key, { slots, tokens, roots }] of day.groups)
      if (slots.length + tokens.size + roots.length === 0) day.groups.delete(key);
    if (day.groups.size + day.shared.size === 0) this.#days.delete(number);
  }

  #day(number: number): RollupDay {
    return at(this.#days, number, () => ({ groups: new Map(), shared: new Map() }));
  }
  #group(number: number, key: string, { tool, kind }: Group): GroupDay {
    const { groups } = this.#day(number);
    return at(groups, key, () => ({
      tool,
      kind,
      slots: new Cells(SLOT),
      tokens: new Map(),
      roots: new Cells(1),
    }));
  }
}

export const isOf = (group: Group, { tool, kind }: GroupChoice): boolean =>
  (tool === undefined || tool === group.tool) && (kind === undefined || kind === group.kind);

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
