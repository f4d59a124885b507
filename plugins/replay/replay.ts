/** Service "replay": sandboxes of sessions and the steps done in them. One thing at a time happens to a sandbox. */
import { join } from "node:path";
import { type Kernel, type Services, SessarcError } from "sessarc";
import type { ToolAction } from "sessarc/adapter";
import { compareTrees, type EndState } from "./end-state.ts";
import { createIsolationProbe, type ReplayOptions, SANDBOX_BYTES } from "./options.ts";
import { isDue } from "./plan/failed.ts";
import { type Plan, type PlannedStep, type StepState, toKey } from "./plan/types.ts";
import { type StepReport, stepResult } from "./report.ts";
import type { Isolation } from "./run/isolation.ts";
import { openBrowser } from "./run/open.ts";
import { createBudgets } from "./sandbox/budget.ts";
import { layOver } from "./sandbox/overlay.ts";
import { openSandbox, seedSandbox, toFolder } from "./sandbox/sandbox.ts";
import { createSweeper } from "./sandbox/sweep.ts";
import { FILE_LIMIT } from "./sandbox/tree.ts";
import { type Base, createSessionReader } from "./session.ts";
import { takeBack } from "./steps/back.ts";
import { readEffect } from "./steps/effect.ts";
import { type Preview, readPreview } from "./steps/preview.ts";
import { createStepper, type SandboxState, type StepRequest, unisolatedReach } from "./steps/step.ts";
import { createReplayStore, type SandboxRow, type StepRow } from "./store.ts";
import {
  checkRerun,
  type Ground,
  lastResult,
  type RerunPlan,
  type RerunRequest,
  readPrompts,
  rerun,
  type Trial,
  type TrialRequest,
} from "./with/rerun.ts";
import { createRuns } from "./with/runs.ts";

export interface SandboxInfo {
  path: string;
  base: Base | null;
  /** Files it was filled with. */
  files: number;
  /** What it lacks or has beside the commit, in sentences. */
  notes: string[];
  unisolated: boolean;
  createdAt: string;
}

export interface StepView extends Omit<PlannedStep, "actions" | "fingerprint" | "words" | "cwd"> {
  state: StepState;
  /** False for a step that the replay passes over: it cannot be replayed, or is an edit that failed when it was recorded. */
  due: boolean;
  /** Result of the step in the sandbox; null while it is pending. */
  result: StepReport | null;
}

export interface PlanReport {
  session: Awaited<ReturnType<Services["archive"]["session"]>>;
  sandbox: SandboxInfo | null;
  base: Base | null;
  steps: StepView[];
  /** `seq` and `source` of the step that comes next; null at the end. */
  next: { seq: number; source: string | null } | null;
  isolation: { kind: Isolation["kind"]; reason: string | null };
}

export interface Replay {
  plan(id: string): Promise<PlanReport>;
  start(id: string, allowUnisolated: boolean): Promise<SandboxInfo & { sandbox: string; isolation: Isolation["kind"] }>;
  preview(id: string, seq: number, source: string | null): Promise<Preview>;
  step(id: string, request: StepRequest): Promise<StepReport>;
  /** Takes the last step back. `seq`: what the caller believes is the last one. */
  back(
    id: string,
    seq?: number,
    source?: string | null,
  ): Promise<{ seq: number; source: string | null; restored: string[] }>;
  /** The sandbox beside the commit the session led to, file by file. */
  endState(id: string): Promise<EndState>;
  open(id: string): Promise<{ opened: true; path: string }>;
  /** What another assistant would be given, and the result of its last run. */
  rerunPlan(id: string): Promise<RerunPlan>;
  /**
   * Begins to give the session's prompts to an assistant, in a separate sandbox; `rerunPlan` has the result. Throws
   * REPLAY_WITH_NOT_CONFIRMED, REPLAY_WITH_RUNNING and what keeps a command from running, before anything is made.
   */
  startRerun(id: string, request: RerunRequest): Promise<{ started: true }>;
  /**
   * Gives one prompt of a session to an assistant and waits for its end, in a sandbox that no other run has; the next trial of the session
   * replaces it. Throws what `startRerun` throws, and REPLAY_NOT_A_FILE for a folder or device in place of the file.
   */
  trial(id: string, request: TrialRequest, signal: AbortSignal): Promise<Trial>;
  /** Ends a run that is under way. */
  stopRerun(id: string): Promise<{ stopped: boolean }>;
  /** What calls make of files: undefined where they do not fit. Paths are as the actions name them; null: no such file. Nothing is written. */
  effect(
    actions: readonly ToolAction[],
    read: (path: string) => Promise<Buffer | null>,
  ): Promise<{ path: string; after: Buffer | null }[] | undefined>;
  /** How commands are isolated; undefined until something needed to know, since a program is started to find out. */
  readonly triedIsolation: Isolation | undefined;
  /** Removes sandboxes that are too many, too large, or of sessions that are gone. */
  sweep(): Promise<void>;
}

