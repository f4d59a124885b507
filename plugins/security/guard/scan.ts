/** Looks for secrets in the texts of one call within its time: its arguments, the files that it shows, what git prints. */
import { createHmac, randomBytes } from "node:crypto";
import type { Kernel, PoolTask, SessionEvent } from "sessarc";
import type { Rule, Scanner } from "../secrets/engine.ts";
import type { ScanJob, ScanJobResult } from "../secrets/job.ts";
import { DEADLINE_MS } from "./install/hook-script.ts";
import { readGitOutput } from "./taint/files/git-past.ts";
import type { ReadFile } from "./taint/files/read.ts";
import { cutParts } from "./taint/part.ts";
import type { CallSources } from "./taint/paths.ts";

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
/** Files whose results are cached, and folders in which git is asked. */
const CACHED_LIMIT = 2_000;
const PLACES_LIMIT = 3;

export type Finding = ScanJobResult["findings"][number];
/** `late`: the time was not enough. */
type Scanned = ScanJobResult & { late: boolean };

/** Scans the texts of one call. All of them share one deadline: after it, the hook ignores the answer and does what its user chose. */
export interface CallScan {
  readonly scanner: Scanner;
  /** Milliseconds that are left. */
  left(): number;
  /** Whether no further file may be scanned. */
  isOver(): boolean;
  /** Whether a finding blocks the call. Definite findings do, probable ones by configuration, and those of a custom rule by its action. */
  blocks(finding: Pick<Finding, "ruleId" | "confidence">): boolean;
  /** Whether the user is asked about a finding. */
  isDoubtful(finding: Pick<Finding, "ruleId" | "confidence">): boolean;
  /** `size`: characters of the event. */
  event(event: SessionEvent, size: number): Promise<Scanned>;
  /** Scans files again only if they or the rules changed. */
  files(read: readonly ReadFile[]): Promise<(Scanned & { path: string })[]>;
  /** What git prints of the history. `known`: git answered, and that is all of it. */
  past(past: CallSources["past"][number]): Promise<{ findings: Finding[]; known: boolean }>;
}

/** Returns a function that begins the scan of a call. */
export function createCallScans(kernel: Kernel): (scanner: Scanner) => CallScan {
  const scanned = new Map<string, { version: string; result: ScanJobResult }>();
  const key = randomBytes(32);

  return (scanner) => {
    const ends = performance.now() + TIME_MS;
    let total = 0;
    const rules = rulesById(scanner);
    const isOver = (more = 0) => total + more > SMALL && performance.now() >= ends;

    const blocks: CallScan["blocks"] = ({ ruleId, confidence }) => {
      const rule = rules.get(ruleId);
      if (!rule?.builtin) return rule?.action === "block";
      return confidence === "definite" || (confidence === "probable" && kernel.config.security.block === "probable");
    };

    async function scan(event: SessionEvent, size: number, path?: string): Promise<Scanned> {
      const named = path === undefined ? {} : { path };
      total += size;
      if (size <= SMALL || !kernel.pool.threaded) {
        const time = kernel.pool.threaded ? { budgetMs: BUDGET_MS } : {};
        const { findings, partial } = scanner.scanEvent(event, { ...time, forms: true, ...named });
        if (!partial || findings.some(blocks)) return { findings, partial, late: false };
      }
      const inPool = (budgetMs: number) =>
        kernel.pool.run(LARGE, { rules: [...scanner.rules], event, budgetMs, ...named });
      const inTime = await inPool(Math.max(1, ends - performance.now()));
      const late = inTime.partial && performance.now() >= ends;
      if (!late || total > SMALL || inTime.findings.some(blocks)) return { ...inTime, late };
      return { ...(await inPool(Number.POSITIVE_INFINITY)), late: false };
    }

    /** Undefined if no time is left. */
    async function scanFile(file: ReadFile): Promise<Scanned | undefined> {
      const version = `${scanner.version} ${file.version}`;
      const id = createHmac("sha256", key).update(file.path).digest("base64");
      const known = scanned.get(id);
      if (known?.version === version) return { ...known.result, late: false };
      if (isOver(file.text.length)) return undefined;
      const event: SessionEvent = { seq: 0, kind: "tool_result", text: file.text };
      const { findings, partial, late } = await scan(event, file.text.length, file.path);
      // The cache must not contain secrets.
      const cached = findings.map(({ ruleId, rule, field, confidence, masked }) => ({
        ruleId,
        rule,
        field,
        confidence,
        masked,
      }));
      const result = { findings: cached, partial: partial || file.cut };
      if (scanned.size >= CACHED_LIMIT) scanned.clear();
      // A later check may have more time.
      if (!partial) scanned.set(id, { version, result });
      return { ...result, late };
    }

    return {
      scanner,
      left: () => ends - performance.now(),
      isOver,
      blocks,
      isDoubtful: ({ ruleId, confidence }) => confidence === "probable" && rules.get(ruleId)?.builtin === true,
      event: scan,
      async files(read) {
        const results: (Scanned & { path: string })[] = [];
        for (const file of read) {
          const result = await scanFile(file);
          results.push({ ...(result ?? { findings: [], partial: true, late: true }), path: file.path });
          if (!result) break;
        }
        return results;
      },
      async past({ args, places, part }) {
        const findings: Finding[] = [];
        let known = places.length > 0;
        for (const place of places.slice(0, PLACES_LIMIT)) {
          const timeoutMs = Math.min(GIT_MS, Math.max(1, Math.floor(ends - performance.now())));
          const printed = await readGitOutput(args, place, { env: process.env, timeoutMs });
          known &&= printed?.complete === true;
          if (!printed) continue;
          const text = part === undefined ? printed.text : cutParts(printed.text, [part]);
          findings.push(...(await scan({ seq: 0, kind: "tool_result", text }, text.length)).findings);
        }
        return { findings, known };
      },
    };
  };
}

const known = new WeakMap<Scanner, Map<string, Rule>>();

function rulesById(scanner: Scanner): Map<string, Rule> {
  const rules = known.get(scanner) ?? new Map(scanner.rules.map((rule) => [rule.id, rule]));
  known.set(scanner, rules);
  return rules;
}
