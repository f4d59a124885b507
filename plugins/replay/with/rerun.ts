/**
 * A session's prompts given to an assistant that the user names, in a sandbox at the session's starting commit. The sandbox is another one
 * than that of the recorded steps.
 */
import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import { type Kernel, type Services, SessarcError, type SessionUsage } from "sessarc";
import { isGone, writeFileAtomic } from "sessarc/files";
import { compareTrees, type EndState } from "../end-state.ts";
import { isolationOptions, type ReplayOptions } from "../options.ts";
import { DEFAULT_LIMITS, runCommand } from "../run/command.ts";
import { type Isolation, OBJECTS, toMount } from "../run/isolation.ts";
import { moved } from "../run/reach.ts";
import type { Budget } from "../sandbox/budget.ts";
import { asRepository, pointAt } from "../sandbox/repository.ts";
import { findContent, type ReadObject } from "../sandbox/restore.ts";
import { isProjectFile, type Sandbox } from "../sandbox/sandbox.ts";
import type { Base } from "../session.ts";
import { type FileChange, toUnified } from "../steps/unified.ts";
import type { SandboxRow } from "../store.ts";
import { loggedUsage, printedCost } from "./figures.ts";
import type { Progress, RunState } from "./runs.ts";

type Cost = ReturnType<Services["archive"]["costOf"]>;

export interface RerunRequest {
  /** For the shell; gets a prompt on its standard input, and in `SESSARC_PROMPT`. */
  command: string;
  /** For the second and later prompts; default `command`. */
  followUp?: string | undefined;
  /** Must be `command`, and `followUp` after a line end where one is given. */
  confirmCommand?: unknown;
  /** Lets the command reach the network. */
  network?: boolean | undefined;
  /** Names of variables of the service's environment that the command gets. */
  env?: readonly string[] | undefined;
  /** Absolute paths of folders that the isolated command may read; `<folder>/bin` is in its PATH. */
  readable?: readonly string[] | undefined;
  allowUnisolated?: boolean | undefined;
  /** ms for each prompt; default ten minutes. */
  timeoutMs?: number | undefined;
}

/** One prompt in a separate sandbox, with a file of the project as another plugin wants it. */
export interface TrialRequest extends RerunRequest {
  /** Message that holds the prompt. */
  seq: number;
  /** A file in the sandbox's folder; `edit` gets its text, empty if the file is missing. */
  file?: { name: string; edit(text: string): string } | undefined;
}

export interface Trial {
  result: RerunResult;
  /** The home of the run, with the logs that the assistant left. */
  home: string;
}

interface RerunTurn {
  /** Message of the session that holds the prompt. */
  seq: number;
  exitCode: number | null;
  /** Why it was ended; null when it ran to its end. */
  ended: string | null;
  ms: number;
  stdout: string;
  stderr: string;
}

export interface RerunResult {
  command: string;
  followUp: string | null;
  at: string;
  isolation: Isolation["kind"];
  network: boolean;
  path: string;
  base: Base | null;
  notes: string[];
  turns: RerunTurn[];
  /** Prompts that were not given because a turn before them failed. */
  left: number;
  run: Figures & {
    /** US dollars as the assistant printed them; null where it printed none. */
    printedUsd: number | null;
  };
  recorded: Figures;
  /** Files that the run changed. */
  changed: string[];
  /** Unified diff of those files; cut at 256 KiB. */
  diff: string;
  diffCut: boolean;
  /** What the run led to beside the commit that the session led to. */
  end: EndState;
}

interface Figures {
  /** ms: of the run, of the session's activity. */
  ms: number;
  /** Null where no log contains token counts. */
  usage: SessionUsage | null;
  cost: Cost;
}

export interface RerunPlan extends RunState {
  prompts: { seq: number; text: string }[];
  base: Base | null;
  isolation: Isolation["kind"];
  /** The last run; null when there was none, or its sandbox is gone. */
  result: RerunResult | null;
}

/** What a run needs of the replay. */
interface RerunContext {
  kernel: Kernel;
  options: ReplayOptions;
  isolation(): Promise<Isolation>;
}

/** A fresh sandbox. */
export interface Ground {
  row: SandboxRow;
  sandbox: Sandbox;
  budget: Budget;
  readObject: ReadObject;
  base: Base | null;
  outcome: Base | null;
}

interface Prompt {
  seq: number;
  text: string;
}

const TIME_MS = 600_000;
const DIFF = 256 * 1024;
const NAME = /^[A-Za-z_]\w{0,99}$/;
const resultFile = (place: string) => join(place, "result.json");

/** The prompts of a session in order: what was typed, not what tools and clients put in. */
export async function readPrompts(kernel: Kernel, id: string): Promise<Prompt[]> {
  const archive = kernel.inject("archive");
  const prompts: Prompt[] = [];
  for await (const events of archive.events(await archive.get(id)))
    for (const { kind, text, seq } of events) if (kind === "user" && text.trim() !== "") prompts.push({ seq, text });
  return prompts;
}

