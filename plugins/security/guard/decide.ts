/** The decision about a call, step by step: its arguments, the files that it shows, git's history, stores of credentials, the archive itself. */
import { basename } from "node:path";
import type { Json, Kernel } from "sessarc";
import { hideIn } from "../secrets/hide.ts";
import type { Installer } from "./install/install.ts";
import { reachesArchive } from "./own-archive.ts";
import type { ToolCall } from "./payload.ts";
import type { CallScan, Finding } from "./scan.ts";
import { type Doubt, toFinding, toQuestion } from "./taint/doubts.ts";
import { findSmallestFirst, readPath } from "./taint/files/read.ts";
import { isSecretFile, isStore } from "./taint/files/stores.ts";
import { type CallPaths, type CallSources, findSources } from "./taint/paths.ts";

interface ToolFinding {
  rule: string;
  /** `tool_input.command`, or `file:<name>` for a file that the call would show. */
  field: string;
  confidence: string;
  masked: string;
}

export interface ToolDecision {
  decision: "allow" | "block";
  reason: string | null;
  /** The question to the user, for assistants that can ask. */
  ask: string | null;
  findings: ToolFinding[];
  mode: "enforce" | "observe";
  /** True if something was not checked: the call is too large for the time, or it shows files that only the shell can determine. */
  partial: boolean;
}

/** What the steps find out about a call. */
interface Inspection {
  call: ToolCall;
  paths: CallPaths;
  scan: CallScan;
  found: Finding[];
  doubts: Doubt[];
  /** A text was not checked completely: the user's choice for failures applies. */
  unchecked: boolean;
  /** The time was not enough. */
  late: boolean;
  /** The call shows what only the shell can determine. */
  unsure: boolean;
}

export async function decide(
  kernel: Kernel,
  installer: Installer,
  { call, paths, scan, mode }: Pick<Inspection, "call" | "paths" | "scan"> & Pick<ToolDecision, "mode">,
): Promise<ToolDecision> {
  const all: Inspection = { call, paths, scan, found: [], doubts: [], unchecked: false, late: false, unsure: false };
  await inspectArguments(all);
  const options = { home: kernel.env.home, pool: kernel.pool, ms: scan.left() };
  const sources = await findSources(call, paths, options);
  await inspectFiles(all, sources);
  await inspectPast(all, sources);
  const blocking = all.found.filter(scan.blocks);
  if (blocking.length === 0) inspectStores(all, sources);
  const archive = inspectArchive(all, kernel);
  const doubts = toDoubts(all);
  const reason =
    blocking.length > 0
      ? blockText(blocking)
      : archive !== undefined
        ? archiveText(archive)
        : doubts[0] !== undefined && kernel.config.security.block === "probable"
          ? toQuestion(doubts[0])
          : // A call that was not checked is not clean: do what the user chose for a guard that cannot answer.
            all.unchecked && (await installer.onFailureOf(call.client)) === "block"
            ? uncheckedText(all.late)
            : null;
  return toDecision(all, { mode, reason, doubt: doubts[0] });
}

/** What the call itself contains. */
async function inspectArguments(all: Inspection): Promise<void> {
  const { call, paths, scan } = all;
  const { content, tool_name, tool_input } = call;
  const size = measureSize(tool_input) + (content?.length ?? 0);
  const own = await scan.event({ seq: 0, kind: "tool_use", text: content ?? "", tool_name, tool_input }, size);
  if (paths.role === "shell")
    for (const { rule } of own.findings.filter(scan.isDoubtful))
      all.doubts.push({ kind: "typed-password", what: rule, found: true });
  for (const finding of own.findings)
    all.found.push({ ...finding, field: hideIn(scan.scanner, finding.field).slice(0, 200) });
  all.unchecked = own.partial;
  all.late = own.late;
}

