/** The tool-call guard: looks at a call before it runs. Service "guard". */
import { createHmac, randomBytes } from "node:crypto";
import { basename } from "node:path";
import { type Json, type Kernel, type PoolTask, SessarcError, type SessionEvent, type ToolRole } from "sessarc";
import type { Rule, Scanner } from "../engine.ts";
import { hideIn } from "../hide.ts";
import type { ScanJob, ScanJobResult } from "../job.ts";
import type { RuleSet } from "../rule-set.ts";
import { DEADLINE_MS } from "./hook-script.ts";
import { createInstaller, type Installer } from "./install.ts";
import { reachesArchive } from "./own-archive.ts";
import { readPayload, type ToolCall } from "./payload.ts";
import { pathsRead, type ReadFile, readPath, smallestFirst } from "./reads.ts";
import { createRecent } from "./recent.ts";
import { createRecords, type Interception } from "./records.ts";

export type { GuardStatus } from "./install.ts";
export type { ToolCall } from "./payload.ts";
export type { Interception } from "./records.ts";

export interface ToolFinding {
  rule: string;
  /** `tool_input.command`, or `file:<name>` for what a read would show. */
  field: string;
  confidence: string;
  masked: string;
}

export interface ToolDecision {
  decision: "allow" | "block";
  reason: string | null;
  /** Why its user should be asked first, where the assistant knows asking. */
  ask: string | null;
  findings: ToolFinding[];
  mode: "enforce" | "observe";
  /** True when something was not looked at: the call is too large for the time there is, or it shows files that only the shell will know. */
  partial: boolean;
}

export interface Guard extends Installer {
  /** Decides about the payload of a hook. Throws INVALID_INPUT when it is none. About a millisecond for 16 KB. */
  check(
    body: Record<string, Json>,
    client?: string,
    hook?: string,
  ): Promise<{ call: ToolCall; decision: ToolDecision }>;
  interceptions(limit: number): Promise<Interception[]>;
  close(): Promise<void>;
}

const LARGE: PoolTask<[ScanJob], ScanJobResult> = {
  specifier: "sessarc/plugins/security/job",
  export: "scanLarge",
  inline: async (job) => (await import("../job.ts")).scanLarge(job),
};
/** Longer texts go to the pool at once. So much of a call and its files is looked at whatever the clock says: waiting is not its fault. */
const SMALL = 512 * 1024;
const BUDGET_MS = 40;
/** Leaves the answer time to arrive before the hook's deadline. */
const TIME_MS = DEADLINE_MS - 400;

/** How far a call was looked at, its files included. */
interface GuardLook {
  /** By then what is more than `SMALL` has to be looked at, on the clock of `performance.now()`. */
  ends: number;
  /** Characters so far. */
  size: number;
}

/** `late`: there was no time for all of it. */
type Looked = ScanJobResult & { late: boolean };

