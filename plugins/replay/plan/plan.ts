/** The plan of a replay: every call of a session and its sub-agents that changed files or ran a command, in the order of time. */
import { createHash } from "node:crypto";
import type { SessionEvent } from "sessarc";
import { type Adapter, type ToolAction, toolActions, wholeRead } from "sessarc/adapter";
import { describe } from "./describe.ts";
import { toOutcome } from "./outcome.ts";
import { insideRoot, refused } from "./paths.ts";
import type { Plan, PlannedStep, Recorded, SeenFile } from "./types.ts";

/** One session's messages, as the archive hands them out. */
interface PlanSource {
  /** Null for the session itself, else the sub-agent's session id. */
  id: string | null;
  adapter: Pick<Adapter, "tools" | "replay"> | undefined;
  /** The folder relative paths start from. */
  cwd: string | null;
  events: AsyncIterable<readonly SessionEvent[]>;
}

const REASONING = 600;

/** Linear in the messages; lets other work run after every chunk. `root`: the session's folder. */
export async function buildPlan(sources: readonly PlanSource[], root: string | null): Promise<Plan> {
  const steps: PlannedStep[] = [];
  const seen = new Map<string, SeenFile>();
  for (const source of sources) await collect(source, root, steps, seen);
  // Stable: a call without a time stays after the one that precedes it in its log.
  steps.sort((a, b) => compareTimes(a.at, b.at));
  const changed = new Map<string, PlannedStep>();
  for (const step of steps) for (const path of step.paths) if (!changed.has(path)) changed.set(path, step);
  return { steps, root, seen: [...seen.values()].filter((file) => changed.has(file.path)) };
}

/** A call without any time before it in its log is as old as the session. */
const compareTimes = (a: string | null, b: string | null) =>
  (a ?? "") < (b ?? "") ? -1 : (a ?? "") > (b ?? "") ? 1 : 0;

async function collect(source: PlanSource, root: string | null, steps: PlannedStep[], seen: Map<string, SeenFile>) {
  const open = new Map<string, { event: SessionEvent; step: PlannedStep | undefined }>();
  const touched = new Set<string>();
  let said: string | null = null;
  let at: string | null = null;
  for await (const events of source.events) {
    for (const event of events) {
      at = event.at ?? at;
      if (event.kind === "assistant" || event.kind === "thinking") said = event.text || said;
      else if (event.kind === "user") said = null;
      else if (event.kind === "tool_use") {
        const step = toStep(event, source, root, at, said);
        if (step) {
          steps.push(step);
          for (const path of step.paths) touched.add(path);
        }
        if (event.tool_use_id !== undefined) open.set(event.tool_use_id, { event, step });
      } else if (event.kind === "tool_result" && event.tool_use_id !== undefined) {
        const call = open.get(event.tool_use_id);
        if (!call) continue;
        open.delete(event.tool_use_id);
        if (call.step) call.step.recorded = toRecorded(call.event, event, call.step, source);
        else if (source.id === null) remember(call.event, event, source, root, touched, seen);
      }
    }
  }
}

function toStep(
  event: SessionEvent,
  source: PlanSource,
  root: string | null,
  at: string | null,
  said: string | null,
): PlannedStep | undefined {
  const call = { name: event.tool_name ?? "", input: event.tool_input };
  const logged = source.adapter?.replay?.actions?.(call) ?? toolActions(source.adapter?.tools?.[call.name], call.input);
  if (logged === undefined || logged.length === 0) return undefined;
  const placed = logged.map((action) => place(action, source.cwd, root));
  const refusal = placed.find((one) => one.reason !== undefined)?.reason;
  const paths = [...new Set(placed.flatMap((one) => one.paths))];
  const described = describe(logged, paths);
  return {
    seq: event.seq,
    source: source.id,
    at,
    ...described,
    path: paths[0] ?? null,
    paths,
    cwd: placed[0]?.cwd ?? "",
    reasoning: said === null ? null : clip(said),
    supported: refusal === undefined,
    reason: refusal ?? null,
    outside: placed.some((one) => one.outside),
    recorded: { failed: null, exitCode: null, output: null, cut: false },
    actions: refusal === undefined ? placed.map((one) => one.action) : [],
    fingerprint: createHash("sha256")
      .update(JSON.stringify([call.name, call.input ?? null]))
      .digest("hex")
      .slice(0, 16),
  };
}

