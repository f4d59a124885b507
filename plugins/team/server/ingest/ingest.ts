/** Imports pushed sessions and removes withdrawn ones: one at a time over all nodes, several together where they wait. */
import {
  createKernel,
  type Database,
  isSessarcError,
  type Kernel,
  type Plugin,
  SessarcError,
  type Statement,
} from "sessarc";
import { canonicalJson, messageOf } from "#internal";
import { marks, pages } from "#internal/adapter";
import { createTurns } from "../../database/turns.ts";
import { textsOf, textsToImport } from "../../portable/read.ts";
import type { TeamWriter } from "../../types.ts";
import type { BlobStore } from "../blobs.ts";
import { type KernelParts, kernelConfig, NOBODY } from "../people/kernels.ts";
import type { Replaced } from "../replaced.ts";
import { toStorage } from "../storage.ts";
import { type Facts, idHere, type Pushed, pushedAdapter } from "./adapters.ts";
import { checkWeight, type Weight, weightOf } from "./limits.ts";
import { chunksOf, type PushedManifest } from "./manifest-schema.ts";
import { createQueue } from "./queue.ts";
import { createSwitch, reading } from "./switch.ts";

interface Push {
  person: string;
  machine: string;
  space: number;
  manifest: PushedManifest;
  digest: string;
}

interface PushOutcome {
  /** Id on the server. */
  id: string;
  digest: string;
  outcome: "imported" | "unchanged";
}

interface Removed {
  /** Id in the archive of the machine. */
  id: string;
  digest: string;
  at: string;
}

interface StoredSession {
  session: string;
  space: number;
  person: string;
  machine: string;
  digest: string;
  manifest: string;
  reader: string;
}

/** A session that was parsed again. */
interface Reread {
  id: string;
  /** What it was parsed from: if another push came meanwhile, nothing is stored. */
  digest: string;
  reader: string;
  manifest: PushedManifest;
  /** Of the adapter that parsed it. */
  version: string;
}

interface Job {
  /** Empty: the server's own. */
  person: string;
  run(writer: TeamWriter): Promise<void>;
  /** A push that may be imported together with others. */
  push?: WaitingPush;
  /** Runs beside the others instead, and takes the lock itself. `bytes`: of its messages, which are in memory compressed until they are stored. */
  beside?: { bytes: number; run(): Promise<void> } | undefined;
  fail(error: unknown): void;
}

interface WaitingPush {
  push: Push;
  done(outcome: PushOutcome): void;
  weight: Weight;
  /** Aborted when the machine that pushes is gone. */
  signal?: AbortSignal;
}

/** A session that is imported: which of its texts, and who waits for it. */
interface Open {
  id: string;
  push: Push;
  texts: number[];
  done(outcome: PushOutcome): void;
  fail(error: unknown): void;
  signal?: AbortSignal | undefined;
  /** Version of the adapter that made its messages, where it is not the manifest's. */
  reader?: string;
}

/** Characters of a problem. */
const MOST_PROBLEM = 500;
/** Pushes imported under one lock, and what they weigh: the others wait for a second. */
const TOGETHER = 24;
const WEIGHT_TOGETHER = 8 * 2 ** 20;
/** What weighs more is read beside the others, which do not wait for it. */
const LARGE = 4 * 2 ** 20;
/** Large sessions that are read at once, of different people, and their bytes, unless one alone has more. */
const LARGE_AT_ONCE = 2;
const LARGE_BYTES = 256 * 2 ** 20;
/** Of copies of a reply those in a space of the lowest rank count. */
const RANKS = { team: 0, project: 1, private: 2 } as const;
/** How long another node may hold the tenant's lock. */
const LOCK_MS = 60_000;

export type Ingest = ReturnType<typeof createIngest>;

