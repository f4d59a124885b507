/** The tool-call guard checks a call before it runs. Service "guard". */
import { createHmac, randomBytes } from "node:crypto";
import { basename } from "node:path";
import { type Json, type Kernel, type PoolTask, SessarcError, type SessionEvent } from "sessarc";
import type { ToolRole } from "sessarc/adapter";
import type { Rule, Scanner } from "../secrets/engine.ts";
import { hideIn } from "../secrets/hide.ts";
import type { ScanJob, ScanJobResult } from "../secrets/job.ts";
import type { RuleSet } from "../secrets/rule-set.ts";
import { DEADLINE_MS } from "./install/hook-script.ts";
import { createInstaller, type Installer } from "./install/install.ts";
import { reachesArchive } from "./own-archive.ts";
import { readPayload, type ToolCall } from "./payload.ts";
import { createRecent } from "./recent.ts";
import { createRecords, type Interception } from "./records.ts";
import { type Doubt, doubtFinding, doubtText } from "./taint/doubts.ts";
import { gitPrints } from "./taint/git-past.ts";
import { cutParts } from "./taint/part.ts";
import { pathsRead, type ReadFile, type Reads, readPath, smallestFirst } from "./taint/reads.ts";
import { isSecretFile, isStore } from "./taint/stores.ts";

export type { GuardStatus } from "./install/install.ts";
export type { ToolCall } from "./payload.ts";
export type { Interception } from "./records.ts";

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

export interface Guard extends Installer {
  /** Decides about the payload of a hook. Throws INVALID_INPUT if it has no call. About a millisecond for 16 KB. */
  check(
    body: Record<string, Json>,
    client?: string,
    hook?: string,
  ): Promise<{ call: ToolCall; decision: ToolDecision }>;
  interceptions(limit: number): Promise<Interception[]>;
  close(): Promise<void>;
}

const LARGE: PoolTask<[ScanJob], ScanJobResult> = {
  specifier: "sessarc/plugins/security/secrets/job",
  export: "scanLarge",
  inline: async (job) => (await import("../secrets/job.ts")).scanLarge(job),
};
/** Longer texts go to the pool at once. This much of a call and its files is checked even after the deadline, because a small call must not be blocked on a busy machine. */
const SMALL = 512 * 1024;
const BUDGET_MS = 40;
/** Longest wait for git. */
const GIT_MS = 300;
/** The answer needs time to arrive before the hook's deadline. */
const TIME_MS = DEADLINE_MS - 400;

/** How much of a call and its files was checked. */
interface CheckBudget {
  /** Deadline for all beyond `SMALL`, on the clock of `performance.now()`. */
  ends: number;
  /** Characters checked so far. */
  size: number;
}