interface Placed {
  action: ToolAction;
  paths: string[];
  cwd?: string;
  reason?: string;
  outside?: boolean;
}

/** The action with its paths inside the project, or why it cannot be done there. */
function place(action: ToolAction, cwd: string | null, root: string | null): Placed {
  const inside = (path: string) => {
    const relative = insideRoot(path, root, cwd ?? root);
    if (relative === undefined) return { shown: path, reason: `${path} lies outside the project`, outside: true };
    const why = refused(relative);
    return { shown: relative, ...(why === undefined ? {} : { reason: `${path}: ${why}` }) };
  };
  switch (action.do) {
    case "command": {
      const at = action.cwd === undefined ? (cwd ?? root ?? "") : action.cwd;
      const relative = at === "" ? "" : insideRoot(at, root, cwd ?? root);
      if (relative === undefined)
        return { action, paths: [], outside: true, reason: `it runs in ${at}, outside the project` };
      return { action, paths: [], cwd: relative };
    }
    case "unknown": {
      const paths = action.path === undefined ? [] : [inside(action.path).shown];
      return { action, paths, reason: action.reason };
    }
    case "patch":
      return placePatch(action.text, inside);
    case "move": {
      const [from, to] = [inside(action.from), inside(action.to)];
      const { reason, outside } = { ...to, ...from };
      return {
        action: { do: "move", from: from.shown, to: to.shown },
        paths: [from.shown, to.shown],
        ...given({ reason, outside }),
      };
    }
    default: {
      const { shown, ...rest } = inside(action.path);
      return { action: { ...action, path: shown }, paths: [shown], ...rest };
    }
  }
}

const PATCH_PATH =
  /^(\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |--- (?:a\/)?|\+\+\+ (?:b\/)?)([^\t\n\r]+)(.*)$/gm;

/** Names inside a patch are made relative in its text, so that one place says what a patch does. */
function placePatch(
  text: string,
  inside: (path: string) => { shown: string; reason?: string; outside?: boolean },
): Placed {
  const paths: string[] = [];
  let trouble: { reason?: string; outside?: boolean } = {};
  const unified = !/^\s*\*\*\* Begin Patch/.test(text);
  const placed = text.replace(PATCH_PATH, (line, head: string, name: string, tail: string) => {
    if (head.startsWith("***") === unified || name === "/dev/null") return line;
    const { shown, ...rest } = inside(name.trim());
    if (rest.reason !== undefined && trouble.reason === undefined) trouble = rest;
    paths.push(shown);
    return `${head}${shown}${tail}`;
  });
  if (paths.length === 0) trouble = { reason: "the patch names no file" };
  return { action: { do: "patch", text: placed }, paths: [...new Set(paths)], ...trouble };
}

function toRecorded(call: SessionEvent, result: SessionEvent, step: PlannedStep, source: PlanSource): Recorded {
  const failed = result.is_error === true;
  if (step.kind !== "command") return { failed, exitCode: null, output: clip(result.text), cut: false };
  const known = source.adapter?.replay?.outcome;
  const asked = { name: call.tool_name ?? "", input: call.tool_input };
  const { exitCode, output } = known?.(asked, { text: result.text, failed }) ?? toOutcome(result.text, failed);
  return { failed, exitCode, output, cut: result.truncated === true || CUT.test(result.text) };
}

const CUT = /\[?\.{3} ?\[?\d+ (?:lines|characters|chars|bytes)|<truncated|output (?:was )?truncated|tokens truncated/i;

function remember(
  call: SessionEvent,
  result: SessionEvent,
  source: PlanSource,
  root: string | null,
  touched: ReadonlySet<string>,
  seen: Map<string, SeenFile>,
): void {
  const asked = { name: call.tool_name ?? "", input: call.tool_input };
  const given = { text: result.text, failed: result.is_error === true };
  if (result.truncated) return;
  const read =
    source.adapter?.replay?.read?.(asked, given) ?? wholeRead(asked, source.adapter?.tools?.[asked.name], given);
  const path = read && insideRoot(read.path, root, source.cwd ?? root);
  if (!read || path === undefined || refused(path) !== undefined || touched.has(path) || seen.has(path)) return;
  seen.set(path, { path, text: read.text, seq: call.seq });
}

const clip = (text: string) => (text.length > REASONING ? `${text.slice(0, REASONING)}…` : text);

function given<T extends object>(value: T): Partial<T> {
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(pairs) as Partial<T>;
}
