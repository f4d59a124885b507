/** Imports pushed sessions: several together where they wait, large ones beside the others. */
import { isSessarcError, SessarcError, type Statement, toMessage } from "sessarc";
import { textsToImport } from "../../portable/read.ts";
import type { TeamWriter } from "../../types.ts";
import type { Erase } from "./erase.ts";
import type { Job, Jobs, PushOutcome, WaitingPush } from "./jobs.ts";
import type { ImportKernel, ImportParts } from "./kernel.ts";
import { checkWeight } from "./limits.ts";
import { type PushedManifest, toChunks } from "./manifest-schema.ts";
import { type Push, type ReadStored, toFacts, toId } from "./sessions.ts";
import { findText, type Importing, type ReadBeside, toPushed } from "./text.ts";
import { isLarge, type Weigh } from "./weigh.ts";

/** A session that is imported: which of its texts, and who waits for it. */
interface Open extends Importing {
  texts: number[];
  done(outcome: PushOutcome): void;
  fail(error: unknown): void;
}

export function createImport(
  { database, tenant, blobs, log }: Pick<ImportParts, "database" | "tenant" | "blobs" | "log">,
  {
    importing,
    jobs,
    stored,
    weigh,
    readBeside,
    erasing,
  }: {
    importing: ImportKernel;
    jobs: Jobs;
    stored: ReadStored;
    weigh: Weigh;
    readBeside: ReadBeside;
    erasing: Erase;
  },
) {
  const { owner } = database;
  const { current, kernelFor, learn, locked } = importing;

  /** Imports a session; resolves after the commit. All its chunks must be there: TEAM_BLOBS_MISSING names the others. */
  async function push(push: Push, again: boolean, signal: AbortSignal): Promise<PushOutcome> {
    const id = toId(push);
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
      const give = () => void (jobs.drop(job) && job.fail(signal.reason));
      const settle = () => signal.removeEventListener("abort", give);
      const done = (outcome: PushOutcome) => {
        settle();
        resolve(outcome);
      };
      const fail = (error: unknown) => {
        settle();
        reject(error);
      };
      const job = toJob({ push, weight, done, fail, signal });
      signal.addEventListener("abort", give, { once: true });
      jobs.add(job);
    });
  }

  const toJob = (push: WaitingPush): Job => ({
    person: push.push.person,
    push,
    fail: push.fail,
    run: importAll,
    ...(isLarge(push.weight) && { beside: { bytes: push.weight.bytes, run: () => importLarge(push) } }),
  });

  async function importAll(writer: TeamWriter, pushes: readonly WaitingPush[]): Promise<void> {
    const open = await begin(writer, pushes);
    if (open.length === 0) return;
    const used = await kernelFor(open.map(toFacts));
    const failed = new Map<string, unknown>();
    for (let round = 0; open.some(({ texts }) => round < texts.length); round++) {
      const turn = open.filter(({ id, texts }) => round < texts.length && !failed.has(id));
      for (const one of turn) current.set(one.id, toPushed(one, one.texts[round] ?? 0));
      try {
        const report = await used.inject("importer").runFound(
          turn.flatMap(({ id, push, texts }) => findText(used, id, push, texts[round] ?? 0)),
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
      await blobs.release(push.person, id, toChunks(push.manifest));
      await owner.run("delete from team_withdrawn where tenant = ? and session = ?", [tenant, id]);
      done({ id, digest: push.digest, outcome: "imported" });
    } else if (typeof problem === "string")
      fail(new SessarcError("TEAM_PUSH_FAILED", { id: push.manifest.id, reason: problem }));
    else if (isSessarcError(problem) && problem.code === "TEAM_BLOBS_MISSING") {
      const missing = await blobs.missing(push.person, toChunks(push.manifest));
      fail(new SessarcError("TEAM_BLOBS_MISSING", { missing: missing.join(", ") }));
    } else fail(problem);
  }

  /** A large session is read without the tenant's lock, by a kernel that knows nothing yet, and stored under it. */
  async function importLarge(waits: WaitingPush): Promise<void> {
    const open = await locked((writer) => begin(writer, [waits]));
    for (const one of open) {
      learn([toFacts(one)]);
      let problem: unknown;
      for (const text of one.texts) {
        waits.signal?.throwIfAborted();
        problem = await readBeside(one, text);
        if (problem !== undefined) break;
      }
      await locked(() => end(one, problem));
    }
  }

  /** What of the pushes is to be imported, with its rows in `team_session`. Rows of another space are removed. */
  async function begin({ db }: TeamWriter, pushes: readonly WaitingPush[]): Promise<Open[]> {
    const before = await stored(pushes.map(({ push }) => toId(push)));
    const open: Open[] = [];
    const moved: string[] = [];
    for (const { push, done, fail, signal } of pushes) {
      const id = toId(push);
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
      await erasing.erase(await kernelFor([]), moved, async (_, erased) => {
        for (const row of erased) {
          const pushed = open.find(({ id }) => id === row.session);
          if (pushed) pushed.texts = textsToImport(undefined, pushed.push.manifest);
          if (pushed || row.manifest === "") continue;
          const push = { ...row, manifest: JSON.parse(row.manifest) as PushedManifest };
          const fail = (error: unknown) => log(`${row.session} comes back with the next push: ${toMessage(error)}`);
          const weight = await weigh(push);
          if (isLarge(weight)) jobs.add(toJob({ push, weight, done: () => {}, fail }));
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
    for (const { id, push } of open) await blobs.use(id, toChunks(push.manifest));
    return open;
  }

  return { push };
}