export function createGuard(kernel: Kernel, rules: RuleSet): Guard {
  const records = createRecords(kernel);
  const installer = createInstaller(kernel, rules);
  const recent = createRecent();
  const scanned = new Map<string, { version: string; result: ScanJobResult }>();
  const key = randomBytes(32);

  async function scan(
    scanner: Scanner,
    event: SessionEvent,
    size: number,
    { look, path }: { look: GuardLook; path?: string },
  ): Promise<Looked> {
    const stops = (result: ScanJobResult) => result.findings.some((finding) => blocks(scanner, finding));
    look.size += size;
    if (size <= SMALL || !kernel.pool.threaded) {
      const budget = kernel.pool.threaded ? { budgetMs: BUDGET_MS } : {};
      const options = { ...budget, forms: true, ...(path === undefined ? {} : { path }) };
      const { findings, partial } = scanner.scanEvent(event, options);
      if (!partial || stops({ findings, partial })) return { findings, partial, late: false };
    }
    const inPool = (budgetMs: number) => {
      const job: ScanJob = { rules: [...scanner.rules], event, budgetMs };
      return kernel.pool.run(LARGE, path === undefined ? job : { ...job, path });
    };
    const inTime = await inPool(Math.max(1, look.ends - performance.now()));
    const late = inTime.partial && performance.now() >= look.ends;
    if (!late || look.size > SMALL || stops(inTime)) return { ...inTime, late };
    return { ...(await inPool(Number.POSITIVE_INFINITY)), late: false };
  }

  const tooLate = (look: GuardLook, more: number) => look.size + more > SMALL && performance.now() >= look.ends;

  /** Files are looked at again when they or the rules change. */
  async function scanFiles(
    scanner: Scanner,
    read: readonly ReadFile[],
    look: GuardLook,
  ): Promise<(Looked & { path: string })[]> {
    const results: (Looked & { path: string })[] = [];
    for (const file of read) {
      const version = `${scanner.version} ${file.version}`;
      const id = createHmac("sha256", key).update(file.path).digest("base64");
      let known = scanned.get(id);
      let late = false;
      if (known?.version !== version) {
        if (tooLate(look, file.text.length)) {
          results.push({ findings: [], partial: true, late: true, path: file.path });
          break;
        }
        const event: SessionEvent = { seq: 0, kind: "tool_result", text: file.text };
        const result = await scan(scanner, event, file.text.length, { look, path: file.path });
        const { findings, partial } = result;
        late = result.late;
        // Only what may be shown is kept.
        const kept = findings.map(({ ruleId, rule, field, confidence, masked }) => ({
          ruleId,
          rule,
          field,
          confidence,
          masked,
        }));
        known = { version, result: { findings: kept, partial: partial || file.cut } };
        if (scanned.size >= 2_000) scanned.clear();
        // With more time there may be more to say.
        if (!partial) scanned.set(id, known);
      }
      results.push({ ...known.result, late, path: file.path });
    }
    return results;
  }

  const reading = (ends: number) => ({ home: kernel.env.home, pool: kernel.pool, ms: ends - performance.now() });

  const roleOf = (call: ToolCall): ToolRole | undefined => {
    const own = kernel.registry.adapters.get(call.client)?.tools?.[call.tool_name];
    if (own) return own;
    for (const { tools } of kernel.registry.adapters.values())
      if (tools?.[call.tool_name]) return tools[call.tool_name];
    return undefined;
  };

  /** What is sure. A user's own rule says itself whether it blocks; guesses block where the configuration says so. */
  function blocks(scanner: Scanner, { ruleId, confidence }: { ruleId: string; confidence: string }): boolean {
    const rule = ruleOf(scanner, ruleId);
    if (!rule?.builtin) return rule?.action === "block";
    return confidence === "definite" || (confidence === "probable" && kernel.config.security.block === "probable");
  }

  async function decide(call: ToolCall, mode: ToolDecision["mode"], scanner: Scanner): Promise<ToolDecision> {
    const event: SessionEvent = {
      seq: 0,
      kind: "tool_use",
      text: call.content ?? "",
      tool_name: call.tool_name,
      tool_input: call.tool_input,
    };
    const size = sizeOf(call.tool_input) + (call.content?.length ?? 0);
    // One deadline for all of it: an answer that comes later is none, and the hook does what its user chose.
    const look: GuardLook = { ends: performance.now() + TIME_MS, size: 0 };
    const own = await scan(scanner, event, size, { look });
    const found = own.findings.map((finding) => ({ ...finding, field: hideIn(scanner, finding.field).slice(0, 200) }));
    const reads = await pathsRead(call, roleOf(call), reading(look.ends));
    const files = await smallestFirst(reads.paths);
    let { unsure } = reads;
    let unseen = own.partial || reads.cut || files.cut;
    let { late } = own;
    for (const path of files.there) {
      if (tooLate(look, 0)) {
        unseen = late = true;
        break;
      }
      const read = await readPath(path, reads.folders, reads.parts.get(path));
      if (reads.many) unseen ||= read.cut;
      else unsure ||= read.cut;
      for (const file of await scanFiles(scanner, read.files, look)) {
        const field = `file:${hideIn(scanner, basename(file.path)).slice(0, 200)}`;
        found.push(...file.findings.map((finding) => ({ ...finding, field })));
        unseen ||= file.partial;
        late ||= file.late;
      }
    }
    const blocking = found.filter((finding) => blocks(scanner, finding));
    const archive = reachesArchive(call, roleOf(call), {
      dataDir: kernel.storage.dataDir,
      home: kernel.env.home,
      port: kernel.address?.port,
    });
    if (archive !== undefined) found.push({ ...OWN_ARCHIVE, masked: archive });
    for (const masked of reads.prints)
      found.push({ ...PRINTS_CREDENTIALS, masked: hideIn(scanner, masked).slice(0, 200) });
    const [printed] = reads.prints.map((said) => hideIn(scanner, said).slice(0, 200));
    const reason =
      blocking.length > 0
        ? reasonOf(blocking)
        : archive !== undefined
          ? archiveText(archive)
          : printed !== undefined && kernel.config.security.block === "probable"
            ? printsText(printed)
            : // What was not looked at is not clean: as the user chose for a guard that cannot answer.
              unseen && (await installer.onFailureOf(call.client)) === "block"
              ? unseenText(late)
              : null;
    const stops = reason !== null && mode === "enforce";
    return {
      decision: stops ? "block" : "allow",
      reason: stops ? reason : null,
      ask: printed !== undefined && !stops && mode === "enforce" ? printsText(printed) : null,
      findings: found
        .slice(0, 100)
        .map(({ ruleId, field, confidence, masked }) => ({ rule: ruleId, field, confidence, masked })),
      mode,
      partial: unseen || unsure,
    };
  }

  return {
    ...installer,
    async check(body, client, hook) {
      const started = performance.now();
      const call = readPayload(body, client);
      if (!call) throw new SessarcError("INVALID_INPUT", { reason: "The body is no tool call" });
      const scanner = await rules.scanner();
      const mode = await installer.modeOf(call.client);
      const decision = await decide(call, mode, scanner);
      await kernel.hooks.callHook("tool:check", { call, decision });
      const at = new Date();
      const fired = await installer.fired(call.client, hook, at);
      if (recent.isNew(call, started)) {
        const { paths } = await pathsRead(call, "read", reading(0));
        const [path] = paths;
        const hidden = (text: string, max: number) => hideIn(scanner, text, { budgetMs: 10 }).slice(0, max);
        records.add(
          {
            at: at.toISOString(),
            client: call.client,
            tool_name: hidden(call.tool_name.slice(0, 400), 200),
            path: path === undefined ? null : hidden(path.slice(0, 4096), 1000),
            decision: decision.decision,
            mode,
            rules: [...new Set(decision.findings.map((finding) => finding.rule))],
            masked: [...new Set(decision.findings.map((finding) => finding.masked))].slice(0, 10),
            sessionId: call.sessionId === null ? null : hidden(`${call.client}:${call.sessionId}`.slice(0, 400), 300),
            ms: Math.round((performance.now() - started) * 100) / 100,
          },
          fired,
        );
        await kernel.notify("tool:checked", {
          client: call.client,
          tool_name: call.tool_name,
          decision: decision.decision,
        });
      }
      return { call, decision };
    },
    interceptions: (limit) => records.recent(limit),
    async close() {
      await records.flush();
    },
  };
}

