/**
 * What each session is as a whole, in columns: blocks of some hundred sessions, made when somebody asks and again when one of theirs
 * changed. A view over many sessions reads their quarter-hours only where a range cuts a session in two. Sessions of one time stand
 * together, so that most blocks lie in a range as a whole or not at all; blocks that stand together are a span, spans a wider one, up to
 * one of all, for sums of more of them.
 */
import type { Slices } from "#internal";
import { pages } from "#internal/adapter";
import { Block, liesIn, liesOutside, type Run } from "./block.ts";
import type { Edges } from "./buckets.ts";
import type { CubeSession } from "./cube-session.ts";

/** Sessions of a block at most. */
export const TOGETHER = 512;
/** Parts of a span at most. */
const SPAN = 8;

/** All sessions of a moment; it never changes. */
export class Blocks {
  /** How many sessions. */
  readonly size: number;
  readonly #lists: readonly (readonly CubeSession[])[];
  /** Ids of sessions that others count with. */
  readonly #heads: ReadonlySet<string>;
  readonly #blocks: (Block | undefined)[];
  /** By level, in their order: those of the first are made of blocks, each other one's of those before. */
  readonly #spans: (Run | undefined)[][];

  private constructor(
    lists: readonly (readonly CubeSession[])[],
    heads: ReadonlySet<string>,
    blocks: (Block | undefined)[],
    spans: (Run | undefined)[][],
  ) {
    this.size = lists.reduce((sum, { length }) => sum + length, 0);
    this.#lists = lists;
    this.#heads = heads;
    this.#blocks = blocks;
    this.#spans = spans;
  }

  /** Of sessions in this order, which is best that of time (`order.ts`). */
  static of(sessions: readonly CubeSession[]): Blocks {
    const lists = [...pages(sessions, TOGETHER)];
    return new Blocks(lists, headsOf(lists), [], []);
  }

  /** After a change: other lists stand at `changed`. `related`: somebody may count with another session now. */
  after(lists: readonly (readonly CubeSession[])[], changed: Iterable<number>, related: boolean): Blocks {
    const [blocks, spans] = [[...this.#blocks], this.#spans.map((level) => [...level])];
    const drop = (n: number) => {
      blocks[n] = undefined;
      spans.forEach((level, i) => {
        level[Math.floor(n / SPAN ** (i + 1))] = undefined;
      });
    };
    for (const n of changed) drop(n);
    if (!related) return new Blocks(lists, this.#heads, blocks, spans);
    const heads = headsOf(lists);
    // Whoever has others with it now, or has none any more.
    const other = new Set([...heads].filter((id) => !this.#heads.has(id)));
    for (const id of this.#heads) if (!heads.has(id)) other.add(id);
    if (other.size > 0)
      lists.forEach((list, n) => {
        if (list.some(({ id }) => other.has(id))) drop(n);
      });
    return new Blocks(lists, heads, blocks, spans);
  }

  /** As they stand: some of each block. */
  get lists(): readonly (readonly CubeSession[])[] {
    return this.#lists;
  }
  get sessions(): readonly CubeSession[] {
    return this.#lists.flat();
  }
  /** How many blocks. */
  get length(): number {
    return this.#lists.length;
  }
  /** Made now, if it is not there: some 0.3 ms. */
  block(n: number): Block {
    let block = this.#blocks[n];
    if (!block) {
      block = new Block(n, this.#lists[n] ?? [], this.#heads);
      this.#blocks[n] = block;
    }
    return block;
  }
  /** The narrowest run of all blocks. */
  get #all(): Run {
    let level = 0;
    while (SPAN ** level < this.length) level++;
    return this.#run(level, 0);
  }
  /** The one at `n` of those of a level; 0: a block. */
  #run(level: number, n: number): Run {
    if (level === 0) return this.block(n).run;
    const spans = this.#spans[level - 1] ?? [];
    this.#spans[level - 1] = spans;
    let span = spans[n];
    if (!span) {
      const end = Math.min((n + 1) * SPAN, Math.ceil(this.length / SPAN ** (level - 1)));
      const parts = Array.from({ length: end - n * SPAN }, (_, i) => this.#run(level - 1, n * SPAN + i));
      span = {
        start: n * SPAN ** level,
        end: Math.min((n + 1) * SPAN ** level, this.length),
        first: Math.min(...parts.map((part) => part.first)),
        last: Math.max(...parts.map((part) => part.last)),
        parts,
      };
      spans[n] = span;
    }
    return span;
  }

  /**
   * Calls back for each block that may have something between the edges, in slices. Before that for what lies between them as a whole,
   * the widest spans first: `useRun` says whether it is done with that; its parts are asked for otherwise.
   */
  async eachBlock(
    edges: Edges,
    slices: Slices,
    use: (n: number, block: Block) => Promise<void>,
    useRun: (run: Run) => boolean = () => false,
  ): Promise<void> {
    for (let n = 0; n < this.length; n++) {
      if (this.#blocks[n]) continue;
      this.block(n);
      if (slices.due) await slices.turn();
    }
    const look = async (run: Run): Promise<void> => {
      if (liesOutside(run, edges)) return;
      if (!liesIn(run, edges) || !useRun(run)) {
        if (run.parts.length === 0) await use(run.start, this.block(run.start));
        for (const part of run.parts) await look(part);
      }
      if (slices.due) await slices.turn();
    };
    if (this.length > 0) await look(this.#all);
  }

  /** The session that the one at `i` of the block `n` counts with; undefined where nobody else does. */
  rootOf(n: number, i: number): string | undefined {
    return this.block(n).related[i] ? this.session(n, i).root : undefined;
  }
  /** The session at a place: that of the block `n` at `i` is `n * TOGETHER + i`. */
  at(place: number): CubeSession | undefined {
    return this.#lists[Math.floor(place / TOGETHER)]?.[place % TOGETHER];
  }
  /** The session that stands at `i` of the block `n`. */
  session(n: number, i: number): CubeSession {
    return this.#lists[n]?.[i] as CubeSession;
  }
}

function headsOf(lists: readonly (readonly CubeSession[])[]): ReadonlySet<string> {
  const heads = new Set<string>();
  for (const list of lists) for (const { id, root } of list) if (root !== id) heads.add(root);
  return heads;
}
