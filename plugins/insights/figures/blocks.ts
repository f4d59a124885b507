/**
 * What each session is as a whole, in columns: blocks of some hundred sessions, made when somebody asks and again when one of theirs
 * changed. A view over many sessions reads their quarter-hours only where a range cuts a session in two. Sessions of one time stand
 * together, so that most blocks lie in a range as a whole or not at all; blocks that stand together are a span, for sums of more of them.
 */
import { pages, type Slices } from "sessarc";
import { Block, liesIn, liesOutside, type Run } from "./block.ts";
import type { Edges } from "./buckets.ts";
import type { CubeSession } from "./cube-session.ts";

/** Sessions of a block at most. */
export const TOGETHER = 512;
/** Blocks of a span at most. */
const SPAN = 8;

/** All sessions of a moment; it never changes. */
export class Blocks {
  /** How many sessions. */
  readonly size: number;
  readonly #lists: readonly (readonly CubeSession[])[];
  /** Ids of sessions that others count with. */
  readonly #heads: ReadonlySet<string>;
  readonly #blocks: (Block | undefined)[];
  readonly #spans: (Run | undefined)[];

  private constructor(
    lists: readonly (readonly CubeSession[])[],
    heads: ReadonlySet<string>,
    blocks: (Block | undefined)[],
    spans: (Run | undefined)[],
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
    const [blocks, spans] = [[...this.#blocks], [...this.#spans]];
    const drop = (n: number) => {
      blocks[n] = undefined;
      spans[Math.floor(n / SPAN)] = undefined;
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
  /** How many spans. */
  get spans(): number {
    return Math.ceil(this.length / SPAN);
  }
  /** Made of blocks that were. */
  span(s: number): Run {
    let span = this.#spans[s];
    if (!span) {
      const [start, end] = [s * SPAN, Math.min((s + 1) * SPAN, this.length)];
      const runs = Array.from({ length: end - start }, (_, i) => this.block(start + i).run);
      const first = Math.min(...runs.map((run) => run.first));
      span = { start, end, first, last: Math.max(...runs.map((run) => run.last)) };
      this.#spans[s] = span;
    }
    return span;
  }

  /**
   * Calls back for each block that may have something between the edges, in slices. Before that for what lies between them as a whole,
   * spans first: `useRun` says whether it is done with that.
   */
  async eachBlock(
    edges: Edges,
    slices: Slices,
    use: (n: number, block: Block) => Promise<void>,
    useRun: (run: Run) => boolean = () => false,
  ): Promise<void> {
    for (let s = 0; s < this.spans; s++) {
      for (let n = s * SPAN; n < Math.min((s + 1) * SPAN, this.length); n++) {
        this.block(n);
        if (slices.due) await slices.turn();
      }
      const span = this.span(s);
      if (liesOutside(span, edges)) continue;
      const isDone = liesIn(span, edges) && useRun(span);
      for (let n = span.start; n < span.end && !isDone; n++) {
        const block = this.block(n);
        if (liesOutside(block.run, edges)) continue;
        if (!liesIn(block.run, edges) || !useRun(block.run)) await use(n, block);
        if (slices.due) await slices.turn();
      }
      if (slices.due) await slices.turn();
    }
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