/** No session's id holds a blank. */
const rerunKey = (id: string) => `${id} with`;
const trialKey = (id: string) => `${id} trial`;

const SWEEP_AFTER_MS = 10_000;

export function createReplay(kernel: Kernel, options: ReplayOptions = {}): Replay {
  const home = kernel.storage.path("replay");
  const store = createReplayStore(kernel.storage.db);
  const sessions = createSessionReader(kernel);
  const probe = createIsolationProbe(kernel, options);
  let triedIsolation: Isolation | undefined;
  const isolation = async () => {
    triedIsolation = await probe();
    return triedIsolation;
  };
  const sweep = createSweeper(home, store, options, async (error) => {
    // One that the end of the service cuts off is gone on with at the next start.
    if (!kernel.closing.aborted) await kernel.notify("listener:failed", error, { hook: "replay" });
  });
  const git = () => kernel.find("git");
  const turns = new Map<string, Promise<unknown>>();
  let soon: NodeJS.Timeout | undefined;

  /** After everything asked of this sandbox before. */
  function alone<T>(id: string, task: () => Promise<T>): Promise<T> {
    const turn = (turns.get(id) ?? Promise.resolve()).then(task, task);
    turns.set(id, turn);
    const done = () => turns.get(id) === turn && turns.delete(id);
    turn.then(done, done);
    return turn;
  }

  /** Looking at all sandboxes is no hurry, and the first steps come now. */
  const later = (task: () => Promise<void>) => {
    clearTimeout(soon);
    soon = setTimeout(() => void task(), SWEEP_AFTER_MS);
    soon.unref();
  };
  kernel.onClose(() => clearTimeout(soon));

  const toPlace = (row: SandboxRow) => join(home, row.folder);
  const toReader = (row: SandboxRow) => async (hash: string) =>
    row.repository === null ? undefined : git()?.object(row.repository, hash, FILE_LIMIT);

  /** The sandbox, with what an unfinished step left put back. Throws REPLAY_NOT_STARTED. */
  async function opened(id: string): Promise<SandboxState & { done: StepRow[] }> {
    const session = await sessions.session(id);
    const row = await store.sandbox(id);
    if (!row) throw new SessarcError("REPLAY_NOT_STARTED", { id });
    const sandbox = openSandbox(toPlace(row));
    const plan = await sessions.plan(session);
    let done = await store.steps(id);
    for (const broken of done.filter((step) => step.state === "running"))
      await takeBack({ store, sandbox, readObject: toReader(row) }, broken);
    done = await store.steps(id);
    const known = new Map(plan.steps.map((step) => [toKey(step), step.fingerprint]));
    if (done.some((step) => known.get(step.step) !== step.fingerprint)) throw new SessarcError("REPLAY_STALE", { id });
    await store.used(id, Date.now());
    return { row, sandbox, plan, done, quota: toBudget(toPlace(row)) };
  }

  const bytes = options.sandboxBytes ?? SANDBOX_BYTES;
  const toBudget = createBudgets(bytes);

  const findOutcome = async (id: string, base: Base | null) =>
    base && (await sessions.outcome(await sessions.session(id), base));

  /** A fresh sandbox at the session's starting commit, in place of an earlier one of that key. */
  async function seeded(key: string, id: string, unisolated: boolean): Promise<SandboxRow> {
    const session = await sessions.session(id);
    const [plan, place, base] = await Promise.all([
      sessions.plan(session),
      sessions.place(session),
      sessions.base(session),
    ]);
    const folder = toFolder(key);
    const seed = { git: git(), repository: place.repository, commit: base?.commit ?? null, bytes };
    const {
      files,
      bytes: filled,
      notes,
      prepared: seen,
    } = await seedSandbox(join(home, folder), seed, {
      prepare: (sandbox) => layOver(sandbox, plan.seen),
      replacing: () => store.forget(key),
    });
    const laidOver = plan.seen.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    toBudget(join(home, folder)).begin(filled + laidOver);
    const began = base ? [] : [emptyNote(place.repository, session.startedAt)];
    const now = Date.now();
    const row: SandboxRow = {
      session_id: key,
      folder,
      root: place.root,
      repository: place.repository,
      branch: await sessions.branch(session),
      base_commit: base?.commit ?? null,
      base_at: base?.at ?? null,
      files: files + seen.added,
      notes: JSON.stringify([...began, ...notes, ...seen.notes]),
      unisolated: unisolated ? 1 : 0,
      created_at: now,
      used_at: now,
    };
    await store.begin(row);
    later(() => sweep(key));
    return row;
  }

  const context = { kernel, options, isolation };
  /** A fresh sandbox for a run of an assistant. */
  async function grounded(key: string, id: string, request: RerunRequest): Promise<Ground> {
    const row = await seeded(key, id, request.allowUnisolated === true);
    const base = findBase(row);
    return {
      row,
      sandbox: openSandbox(toPlace(row)),
      budget: toBudget(toPlace(row)),
      readObject: toReader(row),
      base,
      outcome: await findOutcome(id, base),
    };
  }

  const reruns = createRuns(kernel);
  const stepper = createStepper({ kernel, store, isolation, options });

  return {
    async plan(id) {
      const session = await sessions.session(id);
      const [plan, row, done, base] = await Promise.all([
        sessions.plan(session),
        store.sandbox(id),
        store.steps(id),
        sessions.base(session),
      ]);
      const known = new Map(done.map((step) => [step.step, step]));
      const steps = plan.steps.map((step) => toView(step, known.get(toKey(step))));
      const next = row && steps.find((step) => step.state === "pending" && step.due);
      return {
        session: await kernel.inject("archive").session(id),
        sandbox: row ? toInfo(row, toPlace(row)) : null,
        base: row ? findBase(row) : base,
        steps,
        next: next ? { seq: next.seq, source: next.source } : null,
        isolation: toIsolation(await isolation()),
      };
    },
    start: (id, allowUnisolated) =>
      alone(id, async () => {
        const row = await seeded(id, id, allowUnisolated);
        const { kind } = await isolation();
        return { ...toInfo(row, toPlace(row)), sandbox: row.folder, isolation: kind };
      }),
    preview: (id, seq, source) =>
      alone(id, async () => {
        const { row, sandbox, plan } = await opened(id);
        return readPreview(toStep(plan, id, seq, source), {
          tree: sandbox.tree,
          root: row.root,
          isolation: await isolation(),
          unisolated: row.unisolated === 1,
          reach: (step) => unisolatedReach(step, row, sandbox),
        });
      }),
    step: (id, request) =>
      alone(id, async () => {
        const state = await opened(id);
        return stepper.run(id, toStep(state.plan, id, request.seq, request.source ?? null), request, state);
      }),
    back: (id, seq, source = null) =>
      alone(id, async () => {
        const { row, sandbox, plan, done } = await opened(id);
        const last = done.at(-1);
        const step = last && plan.steps.find((one) => toKey(one) === last.step);
        if (!last || !step) throw new SessarcError("REPLAY_NOTHING_DONE", { id });
        if (seq !== undefined && toKey({ seq, source }) !== last.step)
          throw new SessarcError("REPLAY_NOT_LAST", { seq, last: step.seq });
        const restored = await takeBack({ store, sandbox, readObject: toReader(row) }, last);
        return { seq: step.seq, source: step.source, restored };
      }),
    endState: (id) =>
      alone(id, async () => {
        const { row, sandbox, plan } = await opened(id);
        const base = findBase(row);
        const outcome = await findOutcome(id, base);
        const paths = plan.steps.filter((step) => step.supported).flatMap((step) => step.paths);
        return compareTrees({ sandbox, git: git(), repository: row.repository, base, outcome, paths });
      }),
    open: (id) =>
      alone(id, async () => {
        const { sandbox } = await opened(id);
        await openBrowser(sandbox.path, kernel.env.platform);
        return { opened: true as const, path: sandbox.path };
      }),
    async rerunPlan(id) {
      const session = await sessions.session(id);
      const [prompts, base, found, row] = await Promise.all([
        readPrompts(kernel, id),
        sessions.base(session),
        isolation(),
        store.sandbox(rerunKey(id)),
      ]);
      const result = row ? await lastResult(toPlace(row)) : null;
      return { prompts, base, isolation: found.kind, result, ...reruns.state(id) };
    },
    async startRerun(id, request) {
      await sessions.session(id);
      const prompts = await readPrompts(kernel, id);
      const found = await checkRerun(context, id, request, prompts.length);
      return reruns.start(id, async (progress) => {
        const ground = await grounded(rerunKey(id), id, request);
        await rerun(context, { id, request, prompts, isolation: found }, ground, progress);
      });
    },
    async trial(id, request, signal) {
      await sessions.session(id);
      const prompts = (await readPrompts(kernel, id)).filter(({ seq }) => seq === request.seq);
      const found = await checkRerun(context, id, request, prompts.length);
      return alone(trialKey(id), async () => {
        const ground = await grounded(trialKey(id), id, request);
        const progress = { signal: AbortSignal.any([kernel.closing, signal]), turn: () => undefined };
        const result = await rerun(context, { id, request, prompts, isolation: found }, ground, progress);
        return { result, home: ground.sandbox.home };
      });
    },
    stopRerun: (id) => reruns.stop(id),
    async effect(actions, read) {
      const effect = await readEffect(actions, {
        read: async (path) => {
          const data = await read(path);
          return data === null ? undefined : { data, mode: 0o644 };
        },
      });
      return effect.applies ? effect.changes.map(({ path, after }) => ({ path, after })) : undefined;
    },
    get triedIsolation() {
      return triedIsolation;
    },
    sweep: () => sweep(),
  };
}

