/** Offers lines to assistants by their hooks: from the cached answer of the project, at once or not at all. */
import { BoundedMap, type Kernel, type KernelHooks } from "sessarc";
import { pathsIn, type ToolRole, toCommand } from "sessarc/adapter";
import { isInside } from "sessarc/files";
import { normalizeCommand } from "../facts/command.ts";
import { within } from "../within.ts";
import { type ProjectAnswer, toKey } from "./answer.ts";
import { createBuilder } from "./builder.ts";
import type { OfferLine } from "./line.ts";
import type { Moment, Offered } from "./schema.ts";
import { createOfferStore } from "./store.ts";
import { markUsed } from "./used.ts";

/** The assistant waits no longer; what is not found by then is not offered. */
const LIMIT_MS = 30;
/** Sessions whose lines are remembered in memory. */
const MOST_SESSIONS = 200;
const CHANGES: ReadonlySet<string | undefined> = new Set(["edit", "write", "patch"]);

type OfferMoment = Parameters<KernelHooks["context:offer"]>[0];
interface Found {
  moment: Moment;
  project: string;
  lines: readonly OfferLine[];
  said: Set<string>;
}

export interface Offers {
  /** Appends lines to a hook's moment. */
  offer(moment: OfferMoment): Promise<void>;
  /** Newest first. */
  log(limit: number): Promise<Offered[]>;
  /** A session was imported: its project's answer is rebuilt later, and what it used is marked. */
  imported(id: string): void;
  /** Answers that imports without the service left behind are rebuilt; all are, after an installation. */
  refresh(): void;
  close(): Promise<void>;
}

export function createOffers(kernel: Kernel): Offers {
  const store = createOfferStore(kernel);
  const builder = createBuilder(kernel, store);
  const said = new BoundedMap<string, Set<string>>(MOST_SESSIONS);
  /** What goes on after a hook was answered. */
  let after: Promise<void> = Promise.resolve();
  const later = (work: () => Promise<void>) => {
    after = after.then(work).catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "recall" }));
  };

  async function find({ client, cwd, sessionId, call, role, offers }: OfferMoment): Promise<Found | undefined> {
    const { recall: on } = kernel.config;
    if (cwd === null || sessionId === null) return undefined;
    const moment = call === undefined ? "start" : role === "shell" ? "command" : CHANGES.has(role) ? "file" : undefined;
    if (moment === undefined || !offers.includes(moment) || on[moment] === "off") return undefined;
    const project = await findProject(cwd);
    const answer = project === undefined ? undefined : await store.answer(project);
    if (project === undefined || !answer) return undefined;
    const lines =
      call === undefined
        ? answer.start
        : moment === "command"
          ? forCommand(answer, toCommand(call.tool_input))
          : forFiles(answer, pathsOf(call.tool_input, role), cwd);
    const session = `${client}:${sessionId}`;
    const before = said.use(session) ?? (await store.said(session));
    said.set(session, before);
    return { moment, project, lines: lines.filter((line) => line.session !== session), said: before };
  }

  /** The project with the innermost folder around `cwd`. */
  async function findProject(cwd: string): Promise<string | undefined> {
    let best: { project: string; length: number } | undefined;
    for (const { project, folders } of await store.folders())
      for (const folder of folders)
        if (folder.length > (best?.length ?? 0) && isInside(folder, cwd)) best = { project, length: folder.length };
    return best?.project;
  }

  return {
    async offer(moment) {
      // A command has no hooks to answer.
      if (!kernel.address || kernel.storage.readOnly) return;
      const found = await within(LIMIT_MS, find(moment));
      if (!found) return;
      const lines = found.lines.filter(({ text }) => !found.said.has(text));
      if (lines.length === 0) return;
      for (const { text } of lines) {
        found.said.add(text);
        moment.lines.push(text);
      }
      const at = Date.now();
      const session = `${moment.client}:${moment.sessionId}`;
      later(() => store.log(session, found.moment, found.project, lines, at));
    },
    async log(limit) {
      await after;
      return store.offered(limit);
    },
    imported(id) {
      if (!kernel.address || kernel.storage.readOnly) return;
      builder.add(id);
      later(() => markUsed(kernel, store, id));
    },
    refresh: () => builder.refresh(),
    async close() {
      await builder.close();
      await after;
    },
  };
}

function forCommand({ commands }: ProjectAnswer, command: string): OfferLine[] {
  const subject = normalizeCommand(command)?.subject;
  const found = subject === undefined ? undefined : commands.find(([key]) => key === subject);
  return found ? [found[1]] : [];
}

function forFiles({ files, folders }: ProjectAnswer, paths: readonly string[], cwd: string): OfferLine[] {
  for (const path of paths) {
    const key = toKey(path, folders, cwd);
    const found = key === undefined ? undefined : files.find(([one]) => one === key);
    if (found) return [found[1]];
  }
  return [];
}

/** Codex's hook has a patch as its command. */
function pathsOf(input: unknown, role: ToolRole | undefined): string[] {
  const paths = pathsIn(input, role);
  return paths.length === 0 && role === "patch" ? pathsIn(toCommand(input), role) : paths;
}