/** `late`: the time was not enough. */
type Checked = ScanJobResult & { late: boolean };

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
    { budget, path }: { budget: CheckBudget; path?: string },
  ): Promise<Checked> {
    const stops = (result: ScanJobResult) => result.findings.some((finding) => blocks(scanner, finding));
    budget.size += size;
    if (size <= SMALL || !kernel.pool.threaded) {
      const time = kernel.pool.threaded ? { budgetMs: BUDGET_MS } : {};
      const options = { ...time, forms: true, ...(path === undefined ? {} : { path }) };
      const { findings, partial } = scanner.scanEvent(event, options);
      if (!partial || stops({ findings, partial })) return { findings, partial, late: false };
    }
    const inPool = (budgetMs: number) => {
      const job: ScanJob = { rules: [...scanner.rules], event, budgetMs };
      return kernel.pool.run(LARGE, path === undefined ? job : { ...job, path });
    };
    const inTime = await inPool(Math.max(1, budget.ends - performance.now()));
    const late = inTime.partial && performance.now() >= budget.ends;
    if (!late || budget.size > SMALL || stops(inTime)) return { ...inTime, late };
    return { ...(await inPool(Number.POSITIVE_INFINITY)), late: false };
  }

  const tooLate = (budget: CheckBudget, more: number) => budget.size + more > SMALL && performance.now() >= budget.ends;

  /** Checks files again only if they or the rules changed. */
  async function scanFiles(
    scanner: Scanner,
    read: readonly ReadFile[],
    budget: CheckBudget,
  ): Promise<(Checked & { path: string })[]> {
    const results: (Checked & { path: string })[] = [];
    for (const file of read) {
      const version = `${scanner.version} ${file.version}`;
      const id = createHmac("sha256", key).update(file.path).digest("base64");
      let known = scanned.get(id);
      let late = false;
      if (known?.version !== version) {
        if (tooLate(budget, file.text.length)) {
          results.push({ findings: [], partial: true, late: true, path: file.path });
          break;
        }
        const event: SessionEvent = { seq: 0, kind: "tool_result", text: file.text };
        const result = await scan(scanner, event, file.text.length, { budget, path: file.path });
        const { findings, partial } = result;
        late = result.late;
        // The cache must not contain secrets.
        const kept = findings.map(({ ruleId, rule, field, confidence, masked }) => ({
          ruleId,
          rule,
          field,
          confidence,
          masked,
        }));
        known = { version, result: { findings: kept, partial: partial || file.cut } };
        if (scanned.size >= 2_000) scanned.clear();
        // A later check may have more time.
        if (!partial) scanned.set(id, known);
      }
      results.push({ ...known.result, late, path: file.path });
    }
    return results;
  }

  /** Checks what git prints of the history. `known`: git answered, and that is all of it. */
  async function scanPast(scanner: Scanner, { args, places, part }: Reads["past"][number], budget: CheckBudget) {
    const findings: Checked["findings"] = [];
    let known = places.length > 0;
    for (const place of places.slice(0, 3)) {
      const timeoutMs = Math.min(GIT_MS, Math.max(1, Math.floor(budget.ends - performance.now())));
      const printed = await gitPrints(args, place, { env: process.env, timeoutMs });
      known &&= printed?.complete === true;
      if (!printed) continue;
      const text = part === undefined ? printed.text : cutParts(printed.text, [part]);
      const event: SessionEvent = { seq: 0, kind: "tool_result", text };
      findings.push(...(await scan(scanner, event, text.length, { budget })).findings);
    }
    return { findings, known };
  }

  const reading = (ends: number) => ({ home: kernel.env.home, pool: kernel.pool, ms: ends - performance.now() });

  const roleOf = (call: ToolCall): ToolRole | undefined => {
    const own = kernel.registry.adapters.get(call.client)?.tools?.[call.tool_name];
    if (own) return own;
    for (const { tools } of kernel.registry.adapters.values())
      if (tools?.[call.tool_name]) return tools[call.tool_name];
    return undefined;
  };

  /** Whether a finding blocks the call. Definite findings do, probable ones by configuration, and those of a custom rule by its action. */
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
    // One deadline for the whole call: after it, the hook ignores the answer and does what its user chose.
    const budget: CheckBudget = { ends: performance.now() + TIME_MS, size: 0 };
    const own = await scan(scanner, event, size, { budget });
    const role = roleOf(call);
    const doubts: Doubt[] = [];
    const doubtful = ({ ruleId, confidence }: { ruleId: string; confidence: string }) =>
      confidence === "probable" && ruleOf(scanner, ruleId)?.builtin === true;
    if (role === "shell")
      doubts.push(
        ...own.findings
          .filter(doubtful)
          .map(({ rule }): Doubt => ({ kind: "typed-password", what: rule, found: true })),
      );
    const found = own.findings.map((finding) => ({ ...finding, field: hideIn(scanner, finding.field).slice(0, 200) }));
    const reads = await pathsRead(call, role, reading(budget.ends));
    doubts.push(...reads.doubts);
    const files = await smallestFirst(reads.paths);
    let { unsure } = reads;
    let unchecked = own.partial || reads.cut || files.cut;
    let { late } = own;
    for (const path of files.there) {
      if (tooLate(budget, 0)) {
        unchecked = late = true;
        break;
      }
      const read = await readPath(path, reads.folders, reads.parts.get(path));
      if (isStore(path)) {
        if (read.files.length === 0 || read.files.some(({ text }) => text.trim() !== "")) reads.stores.add(path);
        else reads.stores.delete(path);
      }
      if (reads.many) unchecked ||= read.cut;
      else unsure ||= read.cut;
      for (const file of await scanFiles(scanner, read.files, budget)) {
        const name = hideIn(scanner, basename(file.path)).slice(0, 200);
        const field = `file:${name}`;
        if (isSecretFile(file.path) && file.findings.some(doubtful))
          doubts.push({ kind: "probable-secret", what: `\`${name}\``, found: true });
        found.push(...file.findings.map((finding) => ({ ...finding, field })));
        unchecked ||= file.partial;
        late ||= file.late;
      }
    }
    for (const past of reads.past) {
      const { findings, known } = await scanPast(scanner, past, budget);
      found.push(...findings.map((finding) => ({ ...finding, field: "git" })));
      unsure ||= !known;
      if (!known && past.asks && findings.length === 0) doubts.push({ kind: "probable-secret", what: past.said });
    }
    const blocking = found.filter((finding) => blocks(scanner, finding));
    if (blocking.length === 0)
      for (const path of reads.stores) doubts.push({ kind: "credential-store", what: `\`${basename(path)}\`` });
    const archive = reachesArchive(call, role, {
      dataDir: kernel.storage.dataDir,
      home: kernel.env.home,
      port: kernel.address?.port,
    });
    if (archive !== undefined) found.push({ ...OWN_ARCHIVE, masked: archive });
    const hidden = doubts.map((doubt) => ({ ...doubt, what: hideIn(scanner, doubt.what).slice(0, 200) }));
    found.push(...hidden.filter((doubt) => !doubt.found).map(doubtFinding));
    const [doubt] = hidden;
    const reason =
      blocking.length > 0
        ? reasonOf(blocking)
        : archive !== undefined
          ? archiveText(archive)
          : doubt !== undefined && kernel.config.security.block === "probable"
            ? doubtText(doubt)
            : // A call that was not checked is not clean: do what the user chose for a guard that cannot answer.
              unchecked && (await installer.onFailureOf(call.client)) === "block"
              ? uncheckedText(late)
              : null;
    const stops = reason !== null && mode === "enforce";
    return {
      decision: stops ? "block" : "allow",
      reason: stops ? reason : null,
      ask: doubt !== undefined && !stops && mode === "enforce" ? doubtText(doubt) : null,
      findings: found
        .slice(0, 100)
        .map(({ ruleId, field, confidence, masked }) => ({ rule: ruleId, field, confidence, masked })),
      mode,
      partial: unchecked || unsure,
    };
  }

  function readCall(body: Record<string, Json>, client: string | undefined): ToolCall | undefined {
    const adapters = [...kernel.registry.adapters.values()];
    const call = readPayload(
      body,
      client,
      (payload) => adapters.find(({ guard }) => guard?.recognises?.(payload) === true)?.name,
    );
    return call && adapters.find(({ name }) => name === call.client)?.guard?.namesFound
      ? { ...call, namesFound: true }
      : call;
  }

  return {
    ...installer,
    async check(body, client, hook) {
      const started = performance.now();
      const call = readCall(body, client);
      if (!call) throw new SessarcError("INVALID_INPUT", { reason: "The body contains no tool call" });
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

/** Approximate number of characters in the strings of a value. */
function sizeOf(value: Json, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 64) return 8;
  let size = 0;
  for (const item of Object.values(value)) size += sizeOf(item as Json, depth + 1);
  return size;
}