/** The files that reach the answer, the smallest first. */
async function inspectFiles(all: Inspection, sources: CallSources): Promise<void> {
  const { scan } = all;
  all.doubts.push(...sources.doubts);
  all.unsure = sources.unsure;
  const files = sources.paths.length > 0 ? await findSmallestFirst(sources.paths) : { there: [], cut: false };
  all.unchecked ||= sources.cut || files.cut;
  for (const path of files.there) {
    if (scan.isOver()) {
      all.unchecked = all.late = true;
      break;
    }
    const read = await readPath(path, sources.folders, sources.parts.get(path));
    // An empty store, or one whose shown part is empty, holds nothing.
    if (isStore(path)) {
      if (read.files.length === 0 || read.files.some(({ text }) => text.trim() !== "")) sources.stores.add(path);
      else sources.stores.delete(path);
    }
    if (sources.many) all.unchecked ||= read.cut;
    else all.unsure ||= read.cut;
    for (const file of await scan.files(read.files)) {
      const name = hideIn(scan.scanner, basename(file.path)).slice(0, 200);
      if (isSecretFile(file.path) && file.findings.some(scan.isDoubtful))
        all.doubts.push({ kind: "probable-secret", what: `\`${name}\``, found: true });
      all.found.push(...file.findings.map((finding) => ({ ...finding, field: `file:${name}` })));
      all.unchecked ||= file.partial;
      all.late ||= file.late;
    }
  }
}

/** What git would print of the history. */
async function inspectPast(all: Inspection, { past }: CallSources): Promise<void> {
  for (const one of past) {
    const { findings, known } = await all.scan.past(one);
    all.found.push(...findings.map((finding) => ({ ...finding, field: "git" })));
    all.unsure ||= !known;
    if (!known && one.asks && findings.length === 0) all.doubts.push({ kind: "probable-secret", what: one.said });
  }
}

/** Files that hold credentials whatever their form. */
function inspectStores({ doubts }: Inspection, { stores }: CallSources): void {
  for (const path of stores) doubts.push({ kind: "credential-store", what: `\`${basename(path)}\`` });
}

/** The archive of all projects, which only the user may read. Returns why the call is stopped. */
function inspectArchive({ call, paths, found }: Inspection, { storage, env, address }: Kernel): string | undefined {
  const why = reachesArchive(call, paths, { dataDir: storage.dataDir, home: env.home, port: address?.port });
  if (why !== undefined) found.push({ ...OWN_ARCHIVE, masked: why });
  return why;
}

/** The doubts with what they name masked. Adds findings of those that have none. */
function toDoubts({ scan, found, doubts }: Inspection): Doubt[] {
  const hidden = doubts.map((doubt) => ({ ...doubt, what: hideIn(scan.scanner, doubt.what).slice(0, 200) }));
  found.push(...hidden.filter((doubt) => !doubt.found).map(toFinding));
  return hidden;
}

function toDecision(
  { found, unchecked, unsure }: Inspection,
  { mode, reason, doubt }: Pick<ToolDecision, "mode" | "reason"> & { doubt: Doubt | undefined },
): ToolDecision {
  const stops = reason !== null && mode === "enforce";
  return {
    decision: stops ? "block" : "allow",
    reason: stops ? reason : null,
    ask: doubt !== undefined && !stops && mode === "enforce" ? toQuestion(doubt) : null,
    findings: found
      .slice(0, 100)
      .map(({ ruleId, field, confidence, masked }) => ({ rule: ruleId, field, confidence, masked })),
    mode,
    partial: unchecked || unsure,
  };
}

/** The rule without a pattern for calls that reach the archive itself. */
const OWN_ARCHIVE = {
  ruleId: "own-archive",
  rule: "The archive itself",
  field: "tool_input",
  confidence: "definite",
} as const;

const archiveText = (why: string) =>
  `sessarc stopped this call: ${why}. Search with \`sessarc search --redacted\`, or leave this to the user.`;

function uncheckedText(late: boolean): string {
  const why = late
    ? "it could not be checked within a second, because it is large or this machine is busy. Try again"
    : "it contains, or the files it shows contain, more than can be checked. Split it into smaller calls";
  return `sessarc stopped this call: ${why}, or ask the user to choose \`--on-failure allow\`.`;
}

function blockText(findings: readonly Finding[]): string {
  const what = [...new Set(findings.map(({ rule, field }) => `${rule} in ${field}`))];
  const more = what.length > 3 ? ` and ${what.length - 3} more` : "";
  return `sessarc stopped this call: ${what.slice(0, 3).join("; ")}${more}. Refer to the secret by an environment variable or a file that is not shown, and leave its value out.`;
}

/** Approximate number of characters in the strings of a value. */
function measureSize(value: Json, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 64) return 8;
  let size = 0;
  for (const item of Object.values(value)) size += measureSize(item as Json, depth + 1);
  return size;
}