function toStep(plan: Plan, id: string, seq: number, source: string | null): PlannedStep {
  const found = plan.steps.find((step) => step.seq === seq && step.source === source);
  if (!found) throw new SessarcError("REPLAY_STEP_NOT_FOUND", { id: source ?? id, seq });
  return found;
}

const findBase = (row: SandboxRow): Base | null =>
  row.base_commit === null || row.base_at === null ? null : { commit: row.base_commit, at: row.base_at };

const toInfo = (row: SandboxRow, place: string): SandboxInfo => ({
  path: openSandbox(place).path,
  base: findBase(row),
  files: row.files,
  notes: JSON.parse(row.notes) as string[],
  unisolated: row.unisolated === 1,
  createdAt: new Date(row.created_at).toISOString(),
});

const toIsolation = (found: Isolation) => ({ kind: found.kind, reason: found.kind === "none" ? found.reason : null });

function toView(step: PlannedStep, row: StepRow | undefined): StepView {
  const { actions: _actions, fingerprint: _fingerprint, words: _words, cwd: _cwd, ...view } = step;
  const state = row === undefined || row.state === "running" ? "pending" : row.state;
  return { ...view, state, due: isDue(step), result: row && state !== "pending" ? stepResult(step, row) : null };
}

function emptyNote(repository: string | null, startedAt: string | null): string {
  if (repository === null) return "The session's folder is no repository: the sandbox began empty";
  return startedAt === null
    ? "The log does not say when the session began: the sandbox began empty"
    : "Nothing was committed before the session began: the sandbox began empty";
}
