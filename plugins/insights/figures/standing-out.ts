/** Sessions that were long, or were sent much with each reply; of those that stand together it is kept who they are. */
import type { Block } from "./block.ts";
import type { CubeSession } from "./cube-session.ts";
import { keptOfRuns } from "./shares.ts";

/** Active time from which a session is long. */
export const LONG_MS = 2 * 3_600_000;
/** Sessions that are named with a trait. */
const TOP = 5;

interface Named {
  id: string;
  label: string | null;
  value: number;
}

export class StandingOut {
  /** By active ms. */
  readonly long = new Top();
  /** By tokens a reply. */
  readonly heavy = new Top();
  requests = 0;

  /** The session at `i` of the block; `active`: of a part of it. */
  put({ id, label }: CubeSession, block: Block, i: number, active = block.work[i * 3 + 1] as number): void {
    if (active >= LONG_MS) this.long.put({ id, label, value: active });
    const requests = block.requests(i);
    if (requests === 0) return;
    this.requests += requests;
    this.heavy.put({ id, label, value: Math.round(block.prompt(i) / requests) });
  }
  add({ long, heavy, requests }: StandingOut): void {
    this.long.add(long);
    this.heavy.add(heavy);
    this.requests += requests;
  }
}

/** Of a run as a whole. */
export const standingOut = keptOfRuns(
  (blocks, n) => {
    const out = new StandingOut();
    const block = blocks.block(n);
    for (let i = 0; i < block.length; i++) if (!block.isEmpty(i)) out.put(blocks.session(n, i), block, i);
    return out;
  },
  (parts) => {
    const out = new StandingOut();
    for (const part of parts) out.add(part);
    return out;
  },
  () => true,
);

/** Sessions counted, and those with the largest values. */
class Top {
  count = 0;
  #best: Named[] = [];

  put(one: Named): void {
    this.count++;
    this.#keep(one);
  }
  add(other: Top): void {
    this.count += other.count;
    for (const one of other.#best) this.#keep(one);
  }
  get sessions(): Named[] {
    return [...this.#best];
  }

  #keep(one: Named): void {
    const best = this.#best;
    if (best.length === TOP && one.value < (best[TOP - 1] as Named).value) return;
    best.push(one);
    this.#best = best.sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1)).slice(0, TOP);
  }
}
