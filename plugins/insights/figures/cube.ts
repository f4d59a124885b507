/**
 * What every view is added up from: per session its quarter-hours as plain numbers. Filled from the catalogue, never from transcripts. The
 * table `session_change`, which triggers keep, says which sessions changed when: those alone are looked at again, also after a restart,
 * from the figures that were kept.
 */

import type { Database, Services } from "sessarc";
import { Slices } from "#internal";
import { marks, pages } from "#internal/adapter";
import { Blocks } from "./blocks.ts";
import type { CubeSession } from "./cube-session.ts";
import type { KeptFigures } from "./kept.ts";
import { inOrder } from "./order.ts";
import { replace } from "./replace.ts";
import { Rollup } from "./rollup.ts";
import { COLUMNS, type Row, rooted, toSession } from "./rows.ts";
import { sharesOf } from "./shares.ts";
import { standingOut } from "./standing-out.ts";

type Archive = Pick<Services["archive"], "generation">;
type Importer = Pick<Services["importer"], "progress">;

/** What the archive held at one moment. */
export interface Figures {
  /** Another one each time they were read. */
  readonly generation: number;
  readonly blocks: Blocks;
  /** Their sums by day. They go on with the archive, in slices: what is read later than at once may be half changed. */
  readonly rollup: Rollup;
  /** Sessions by their ids; undefined too for one that was moved or removed since. */
  byId(): Promise<(id: string) => CubeSession | undefined>;
}

export interface Cube {
  /** All sessions as of now. One flight for concurrent callers; a few ms per thousand changed sessions, in slices. */
  figures(): Promise<Figures>;
  /** Makes now, in slices, what the first questions and the first change would wait for. */
  warm(): Promise<void>;
  /** Keeps them for the next start, where that would otherwise have much to count. */
  keep(): Promise<void>;
}

/** Rows read between two looks at the clock. */
const PAGE = 100;
/** More changes than that: all is counted anew. */
const MANY = 20_000;
/** Changed sessions that the next start may count by itself; of a large archive this share. */
const FEW = 500;
const SHARE = 0.05;