/** The rule that is no pattern: calls that reach for the archive itself. */
const OWN_ARCHIVE = {
  ruleId: "own-archive",
  rule: "The archive itself",
  field: "tool_input",
  confidence: "definite",
} as const;

/** The rule for what is printed and stands in no file. */
const PRINTS_CREDENTIALS = {
  ruleId: "prints-credentials",
  rule: "Prints credentials",
  field: "tool_input",
  confidence: "probable",
} as const;

const printsText = (what: string) =>
  `sessarc: ${what} prints a credential, and the model would see it. Hand it on by a variable or a pipe instead.`;

const archiveText = (why: string) =>
  `sessarc stopped this call: ${why}. Search with \`sessarc search --redacted\`, or leave it to the user.`;

function unseenText(late: boolean): string {
  const why = late
    ? "it could not be looked at whole within a second: it is large, or this machine is busy. Try it again"
    : "more is in it, or in the files it shows, than can be looked at. Do it in smaller parts";
  return `sessarc stopped this call: ${why}, or let its user choose \`--on-failure allow\`.`;
}

const rulesOf = new WeakMap<Scanner, Map<string, Rule>>();
function ruleOf(scanner: Scanner, id: string): Rule | undefined {
  let rules = rulesOf.get(scanner);
  if (!rules) {
    rules = new Map(scanner.rules.map((rule) => [rule.id, rule]));
    rulesOf.set(scanner, rules);
  }
  return rules.get(id);
}

function reasonOf(findings: readonly { rule: string; field: string }[]): string {
  const what = [...new Set(findings.map(({ rule, field }) => `${rule} in ${field}`))];
  const more = what.length > 3 ? ` and ${what.length - 3} more` : "";
  return `sessarc stopped this call: ${what.slice(0, 3).join("; ")}${more}. Refer to the secret by an environment variable or a file that is not shown, and leave its value out.`;
}

/** Characters in the strings of a value, roughly. */
function sizeOf(value: Json, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 64) return 8;
  let size = 0;
  for (const item of Object.values(value)) size += sizeOf(item as Json, depth + 1);
  return size;
}