/** What can be refused is refused here, before a sandbox is made. */
export async function checkRerun(
  { kernel, isolation }: RerunContext,
  id: string,
  request: RerunRequest,
  prompts: number,
) {
  const { command, followUp, confirmCommand, network, env = [] } = request;
  const exact = followUp === undefined ? command : `${command}\n${followUp}`;
  if (prompts === 0) throw new SessarcError("REPLAY_NO_PROMPTS", { id });
  if (confirmCommand !== exact)
    throw new SessarcError("REPLAY_WITH_NOT_CONFIRMED", {
      command: exact,
      prompts,
      given: confirmCommand !== undefined,
    });
  const missing = env.find((name) => !NAME.test(name) || kernel.env.env[name] === undefined);
  if (missing !== undefined)
    throw new SessarcError("INVALID_INPUT", {
      reason: `The service's environment has no variable ${missing.slice(0, 100)}`,
    });
  for (const folder of request.readable ?? [])
    if (!(await isFolder(folder)))
      throw new SessarcError("INVALID_INPUT", {
        reason: `readable: ${folder.slice(0, 1_000)} is not an absolute path of a folder`,
      });
  const found = await isolation();
  if (found.kind === "none" && request.allowUnisolated !== true)
    throw new SessarcError("REPLAY_NO_ISOLATION", { reason: found.reason });
  if (found.kind === "none" && network !== true) throw new SessarcError("REPLAY_NETWORK_OPEN", {});
  return found;
}

async function isFolder(path: string): Promise<boolean> {
  if (!isAbsolute(path) || normalize(path) === "/") return false;
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

interface Rerun {
  /** Of the session. */
  id: string;
  request: RerunRequest & Pick<TrialRequest, "file">;
  prompts: readonly Prompt[];
  isolation: Isolation;
}

export async function rerun(
  context: RerunContext,
  { id, request, prompts, isolation: found }: Rerun,
  ground: Ground,
  progress: Progress,
): Promise<RerunResult> {
  const { kernel, options } = context;
  const { row, sandbox, budget, base } = ground;
  const objects = await asRepository(row, sandbox, kernel.find("git"));
  const mount = toMount(row.root);
  const tree = found.kind === "bubblewrap" ? mount : sandbox.path;
  if (request.file) await layFile(sandbox, request.file);
  const start = await sandbox.refresh();
  await sandbox.save(start.index);
  if (objects !== null) await pointAt(sandbox, found.kind === "bubblewrap" ? OBJECTS : objects);
  const turns: RerunTurn[] = [];
  const readable = [...(options.readable ?? []), ...(request.readable ?? [])];
  for (const [i, { seq, text }] of prompts.entries()) {
    progress.turn(i + 1);
    const prompt = moved(text, { root: row.root, tree });
    const named = Object.fromEntries((request.env ?? []).map((name) => [name, kernel.env.env[name] ?? ""]));
    const result = await runCommand({
      command: i === 0 ? request.command : (request.followUp ?? request.command),
      place: {
        tree: sandbox.path,
        home: sandbox.home,
        mount,
        cwd: mount,
        objects,
        network: request.network === true,
        keepHome: true,
        // A prompt too long for a variable is on the standard input alone.
        env: { ...named, SESSARC_TURN: String(i + 1), ...(prompt.length < 100_000 ? { SESSARC_PROMPT: prompt } : {}) },
      },
      isolation: found,
      options: isolationOptions(kernel, { ...options, readable }),
      limits: { ...DEFAULT_LIMITS, ...options.limits, timeMs: request.timeoutMs ?? TIME_MS },
      quota: budget,
      input: prompt,
      signal: progress.signal,
    });
    const { exitCode, ended, ms, stdout, stderr } = result;
    turns.push({ seq, exitCode, ended, ms, stdout, stderr });
    if (ended !== null || exitCode !== 0) break;
  }
  if (objects !== null) await pointAt(sandbox, objects);
  const { changes } = await sandbox.refresh();
  const own = changes.filter(({ path }) => isProjectFile(path)).sort((a, b) => (a.path < b.path ? -1 : 1));
  const files: FileChange[] = [];
  for (const { path, before, after } of own) {
    const read = async (source: typeof before) =>
      source === null
        ? null
        : "link" in source
          ? Buffer.from(source.link)
          : ((await findContent(source, sandbox.blobs, ground.readObject)) ?? null);
    files.push({ path, before: await read(before), after: await read(after) });
  }
  const diff = await toUnified(files);
  const usage = await loggedUsage(kernel, sandbox.home);
  const archive = kernel.inject("archive");
  const session = await archive.session(id);
  const printed = turns.map(({ stdout }) => printedCost(stdout)).filter((cost) => cost !== null);
  const changed = own.map(({ path }) => path);
  const result: RerunResult = {
    command: request.command,
    followUp: request.followUp ?? null,
    at: new Date().toISOString(),
    isolation: found.kind,
    network: request.network === true,
    path: sandbox.path,
    base,
    notes: JSON.parse(row.notes) as string[],
    turns,
    left: prompts.length - turns.length,
    run: {
      ms: turns.reduce((sum, turn) => sum + turn.ms, 0),
      usage,
      cost: usage && archive.costOf(usage),
      printedUsd: printed.length === 0 ? null : printed.reduce((sum, cost) => sum + cost, 0),
    },
    recorded: { ms: session.activeMs, usage: session.usage, cost: session.cost },
    changed,
    diff: diff.slice(0, DIFF),
    diffCut: diff.length > DIFF,
    end: await compareTrees({
      sandbox,
      git: kernel.find("git"),
      repository: row.repository,
      base,
      outcome: ground.outcome,
      paths: changed,
    }),
  };
  await writeFileAtomic(resultFile(join(sandbox.path, "..")), JSON.stringify(result));
  return result;
}

async function layFile({ tree }: Sandbox, { name, edit }: NonNullable<TrialRequest["file"]>): Promise<void> {
  const before = (await tree.read(name))?.data.toString("utf8") ?? "";
  const after = edit(before);
  if (after !== before) await tree.write(name, Buffer.from(after));
}

/** The last run of a sandbox's folder. */
export async function lastResult(place: string): Promise<RerunResult | null> {
  const text = await readFile(resultFile(place), "utf8").catch((error: unknown) => {
    if (!isGone(error)) throw error;
  });
  return text === undefined ? null : (JSON.parse(text) as RerunResult);
}
