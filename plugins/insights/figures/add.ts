/** Adds up what of sessions lies in a range: each as a whole where all of it does, by its quarter-hours where an edge cuts it in two. */

import type { UsageEvidence } from "sessarc";
import { Slices } from "#internal";
import { type Block, type Origin, originAt, type Run } from "./block.ts";
import type { Blocks } from "./blocks.ts";
import { type DayRange, type Edges, edgesOf, inRange, type Zone } from "./buckets.ts";
import type { CubeSession } from "./cube-session.ts";
import { addEvidence, noEvidence } from "./rollup.ts";
import { type Share, sharesOf } from "./shares.ts";
import { type PriceKeys, Sum } from "./sums.ts";
import { at } from "./tally.ts";

/** A session on its way through the blocks: the one at `i` of the block `n`. */
export interface Place {
  readonly n: number;
  readonly block: Block;
  readonly i: number;
  /** All of it lies in the range; undefined: some of it may. */
  readonly whole: true | undefined;
}

/** Takes sessions that lie in the range together; false: each is to be told by itself. */
export type UseRun = (run: Run, accepts: (origin: number) => boolean) => boolean;

/**
 * Calls back for each session of an accepted origin that may have something in the range, in slices. `useRun` is asked first where all of
 * a run lies in the range; true: its sessions are done.
 */
export async function eachPlace(
  blocks: Blocks,
  edges: Edges,
  accept: ((origin: Origin) => boolean) | undefined,
  use: (place: Place) => void,
  useRun?: UseRun,
): Promise<void> {
  const slices = new Slices();
  const accepted: boolean[] = [];
  const accepts = (origin: number): boolean => {
    if (!accept) return true;
    accepted[origin] ??= accept(originAt(origin));
    return accepted[origin];
  };
  await blocks.eachBlock(
    edges,
    slices,
    async (n, block) => {
      const places = accept && [...block.byOrigin].flatMap(([origin, own]) => (accepts(origin) ? own : []));
      for (let k = 0; k < (places ?? block).length; k++) {
        const i = places ? (places[k] as number) : k;
        const whole = block.isIn(i, edges);
        if (whole !== false) use({ n, block, i, whole });
        if ((k & LOOK) === LOOK && slices.due) await slices.turn();
      }
    },
    useRun && ((run) => useRun(run, accepts)),
  );
}
/** Sessions between two looks at the clock, less one: a power of two. */
const LOOK = 31;

/** Calls back for each session with something in the range, in slices; `useRun` as in `eachPlace`. */
export function eachIn(
  blocks: Blocks,
  zone: Zone,
  range: DayRange,
  use: (session: CubeSession, place: Place) => void,
  { accept, useRun }: { accept?: ((origin: Origin) => boolean) | undefined; useRun?: UseRun | undefined } = {},
): Promise<void> {
  return eachPlace(
    blocks,
    edgesOf(zone, range),
    accept,
    (place) => {
      const session = blocks.session(place.n, place.i);
      if (place.whole || session.isIn(zone, range)) use(session, place);
    },
    useRun,
  );
}

/** The same where `useShare` takes what sessions add up to that lie in the range together. */
export const eachShareIn = (
  blocks: Blocks,
  zone: Zone,
  range: DayRange,
  use: (session: CubeSession, place: Place) => void,
  useShare: (share: Share) => void,
  accept?: (origin: Origin) => boolean,
): Promise<void> =>
  eachIn(blocks, zone, range, use, {
    accept,
    useRun(run, accepts) {
      const shares = sharesOf(blocks, run);
      if (!shares) return false;
      for (const [origin, share] of shares) if (accepts(origin)) useShare(share);
      return true;
    },
  });

/** Which rows a session adds to: those of its models, else of its days, else that of its origin. Asked for when there is something to add. */
export interface RowsOf {
  ofModel?: ((model: number) => Sum) | undefined;
  ofDay?: ((day: number) => Sum) | undefined;
  of?: ((origin: number) => Sum) | undefined;
}

export class Adder {
  /** Of all that was added; tokens are in the rows alone. */
  readonly totals = new Sum();
  /** Of all sessions with something in the range. */
  readonly evidence: UsageEvidence = noEvidence();
  readonly #keys: PriceKeys;
  readonly #blocks: Blocks;
  readonly #zone: Zone;
  readonly #range: DayRange;
  readonly #edges: Edges;
  /** By day. */
  readonly #daysEdges = new Map<number, Edges>();
  #turn = 0;

  constructor(blocks: Blocks, zone: Zone, range: DayRange, keys: PriceKeys) {
    this.#blocks = blocks;
    this.#zone = zone;
    this.#range = range;
    this.#edges = edgesOf(zone, range);
    this.#keys = keys;
  }

  /** Adds all of an accepted origin. */
  addAll(accept: ((origin: Origin) => boolean) | undefined, rows: RowsOf): Promise<void> {
    return this.each(
      accept,
      (place) => this.add(place, rows),
      (run, accepts) => !rows.ofDay && this.addShares(run, accepts, rows),
    );
  }