export function createCube(archive: Archive, importer: Importer, db: Database, kept: KeptFigures): Cube {
  /** Of the archive, when they were read. */
  let generation = -1;
  let looks = 0;
  let figures: Figures | undefined;
  let running: Promise<void> | undefined;
  /** Where each session stands in the blocks. Only for questions about the newest figures. */
  let places: Promise<Map<string, number>> | undefined;
  /** Number of the last change that the figures know. */
  let upto = 0;
  /** `db.undone` when they were read. */
  let undone = db.undone;
  /** Sessions read since the figures were kept; undefined: they never were. */
  let unkept: number | undefined;
  let keeping: Promise<void> | undefined;

  async function* all(): AsyncGenerator<Row[]> {
    for (let after = 0; ; ) {
      const rows = await db.all<Row>(`select ${COLUMNS} from session where rowid > ? order by rowid limit ${PAGE}`, [
        after,
      ]);
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last.rowid;
    }
  }

  async function* some(ids: readonly string[]): AsyncGenerator<Row[]> {
    for (const page of pages(ids, PAGE))
      yield await db.all<Row>(`select ${COLUMNS} from session where id in (${marks(page)})`, page);
  }

  /** All sessions anew. */
  const readAll = async (target: number) => {
    const last = (await db.get<{ last: number | null }>("select max(n) as last from session_change"))?.last ?? 0;
    const read: CubeSession[] = [];
    const at = new Map<string, number>();
    const slices = new Slices();
    for await (const rows of all()) {
      // One that is replaced meanwhile comes again.
      for (const row of rows) {
        const place = at.get(row.id) ?? read.length;
        read[place] = toSession(row);
        at.set(row.id, place);
      }
      if (slices.due) await slices.turn();
    }
    const sessions = await inOrder(read.map((session) => rooted(session, (id) => read[at.get(id) ?? -1])));
    const rollup = new Rollup();
    for (let i = 0; i < sessions.length; i += PAGE) {
      rollup.change([], sessions.slice(i, i + PAGE));
      if (slices.due) await slices.turn();
    }
    places = Promise.resolve(await placesOf(sessions));
    adopt(target, Blocks.of(sessions), rollup);
    upto = last;
    unkept = undefined;
  };

  /** Those that changed. Nobody sees the sums half done: whoever asks waits for the flight. */
  const readSome = async (target: number, changed: ReadonlySet<string>, old: Figures) => {
    if (changed.size === 0) return adopt(target, old.blocks, old.rollup);
    const places = await placesIn(old);
    const read: CubeSession[] = [];
    const slices = new Slices();
    for await (const rows of some([...changed])) {
      for (const row of rows) read.push(toSession(row));
      if (slices.due) await slices.turn();
    }
    const blocks = await replace(old, places, changed, read);
    if (unkept !== undefined) unkept += changed.size;
    adopt(target, blocks, old.rollup);
  };

  /** Of figures that were kept they are made when they are needed: who only asks does without. */
  const placesIn = ({ blocks, rollup }: Pick<Figures, "blocks" | "rollup">) => {
    places ??= attach(blocks, rollup).then(() => placesOf(blocks.sessions));
    return places;
  };

  const adopt = (target: number, blocks: Blocks, rollup: Rollup) => {
    const byId = async () => {
      const at = await placesIn({ blocks, rollup });
      return (id: string) => {
        const place = at.get(id);
        const session = place === undefined ? undefined : blocks.at(place);
        return session?.id === id ? session : undefined;
      };
    };
    generation = target;
    figures = { generation: ++looks, blocks, rollup, byId };
  };

  /** What was kept at an earlier start, as far as it goes. */
  const load = async () => {
    const found = await kept.load();
    if (!found) return;
    const sessions = await inOrder(found.sessions);
    upto = found.upto;
    // What had to be put in order is written so, that the next start need not.
    unkept = sessions === found.sessions ? 0 : undefined;
    places = undefined;
    adopt(-1, Blocks.of(sessions), found.rollup);
  };

  const refresh = async () => {
    const target = archive.generation;
    // What was read of a batch that was then undone is nowhere any more, and numbers of its changes come back.
    if (undone !== db.undone) figures = undefined;
    else if (!figures) await load();
    undone = db.undone;
    const changes = figures
      ? await db.all<{ n: number; session_id: string }>(
          `select n, session_id from session_change where n > ? order by n limit ${MANY}`,
          [upto],
        )
      : undefined;
    if (figures && changes && changes.length < MANY) {
      await readSome(target, new Set(changes.map((one) => one.session_id)), figures);
      upto = changes.at(-1)?.n ?? upto;
    } else await readAll(target);
    if (undone !== db.undone) generation = -1;
  };

  const keep = async () => {
    if (!figures || running || undone !== db.undone) return;
    const { blocks, rollup } = figures;
    if (unkept !== undefined && unkept < Math.max(FEW, blocks.size * SHARE)) return;
    unkept = 0;
    let isKept = false;
    try {
      isKept = await kept.store(blocks.sessions, rollup, upto);
    } finally {
      if (!isKept) unkept = undefined;
    }
  };

  const self: Cube = {
    async figures() {
      // A change while it ran is found by the next look; an import changes something all the time.
      while (!figures || generation !== archive.generation || undone !== db.undone) {
        running ??= refresh().finally(() => {
          running = undefined;
        });
        await running;
        if (figures && importer.progress.type !== "idle") break;
      }
      return figures;
    },
    async warm() {
      const { blocks, rollup } = await self.figures();
      await placesIn({ blocks, rollup });
      const slices = new Slices();
      for (let n = 0; n < blocks.length; n++) {
        sharesOf(blocks, blocks.block(n).run);
        standingOut(blocks, blocks.block(n).run);
        if (slices.due) await slices.turn();
      }
    },
    keep() {
      keeping ??= keep().finally(() => {
        keeping = undefined;
      });
      return keeping;
    },
  };
  return self;
}

/** Tells the sums which sessions they are of. */
async function attach(blocks: Blocks, rollup: Rollup): Promise<void> {
  const slices = new Slices();
  for (const list of blocks.lists) {
    rollup.attach(list);
    if (slices.due) await slices.turn();
  }
}

/** Where `Blocks.of` puts them. */
async function placesOf(sessions: readonly CubeSession[]): Promise<Map<string, number>> {
  const places = new Map<string, number>();
  const slices = new Slices();
  for (const some of pages(sessions, PAGE)) {
    for (const { id } of some) places.set(id, places.size);
    if (slices.due) await slices.turn();
  }
  return places;
}