export function createIngest(parts: KernelParts & { tenant: number; blobs: BlobStore; replaced: Replaced }) {
  const { database, bodies, plugins, config, log, tenant, blobs, replaced } = parts;
  const { owner } = database;
  const connection = createSwitch();
  /** What is being imported, by id on the server. */
  const current = new Map<string, Pushed>();
  /** Assistants that this version does not know, by name. */
  const unknown = new Map<string, Facts>();
  const queue = createQueue<Job>();
  /** Who writes next, on this node. */
  const turns = createTurns();
  let working: Promise<void> | undefined;
  const beside = new Set<Promise<void>>();
  let besideBytes = 0;
  let kernel: Kernel | undefined;
  let generation = -1;
  let withdrawing = false;
  const transcripts = replaced.transcripts(() => withdrawing);

  /** `find`: what is being imported, by id on the server. */
  const hooksOf = (find: (id: string) => Pushed | undefined): Plugin => ({
    name: "team-ingest",
    setup: (opened) => opened.provide("audiences", { of: audiencesOf }),
    hooks: {
      "session:write": ({ id, write }) => {
        const pushed = find(id);
        if (!pushed || pushed.text < textsOf(pushed.manifest).length - 1) return;
        const { project } = pushed.manifest;
        // With the session's row: a digest that is stored says that all of it is.
        write.push(
          [
            `update team_session set digest = ?, manifest = ?, root = ?, cwd = ?, project_name = ?, pushed_at = ?, reader = ?, log = ?, tried = '', problem = '', recount = 0
             where tenant = ? and session = ?`,
            [
              ...[pushed.digest, JSON.stringify(pushed.manifest), project.root ?? null, project.cwd ?? null],
              ...[project.name, new Date().toISOString(), pushed.reader, pushed.manifest.log ? 1 : 0, tenant, id],
            ],
          ],
          ["update session set name = ? where id = ?", [pushed.manifest.name, id]],
          ...(pushed.write ?? []),
        );
      },
      "session:erase": ({ ids, write }) => {
        // A session that is gone claims no reply: where another one has a copy, that one counts.
        write.push(...unclaim(ids), [
          `delete from team_session where tenant = ? and session in (${marks(ids)})`,
          [tenant, ...ids],
        ]);
      },
    },
  });

  /** Who has a project space reads the team's, and who has a private one both. */
  async function audiencesOf(ids: readonly string[]) {
    const found = new Map<string, { space: number; rank: number }>();
    for (const page of pages(ids, 500)) {
      const rows = await owner.all<{ session: string; space: number; kind: keyof typeof RANKS }>(
        `select t.session, t.space, s.kind from team_session t join team_space s on s.tenant = t.tenant and s.id = t.space
         where t.tenant = ? and t.session in (${marks(page)})`,
        [tenant, ...page],
      );
      for (const { session, space, kind } of rows) found.set(session, { space, rank: RANKS[kind] });
    }
    return found;
  }

  async function openKernel(db: Database, find: (id: string) => Pushed | undefined): Promise<Kernel> {
    const pushed = { find, load: blobs.load };
    return createKernel({
      config: kernelConfig(config, bodies),
      storage: toStorage(db, { ...bodies, transcripts }, false),
      plugins: [
        ...[...plugins.assistants, ...unknown.values()].map((facts) => pushedAdapter(facts, pushed)),
        ...plugins.ingest,
        hooksOf(find),
      ],
      partial: true,
      env: NOBODY,
      log,
    });
  }

  async function close(old: Kernel | undefined): Promise<void> {
    await old?.close().catch((error: unknown) => log(`The importing kernel did not close: ${messageOf(error)}`));
  }

  async function closeKernel(): Promise<void> {
    const old = kernel;
    kernel = undefined;
    await close(old);
  }

  /** True: some of these assistants were unknown, so a kernel that is open lacks them. */
  function learn(tools: Iterable<Facts>): boolean {
    const known = new Set([...plugins.assistants, ...unknown.values()].map(({ name }) => name));
    let isNew = false;
    for (const facts of tools) {
      if (known.has(facts.name)) continue;
      unknown.set(facts.name, facts);
      isNew = true;
    }
    return isNew;
  }

  /** The importing kernel. It caches who owns which reply: after another one wrote, it is opened again. */
  async function kernelFor(tools: Iterable<Facts>): Promise<Kernel> {
    if (learn(tools)) await closeKernel();
    kernel ??= await openKernel(connection.db, (id) => current.get(id));
    return kernel;
  }

  /** The tenant's lock, in the order of the calls on this node. */
  async function lock(): Promise<TeamWriter> {
    const free = await turns.take(tenant, LOCK_MS);
    try {
      const { db, release } = await database.write(tenant, LOCK_MS);
      return { db, release: () => release().finally(free) };
    } catch (error) {
      free();
      throw error;
    }
  }

  async function locked<T>(work: (writer: TeamWriter) => Promise<T>): Promise<T> {
    const writer = await lock();
    connection.use(writer.db);
    try {
      if (kernel && generation !== (await database.generation(tenant))) await closeKernel();
      const answer = await work(writer);
      generation = await database.generation(tenant);
      return answer;
    } catch (error) {
      // What its caches hold may not be stored.
      generation = -1;
      throw error;
    } finally {
      if (generation === -1) await closeKernel();
      connection.use(undefined);
      await writer.release();
    }
  }

  const canStart = ({ beside: large }: Job) =>
    !large || beside.size === 0 || (beside.size < LARGE_AT_ONCE && besideBytes + large.bytes <= LARGE_BYTES);

  async function work(): Promise<void> {
    for (;;) {
      const first = queue.take(canStart);
      if (!first) return;
      if (first.beside) {
        goBeside(first, first.beside);
        continue;
      }
      const jobs = [first];
      // The same session twice is two imports.
      const ids = new Set(first.push ? [idOf(first.push.push)] : []);
      let weight = first.push?.weight.sum ?? 0;
      const fits = ({ push, beside }: Job) =>
        push !== undefined && !beside && !ids.has(idOf(push.push)) && weight + push.weight.sum <= WEIGHT_TOGETHER;
      while (first.push && jobs.length < TOGETHER) {
        const next = queue.take(fits);
        if (!next?.push) break;
        ids.add(idOf(next.push.push));
        weight += next.push.weight.sum;
        jobs.push(next);
      }
      try {
        await locked((writer) => (first.push ? importAll(writer, jobs) : first.run(writer)));
      } catch (error) {
        for (const job of jobs) job.fail(error);
      }
    }
  }

  function wake(): void {
    working ??= work().finally(() => {
      working = undefined;
      // What was added since the queue was found empty.
      if (queue.size > 0 && beside.size === 0) wake();
    });
  }

  function enqueue(job: Job): void {
    queue.add(job);
    wake();
  }

  /** The person's next jobs wait for it, the others' do not. */
  function goBeside(job: Job, { bytes, run }: NonNullable<Job["beside"]>): void {
    queue.hold(job.person);
    besideBytes += bytes;
    const running = run()
      .catch((error: unknown) => job.fail(error))
      .finally(() => {
        beside.delete(running);
        besideBytes -= bytes;
        queue.free(job.person);
        wake();
      });
    beside.add(running);
  }

  async function stored(ids: readonly string[]): Promise<Map<string, StoredSession>> {
    const rows = await owner.all<StoredSession>(
      `select session, space, person, machine, digest, manifest, reader from team_session where tenant = ? and session in (${marks(ids)})`,
      [tenant, ...ids],
    );
    return new Map(rows.map((row) => [row.session, row]));
  }

  /** What of the pushes is to be imported, with its rows in `team_session`. Rows of another space are removed. */
  async function begin({ db }: TeamWriter, jobs: readonly Job[]): Promise<Open[]> {
    const before = await stored(jobs.flatMap(({ push }) => (push ? idOf(push.push) : [])));
    const open: Open[] = [];
    const moved: string[] = [];
    for (const { push: waits, fail } of jobs) {
      if (!waits) continue;
      const { push, done, signal } = waits;
      const id = idOf(push);
      const known = before.get(id);
      if (known?.digest === push.digest && known.space === push.space) {
        done({ id, digest: push.digest, outcome: "unchanged" });
        continue;
      }
      if (known && known.space !== push.space) moved.push(id);
      const past =
        known && known.space === push.space && known.manifest
          ? (JSON.parse(known.manifest) as PushedManifest)
          : undefined;
      open.push({ id, push, done, fail, signal, texts: textsToImport(past, push.manifest) });
    }
    if (open.length === 0) return open;
    // Rows of another space are removed, and written again in this one. Sub-agents go with them, and are written again where they were.
    if (moved.length > 0)
      await erase(await kernelFor([]), moved, async (_, erased) => {
        for (const row of erased) {
          const pushed = open.find(({ id }) => id === row.session);
          if (pushed) pushed.texts = textsToImport(undefined, pushed.push.manifest);
          if (pushed || row.manifest === "") continue;
          const push = { ...row, manifest: JSON.parse(row.manifest) as PushedManifest };
          const fail = (error: unknown) => log(`${row.session} comes back with the next push: ${messageOf(error)}`);
          const weight = await weigh(push);
          const waits = { push, done: () => {}, weight };
          if (isLarge(waits)) enqueue(jobOf(waits, fail));
          else
            open.push({ id: row.session, push, done: () => {}, fail, texts: textsToImport(undefined, push.manifest) });
        }
      });
    await db.batch(
      open.map(
        ({ id, push }): Statement => [
          `insert into team_session (tenant, session, space, person, machine, digest, manifest, project_name, pushed_at)
           values (?, ?, ?, ?, ?, '', '', ?, ?) on conflict (tenant, session) do nothing`,
          [tenant, id, push.space, push.person, push.machine, push.manifest.project.name, new Date().toISOString()],
        ],
      ),
    );
    for (const { id, push } of open) await blobs.use(id, chunksOf(push.manifest));
    return open;
  }

  const jobOf = (push: WaitingPush, fail: (error: unknown) => void): Job => {
    const job: Job = { person: push.push.person, push, fail, run: async () => {} };
    return isLarge(push) ? { ...job, beside: { bytes: push.weight.bytes, run: () => importLarge(job, push) } } : job;
  };

  const toPushed = ({ push, signal, reader }: Pick<Open, "push" | "signal" | "reader">, text: number): Pushed => ({
    machine: push.machine,
    manifest: push.manifest,
    digest: push.digest,
    text,
    reader: reader ?? push.manifest.log?.version ?? "",
    signal,
  });

  async function importAll(writer: TeamWriter, jobs: readonly Job[]): Promise<void> {
    const open = await begin(writer, jobs);
    if (open.length === 0) return;
    const used = await kernelFor(open.map(factsOf));
    const failed = new Map<string, unknown>();
    for (let round = 0; open.some(({ texts }) => round < texts.length); round++) {
      const turn = open.filter(({ id, texts }) => round < texts.length && !failed.has(id));
      for (const one of turn) current.set(one.id, toPushed(one, one.texts[round] ?? 0));
      try {
        const report = await used.inject("importer").runFound(
          turn.flatMap(({ id, push, texts }) => found(used, id, push, texts[round] ?? 0)),
          new Set(turn.map(({ id }) => id)),
        );
        for (const { id, message } of report.failed) failed.set(id, current.get(id)?.problem ?? message);
      } finally {
        for (const { id } of turn) current.delete(id);
      }
    }
    for (const one of open) await end(one, failed.get(one.id));
  }

  /** Reports what became of it. */
  async function end({ id, push, done, fail }: Open, problem: unknown): Promise<void> {
    if (problem === undefined) {
      await blobs.release(push.person, id, chunksOf(push.manifest));
      await owner.run("delete from team_withdrawn where tenant = ? and session = ?", [tenant, id]);
      done({ id, digest: push.digest, outcome: "imported" });
    } else if (typeof problem === "string")
      fail(new SessarcError("TEAM_PUSH_FAILED", { id: push.manifest.id, reason: problem }));
    else if (isSessarcError(problem) && problem.code === "TEAM_BLOBS_MISSING") {
      const missing = await blobs.missing(push.person, chunksOf(push.manifest));
      fail(new SessarcError("TEAM_BLOBS_MISSING", { missing: missing.join(", ") }));
    } else fail(problem);
  }

  /** A large session is read without the tenant's lock, by a kernel that knows nothing yet, and stored under it. */
  async function importLarge(job: Job, waits: WaitingPush): Promise<void> {
    const open = await locked((writer) => begin(writer, [job]));
    for (const one of open) {
      learn([factsOf(one)]);
      let problem: unknown;
      for (const text of one.texts) {
        waits.signal?.throwIfAborted();
        problem = await readBeside(one, text);
        if (problem !== undefined) break;
      }
      await locked(() => end(one, problem));
    }
  }

  /** Imports one text. Answers why it could not. */
  async function readBeside(
    { id, push, signal, reader }: Pick<Open, "id" | "push" | "signal" | "reader">,
    text: number,
  ): Promise<unknown> {
    const change = createSwitch();
    const began = performance.now();
    /** What may not change until it is stored. */
    const stateOf = async () => {
      const [row, session] = [
        (await stored([id])).get(id),
        await owner.get<{ generation: number }>("select generation from session where tenant = ? and id = ?", [
          tenant,
          id,
        ]),
      ];
      return JSON.stringify([row?.space, row?.digest, row?.reader, session?.generation]);
    };
    let writer: TeamWriter | undefined;
    let before = "";
    const pushed: Pushed = {
      ...toPushed({ push, signal, reader }, text),
      whole: async () => {
        writer = await lock();
        change.use(writer.db);
        if ((await stateOf()) !== before)
          throw new SessarcError("TEAM_BUSY", { ms: Math.round(performance.now() - began) });
      },
    };
    const used = await locked(async ({ db }) => {
      change.use(db);
      before = await stateOf();
      return openKernel(change.db, (one) => (one === id ? pushed : undefined));
    });
    change.use(reading(database.reader(tenant)));
    try {
      const report = await used.inject("importer").runFound(found(used, id, push, text), new Set([id]));
      const [failed] = report.failed;
      return failed && (pushed.problem ?? failed.message);
    } catch (error) {
      return pushed.problem ?? error;
    } finally {
      await close(used);
      change.use(undefined);
      await writer?.release();
    }
  }

  /** What a push weighs: more than a machine sends is refused by TEAM_SESSION_TOO_LARGE, what is missing by TEAM_BLOBS_MISSING. */
  async function weigh({ person, manifest }: Push): Promise<Weight> {
    const chunks = chunksOf(manifest);
    const sizes = await blobs.sizes(person, chunks);
    const missing = chunks.filter((sha256) => !sizes.has(sha256));
    if (missing.length > 0) throw new SessarcError("TEAM_BLOBS_MISSING", { missing: missing.join(", ") });
    return weightOf(manifest, sizes);
  }

  function found(used: Kernel, id: string, { manifest, digest }: Push, text: number) {
    const adapter = used.registry.adapters.get(manifest.tool);
    if (!adapter) return [];
    const key = id.slice(manifest.tool.length + 1);
    // Each text is another version of the log. A path is asked for by the archive; there is no file.
    const ref = { tool: manifest.tool, key, path: id, version: `${digest}/${text}`, born: manifest.born };
    return [{ id, ref, adapter, root: "", stored: "not" as const }];
  }

  /**
   * Sessions, and the sub-agents that go with them, out of every table. Sessions that share replies with them count those from now on.
   * `before` is called with each of `ids` and the sessions that are about to be removed with it.
   */
  async function erase(
    used: Kernel,
    ids: readonly string[],
    before: (id: string, erased: readonly StoredSession[]) => Promise<void>,
  ): Promise<void> {
    const gone: string[] = [];
    let now = "";
    const off = used.hooks.hook("session:erase", async ({ ids: all, write }) => {
      gone.push(...all);
      await before(now, [...(await stored(all)).values()]);
      write.push(...(await toRecount(used, all)));
    });
    try {
      for (const id of ids) {
        if (gone.includes(id)) continue;
        now = id;
        const answer = await used.fetch(`/api/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
        if (answer.status !== 200 && answer.status !== 404)
          throw new SessarcError("TEAM_PUSH_FAILED", { id, reason: `removing it answered ${answer.status}` });
      }
    } finally {
      off();
    }
    await recount();
  }

  /** Marks the sessions that have replies of `ids`, in the transaction in which `ids` lose them: a kill before `recount` loses nothing. */
  async function toRecount(used: Kernel, ids: readonly string[]): Promise<Statement[]> {
    const rows = await used.storage.db.all<{ session_id: string }>(
      `select distinct s.session_id from session_replies mine
       join reply r on r.book = mine.n join reply o on o.hash = r.hash and o.book <> r.book
       join session_replies s on s.n = o.book
       where mine.session_id in (${marks(ids)})`,
      ids,
    );
    const sharers = rows.flatMap(({ session_id }) => (ids.includes(session_id) ? [] : session_id));
    return sharers.map((session) => [
      "update team_session set recount = 1 where tenant = ? and session = ?",
      [tenant, session],
    ]);
  }

  /** Counts the replies of marked sessions again. */
  async function recount(): Promise<void> {
    const marked = await owner.all<{ session: string }>(
      "select session from team_session where tenant = ? and recount = 1 and manifest <> ''",
      [tenant],
    );
    for (const some of pages(marked, TOGETHER)) await recountSome(some.map(({ session }) => session));
  }

  async function recountSome(ids: readonly string[]): Promise<void> {
    const rows = [...(await stored(ids)).values()];
    const pushes: { id: string; push: Push & Pick<StoredSession, "reader"> }[] = [];
    for (const { session, ...row } of rows) {
      const push = { ...row, manifest: JSON.parse(row.manifest) as PushedManifest };
      const weight = await weigh(push);
      if (isLarge({ weight })) enqueue(recountJob(session, push, weight.bytes));
      else pushes.push({ id: session, push });
    }
    if (pushes.length === 0) return;
    const used = await kernelFor(pushes.map(factsOf));
    await used.storage.db.batch(
      pushes.map(({ id }): Statement => ["update session set format = 0 where id = ?", [id]]),
    );
    for (const { id, push } of pushes) current.set(id, { ...push, text: textsOf(push.manifest).length - 1 });
    try {
      await used.inject("importer").runFound(
        pushes.flatMap(({ id, push }) => found(used, id, push, textsOf(push.manifest).length - 1)),
        new Set(),
      );
    } finally {
      for (const { id } of pushes) current.delete(id);
    }
  }

  /** Of a large session. Its mark stays until it is counted. */
  function recountJob(id: string, push: Push & Pick<StoredSession, "reader">, bytes: number): Job {
    const fail = (error: unknown) => log(`The replies of ${id} are counted later: ${messageOf(error)}`);
    const run = async () => {
      await locked(({ db }) => db.batch([["update session set format = 0 where id = ?", [id]]]));
      const last = textsOf(push.manifest).length - 1;
      const problem = await readBeside({ id, push, reader: push.reader }, last);
      if (problem !== undefined) throw problem;
    };
    return { person: push.person, fail, run: async () => {}, beside: { bytes, run } };
  }

  async function storeReread({ id, digest, reader, manifest, version }: Reread): Promise<boolean> {
    const row = (await stored([id])).get(id);
    if (!row || row.digest !== digest || row.reader !== reader) return false;
    const before = JSON.parse(row.manifest) as PushedManifest;
    if (canonicalJson(before) === canonicalJson(manifest)) {
      await connection.db.run(
        "update team_session set reader = ?, tried = '', problem = '' where tenant = ? and session = ?",
        [version, tenant, id],
      );
      return true;
    }
    const used = await kernelFor([{ name: manifest.tool, label: manifest.toolLabel }]);
    await blobs.use(id, chunksOf(manifest));
    // Replies that it no longer has count at a session that also has them.
    const counted = before.replies.join() !== manifest.replies.join();
    const write = counted ? await toRecount(used, [id]) : [];
    if (manifest.replies.length === 0) write.push(...unclaim([id]));
    const last = textsOf(manifest).length - 1;
    current.set(id, { machine: row.machine, manifest, digest, text: last, reader: version, write });
    const push = { ...row, manifest };
    await used.storage.db.batch([["update session set format = 0 where id = ?", [id]]]);
    try {
      const report = await used.inject("importer").runFound(found(used, id, push, last), new Set([id]));
      const [failed] = report.failed;
      if (failed) throw new SessarcError("TEAM_PUSH_FAILED", { id, reason: failed.message });
    } finally {
      current.delete(id);
    }
    await blobs.release(row.person, id, chunksOf(manifest));
    if (!counted) return true;
    await recount();
    return true;
  }

  return {
    /** Imports a session; resolves after the commit. All its chunks must be there: TEAM_BLOBS_MISSING names the others. */
    async push(push: Push, again: boolean, signal: AbortSignal): Promise<PushOutcome> {
      const id = idOf(push);
      const [withdrawn, known] = await Promise.all([
        owner.get("select 1 from team_withdrawn where tenant = ? and session = ?", [tenant, id]),
        stored([id]),
      ]);
      if (withdrawn && !again) throw new SessarcError("TEAM_WITHDRAWN", { id: push.manifest.id });
      const now = known.get(id);
      if (now && now.digest === push.digest && now.space === push.space)
        return { id, digest: push.digest, outcome: "unchanged" };
      const weight = await weigh(push);
      checkWeight(push.manifest.id, weight);
      signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        const give = () => void (queue.drop(job) && job.fail(signal.reason));
        const settle = () => signal.removeEventListener("abort", give);
        const done = (outcome: PushOutcome) => {
          settle();
          resolve(outcome);
        };
        const fail = (error: unknown) => {
          settle();
          reject(error);
        };
        const job = jobOf({ push, done, weight, signal }, fail);
        signal.addEventListener("abort", give, { once: true });
        enqueue(job);
      });
    },

    /**
     * Removes sessions of a machine everywhere, with their sub-agents. Ids that were never there are in no receipt; of those that were
     * withdrawn already it has what the first withdrawal removed.
     */
    withdraw(person: string, machine: string, ids: readonly string[]): Promise<Removed[]> {
      return new Promise((done, fail) =>
        enqueue({
          person,
          fail,
          run: async () => {
            const wanted = ids.map((id) => idHere(machine, id));
            const before = await stored(wanted);
            // Committed before the rows go: what is removed half is finished by the next request, which answers the same receipt, and no
            // push brings it back until then.
            const at = Date.now();
            const note = (session: string, digest: string, root: string): Statement => [
              `insert into team_withdrawn (tenant, session, digest, at, root) values (?, ?, ?, ?, ?) on conflict (tenant, session) do nothing`,
              [tenant, session, digest, at, root],
            ];
            await owner.batch([...before].map(([session, { digest }]) => note(session, digest, session)));
            if (before.size > 0) {
              const used = await kernelFor([]);
              withdrawing = true;
              await erase(used, [...before.keys()], (root, erased) =>
                owner.batch(erased.map(({ session, digest }) => note(session, digest, root))),
              ).finally(() => {
                withdrawing = false;
              });
            }
            const noted = await owner.all<{ session: string; digest: string; at: number }>(
              `select session, digest, at from team_withdrawn
               where tenant = ? and (session in (${marks(wanted)}) or root in (${marks(wanted)})) order by session`,
              [tenant, ...wanted, ...wanted],
            );
            const removed: Removed[] = [];
            for (const { session, digest, at } of noted) {
              // Rows that an interrupted push left have no session that would be erased.
              await connection.db.run("delete from team_session where tenant = ? and session = ?", [tenant, session]);
              await blobs.release(person, session);
              await replaced.withdraw(session);
              removed.push({ id: session.replace(`:${machine}~`, ":"), digest, at: new Date(at).toISOString() });
            }
            done(removed);
          },
        }),
      );
    },

    /** Stores a session that was parsed again, or only that it says the same (`manifest` is the stored one). False: it changed meanwhile. */
    reread(reread: Reread): Promise<boolean> {
      return new Promise((done, fail) =>
        enqueue({ person: "", fail, run: async () => done(await storeReread(reread)) }),
      );
    },

    /** Notes that a log could not be parsed again. */
    noteProblem(id: string, digest: string, version: string, problem: string): Promise<void> {
      return new Promise((done, fail) =>
        enqueue({
          person: "",
          fail,
          run: async ({ db }) => {
            await db.run(
              "update team_session set tried = ?, problem = ? where tenant = ? and session = ? and digest = ?",
              [version, problem.slice(0, MOST_PROBLEM), tenant, id, digest],
            );
            done();
          },
        }),
      );
    },

    /** Does `work` while no import is under way on any node. */
    alone(work: () => Promise<void>): Promise<void> {
      return new Promise((done, fail) => enqueue({ person: "", fail, run: () => work().then(done) }));
    },

    /** Removes imports that began before `until` (ms) and never ended, and what names chunks for sessions that are gone. */
    removeHalf(until: number): Promise<void> {
      return this.alone(async () => {
        const rows = await owner.all<{ session: string; person: string }>(
          "select session, person from team_session where tenant = ? and digest = '' and pushed_at < ?",
          [tenant, new Date(until).toISOString()],
        );
        // Of some of them an earlier text is there.
        if (rows.length > 0)
          await erase(
            await kernelFor([]),
            rows.map(({ session }) => session),
            async () => {},
          );
        for (const { session, person } of rows) {
          await connection.db.run("delete from team_session where tenant = ? and session = ?", [tenant, session]);
          await blobs.release(person, session);
        }
        await owner.run(
          `delete from team_session_blob u where u.tenant = ? and not exists (
             select 1 from team_session s where s.tenant = u.tenant and s.session = u.session)`,
          [tenant],
        );
      });
    },

    /** Finishes the counting that a kill interrupted. */
    async settle(): Promise<void> {
      const open = await owner.get("select 1 from team_session where tenant = ? and recount = 1 limit 1", [tenant]);
      if (open) await new Promise<void>((done, fail) => enqueue({ person: "", fail, run: () => recount().then(done) }));
    },

    get waiting(): number {
      return queue.size;
    },

    async close(): Promise<void> {
      while (working || beside.size > 0) await Promise.all([working, ...beside]);
      await closeKernel();
    },
  };
}

/** The sessions claim no reply any more. */
const unclaim = (ids: readonly string[]): Statement[] => [
  [`delete from reply where book in (select n from session_replies where session_id in (${marks(ids)}))`, [...ids]],
  [`delete from session_replies where session_id in (${marks(ids)})`, [...ids]],
];

const isLarge = ({ weight }: Pick<WaitingPush, "weight">): boolean => weight.sum > LARGE;
const factsOf = ({ push: { manifest } }: Pick<Open, "push">): Facts => ({
  name: manifest.tool,
  label: manifest.toolLabel,
});

const idOf = ({ machine, manifest }: Push): string => idHere(machine, manifest.id);