  /** Calls back for those that may have something in the range; `useRun` as in `eachPlace`. */
  each(accept: ((origin: Origin) => boolean) | undefined, use: (place: Place) => void, useRun: UseRun): Promise<void> {
    return eachPlace(this.#blocks, this.#edges, accept, use, useRun);
  }

  /** Adds the accepted sessions of a run that lies in the range as a whole; false: a price changes with time or its parts are asked first, add those. */
  addShares(run: Run, accepts: (origin: number) => boolean, { ofModel, of }: Omit<RowsOf, "ofDay">): boolean {
    const all = sharesOf(this.#blocks, run);
    if (!all) return false;
    const shares = [...all].filter(([origin]) => accepts(origin));
    for (const [, { models }] of shares)
      for (const model of models.keys()) if (this.#keys.steady(model) === undefined) return false;
    for (const [origin, { messages, activeMs, errors, heads, evidence, models }] of shares) {
      this.totals.addWork(messages, activeMs, errors);
      this.totals.countAll(heads);
      addEvidence(this.evidence, evidence);
      const own = ofModel ? undefined : of?.(origin);
      own?.addWork(messages, activeMs, errors);
      own?.countAll(heads);
      for (const [model, share] of models) {
        const sum = ofModel ? ofModel(model) : own;
        if (ofModel) sum?.countAll(share.heads);
        sum?.add(this.#keys.at(model, 0), share.tokens);
      }
    }
    return true;
  }

  /** Adds one session; false: none of it lies in the range. */
  add(place: Place, rows: RowsOf): boolean {
    const { n, block, i, whole } = place;
    const turn = this.#turn++;
    const root = this.#blocks.rootOf(n, i);
    const day = whole && rows.ofDay ? this.#dayOf(block, i) : undefined;
    if (whole && (!rows.ofDay || day !== undefined)) this.#addWhole(place, rows, day, turn, root);
    else if (!this.#addPart(place, rows, turn, root)) return false;
    this.totals.count(turn, root);
    block.addEvidence(i, this.evidence);
    return true;
  }

  /** The day that all of a session lies on. */
  #dayOf(block: Block, i: number): number | undefined {
    const day = this.#zone.day(block.first[i] as number);
    const edges = at(this.#daysEdges, day, () => edgesOf(this.#zone, { from: day, to: day }));
    return block.isIn(i, edges) ? day : undefined;
  }

  #addWhole(place: Place, { ofModel, ofDay, of }: RowsOf, day: number | undefined, turn: number, root?: string): void {
    const { n, block, i } = place;
    const { work, models } = block;
    const first = i * 3;
    const [messages, activeMs, errors] = [work[first] as number, work[first + 1] as number, work[first + 2] as number];
    this.totals.addWork(messages, activeMs, errors);
    const own = ofModel ? undefined : day === undefined ? of?.(block.origin[i] as number) : ofDay?.(day);
    own?.addWork(messages, activeMs, errors);
    own?.count(turn, root);
    let timed = false;
    const end = block.starts[i + 1] as number;
    for (let row = block.starts[i] as number; row < end; row++) {
      const model = models[row] as number;
      const sum = ofModel ? ofModel(model) : own;
      sum?.count(turn, root);
      const key = this.#keys.steady(model);
      if (key === undefined) timed = true;
      else if (sum) block.addTokens(row, sum.of(key));
    }
    if (!timed) return;
    this.#blocks.session(n, i).eachTokens((quarter, model, tokens) => {
      if (this.#keys.steady(model) !== undefined) return;
      (ofModel ? ofModel(model) : own)?.add(this.#keys.at(model, quarter), tokens);
    });
  }

  #addPart(place: Place, { ofModel, ofDay, of }: RowsOf, turn: number, root: string | undefined): boolean {
    const session = this.#blocks.session(place.n, place.i);
    let touched = false;
    let own: Sum | undefined;
    const rowOn = (day: number): Sum | undefined => {
      if (ofDay) return ofDay(day);
      own ??= of?.(place.block.origin[place.i] as number);
      return own;
    };
    session.eachSlot((quarter, messages, activeMs, errors) => {
      const day = this.#zone.day(quarter);
      if (!place.whole && !inRange(day, this.#range)) return;
      touched = true;
      this.totals.addWork(messages, activeMs, errors);
      if (ofModel) return;
      const sum = rowOn(day);
      sum?.addWork(messages, activeMs, errors);
      sum?.count(turn, root);
    });
    session.eachTokens((quarter, model, tokens) => {
      const day = this.#zone.day(quarter);
      if (!place.whole && !inRange(day, this.#range)) return;
      touched = true;
      const sum = ofModel ? ofModel(model) : rowOn(day);
      sum?.count(turn, root);
      sum?.add(this.#keys.at(model, quarter), tokens);
    });
    return touched;
  }
}
