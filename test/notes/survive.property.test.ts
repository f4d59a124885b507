/**
 * Bookmarks, tags, notes and saved searches beside a plain list of what the user set last: whatever is imported, synchronized, deleted,
 * imported again, associated, backed up and restored, in whatever order.
 */
import { execFileSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { ListedMark, SavedSearch } from "../../plugins/notes/index.ts";
import { makeTempDir } from "../_setup.ts";
import { rounds } from "../rounds.ts";

const uuid = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
const toId = (n: number) => `claude-code:${uuid(n)}`;
const address = (n: number) => `/api/sessions/${encodeURIComponent(toId(n))}`;

interface Kept {
  bookmarked: boolean;
  tags: readonly string[];
  note: string;
}
/** What the user set, and what of each log the archive holds. */
interface Expected {
  /** By session and text of the message, which is empty for the session itself. */
  marks: Map<string, Kept>;
  searches: Map<string, string>;
  /** Texts of the messages; undefined: the session is not in the archive. */
  archived: Map<number, readonly string[]>;
  /** Deleted by the user: not imported again automatically. */
  deleted: Set<number>;
}

class World {
  readonly home: string;
  t: TestKernel;
  now: Expected = { marks: new Map(), searches: new Map(), archived: new Map(), deleted: new Set() };
  backup: { dir: string; state: Expected } | undefined;
  /** What the logs hold; the second one has no folder and can be associated with one. */
  readonly logs = new Map<number, readonly string[]>();
  #texts = 0;

  constructor(home: string, t: TestKernel) {
    this.home = home;
    this.t = t;
  }
  static start = (home: string) => createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });

  file = (n: number) => join(this.home, `.claude/projects/-w-app${n}/${uuid(n)}.jsonl`);

  async write(n: number, texts: readonly string[]): Promise<void> {
    this.logs.set(n, texts);
    await mkdir(dirname(this.file(n)), { recursive: true });
    const rows = texts.map((text) => ({
      ...{ type: "user", uuid: `u${n}-${text}`, sessionId: uuid(n), timestamp: "2026-11-20T10:00:00.000Z" },
      ...(n === 1 && { cwd: "/w/app" }),
      message: { role: "user", content: text },
    }));
    await writeFile(this.file(n), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
  text = () => `text ${this.#texts++}`;

  /** The archive has a session's log as it is now. */
  read(n: number): void {
    const texts = this.logs.get(n);
    this.now.deleted.delete(n);
    if (texts) this.now.archived.set(n, texts);
  }
  async importAll(): Promise<void> {
    await this.t.send("POST", "/api/import", { all: true });
    for (const n of this.logs.keys()) if (!this.now.deleted.has(n)) this.read(n);
  }
  async restart(replace?: () => Promise<void>): Promise<void> {
    await this.t.close();
    await replace?.();
    this.t = await World.start(this.home);
  }

  async mark(n: number, at: number | undefined, change: Partial<Kept>): Promise<void> {
    const texts = this.now.archived.get(n);
    const seq = at === undefined || !texts ? undefined : at % texts.length;
    const { status } = await this.t.send("PATCH", `${address(n)}/notes`, {
      ...(seq !== undefined && { seq }),
      ...change,
    });
    expect(status).toBe(texts ? 200 : 404);
    if (!texts) return;
    const key = `${n} ${seq === undefined ? "" : texts[seq]}`;
    const next = { bookmarked: false, tags: [], note: "", ...this.now.marks.get(key), ...change };
    if (next.bookmarked || next.tags.length > 0 || next.note !== "") this.now.marks.set(key, next);
    else this.now.marks.delete(key);
  }

  /** What the service lists, and what it should. */
  async compare(): Promise<void> {
    const found = await this.t.json<ListedMark[]>("/api/notes");
    const listed = found.map(({ session, of, seq, bookmarked, tags, note }) => ({
      session,
      of,
      seq,
      bookmarked,
      tags,
      note,
    }));
    const wanted = [...this.now.marks].map(([key, { bookmarked, tags, note }]) => {
      const [n, text] = [Number(key[0]), key.slice(2)];
      const at = this.now.archived.get(n)?.indexOf(text) ?? -1;
      const of = text === "" ? "session" : "message";
      return {
        session: toId(n),
        of,
        seq: at < 0 ? null : at,
        bookmarked,
        tags: [...tags],
        note,
      };
    });
    const sorted = (list: object[]) => list.map((one) => JSON.stringify(one)).sort();
    expect(sorted(listed)).toEqual(sorted(wanted));
    const searches = await this.t.json<SavedSearch[]>("/api/searches");
    expect(Object.fromEntries(searches.map(({ name, query }) => [name, query]))).toEqual(
      Object.fromEntries(this.now.searches),
    );
    for (const tag of ["one", "two"]) {
      const { results } = await this.t.json<{ results: { session: { id: string } }[] }>(`/api/search?q=tag%3A${tag}`);
      const tagged = [...this.now.marks].filter(([, { tags }]) => tags.includes(tag)).map(([key]) => Number(key[0]));
      const there = [...new Set(tagged)].filter((n) => this.now.archived.has(n));
      expect(results.map(({ session }) => session.id).sort(), `tag:${tag}`).toEqual(there.map(toId).sort());
    }
  }
}

const clone = ({ marks, searches, archived, deleted }: Expected): Expected => ({
  marks: new Map(marks),
  searches: new Map(searches),
  archived: new Map(archived),
  deleted: new Set(deleted),
});

interface Step {
  act: keyof typeof ACTS;
  n: number;
  at: number;
}
const TAGS = [[], ["one"], ["two"], ["one", "two"]] as const;

const ACTS = {
  grow: (w: World, { n }: Step) => w.write(n, [...(w.logs.get(n) ?? []), w.text()]),
  insert: (w: World, { n }: Step) => w.write(n, [w.text(), ...(w.logs.get(n) ?? [])]),
  import: (w: World) => w.importAll(),
  async sync(w: World) {
    await w.t.send("POST", "/api/sync?wait=1");
    for (const n of w.now.archived.keys()) w.read(n);
  },
  async delete(w: World, { n }: Step) {
    expect((await w.t.send("DELETE", address(n))).status).toBe(w.now.archived.delete(n) ? 200 : 404);
    w.now.deleted.add(n);
  },
  async reimport(w: World, { n }: Step) {
    await w.t.json("/api/scan");
    await w.t.send("POST", "/api/import", { sessions: [toId(n)] });
    w.read(n);
  },
  /** Away from the folder it was associated with, where it was. */
  async associate(w: World) {
    const projects =
      await w.t.json<{ id: string; virtual: boolean; associatedFrom: string[] | null }[]>("/api/projects?git=0");
    const virtual = projects.find((one) => one.virtual);
    const placed = projects.find((one) => one.associatedFrom !== null);
    if (virtual)
      expect((await w.t.send("POST", `/api/projects/${virtual.id}/associate`, { path: w.home })).status).toBe(200);
    else if (placed) expect((await w.t.send("POST", `/api/projects/${placed.id}/unlink`)).status).toBe(200);
  },
  start: (w: World) => w.restart(),
  async backup(w: World) {
    const tar = join(await makeTempDir(), "backup.tar");
    await writeFile(tar, Buffer.from(await (await w.t.fetch("/api/backup")).arrayBuffer()));
    const dir = await makeTempDir();
    execFileSync("tar", ["xf", tar, "-C", dir]);
    w.backup = { dir, state: clone(w.now) };
  },
  async restore(w: World) {
    const { backup } = w;
    if (!backup) return;
    await w.restart(async () => {
      await rm(join(w.home, "data"), { recursive: true });
      execFileSync("cp", ["-a", backup.dir, join(w.home, "data")]);
    });
    w.now = clone(backup.state);
  },
  note: (w: World, { n, at }: Step) => w.mark(n, at % 2 ? undefined : at, { note: at % 5 === 0 ? "" : `note ${at}` }),
  tag: (w: World, { n, at }: Step) => w.mark(n, at % 2 ? at : undefined, { tags: [...(TAGS[at % 4] ?? [])] }),
  bookmark: (w: World, { n, at }: Step) => w.mark(n, at % 2 ? at : undefined, { bookmarked: at % 3 !== 0 }),
  async save(w: World, { at }: Step) {
    const name = `search ${at % 2}`;
    await w.t.send("PUT", "/api/searches", { name, query: `tag:one ${at}` });
    w.now.searches.set(name, `tag:one ${at}`);
  },
  async forget(w: World, { at }: Step) {
    const name = `search ${at % 2}`;
    await w.t.send("DELETE", `/api/searches?name=${encodeURIComponent(name)}`);
    w.now.searches.delete(name);
  },
} satisfies Record<string, (w: World, step: Step) => Promise<void>>;

it("survive any order of import, sync, deletion, re-import, association, backup, start and restore", async () => {
  const names = Object.keys(ACTS) as (keyof typeof ACTS)[];
  const step = fc.record({
    act: fc.constantFrom(...names),
    n: fc.integer({ min: 1, max: 2 }),
    at: fc.nat({ max: 11 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const home = await makeTempDir();
      const w = new World(home, await World.start(home));
      for (const n of [1, 2]) await w.write(n, ["alpha", "beta", "gamma"]);
      await w.importAll();
      for (const one of steps) {
        await ACTS[one.act](w, one);
        await w.compare();
      }
      for (const n of [1, 2]) await ACTS.reimport(w, { act: "reimport", n, at: 0 });
      await w.compare();
      await w.t.close();
    }),
    { numRuns: rounds(100, 12) },
  );
});
