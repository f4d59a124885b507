/** Sessions that come, change and go between one `Blocks` and the next. Nobody's place changes but that of the last one of a block that another left. */
import { type Blocks, TOGETHER } from "./blocks.ts";
import type { CubeSession } from "./cube-session.ts";

export class Edit {
  readonly #old: Blocks;
  readonly #lists: (readonly CubeSession[])[];
  /** Those that are the edit's own, by number of the block. */
  readonly #changed = new Map<number, CubeSession[]>();

  constructor(old: Blocks) {
    this.#old = old;
    this.#lists = [...old.lists];
  }

  get(place: number | undefined): CubeSession | undefined {
    return place === undefined ? undefined : this.#lists[Math.floor(place / TOGETHER)]?.[place % TOGETHER];
  }
  set(place: number, session: CubeSession): void {
    this.#own(Math.floor(place / TOGETHER))[place % TOGETHER] = session;
  }
  /** Answers its place. */
  add(session: CubeSession): number {
    const last = Math.max(0, this.#lists.length - 1);
    const n = (this.#lists[last]?.length ?? 0) < TOGETHER ? last : last + 1;
    return n * TOGETHER + this.#own(n).push(session) - 1;
  }
  /** Answers who stands there now. */
  remove(place: number): CubeSession | undefined {
    const list = this.#own(Math.floor(place / TOGETHER));
    const moved = list.pop();
    if (!moved || list.length === place % TOGETHER) return undefined;
    list[place % TOGETHER] = moved;
    return moved;
  }
  /** Calls back for all of them with their places. */
  each(use: (session: CubeSession, place: number) => void): void {
    this.#lists.forEach((list, n) => {
      list.forEach((session, i) => {
        use(session, n * TOGETHER + i);
      });
    });
  }
  /** `related`: somebody may count with another session now. */
  done(related: boolean): Blocks {
    return this.#old.after(this.#lists, this.#changed.keys(), related);
  }

  #own(n: number): CubeSession[] {
    let list = this.#changed.get(n);
    if (!list) {
      list = [...(this.#lists[n] ?? [])];
      this.#changed.set(n, list);
      this.#lists[n] = list;
    }
    return list;
  }
}
