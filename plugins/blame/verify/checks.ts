/** Commands by which sessions checked what they wrote: tests, type checks, lint, builds, each with its outcome. Linear in the sessions' messages. */
import type { Kernel } from "sessarc";
import { type Adapter, toolActions } from "sessarc/adapter";

export type CheckKind = "tests" | "types" | "lint" | "build";

/** `stale`: it passed, and the session wrote lines of the range afterwards. `none`: no such command was run. */
export type CheckOutcome = "passed" | "failed" | "stale" | "none";

export interface CheckRun {
  session: string;
  /** The message of the call. */
  seq: number;
  at: string | null;
  kind: CheckKind;
  /** The first line, without secrets, 200 characters at most. */
  command: string;
  failed: boolean;
}

const KINDS: readonly (readonly [CheckKind, RegExp])[] = [
  [
    "tests",
    /\b(vitest|jest|pytest|mocha|ava|rspec|phpunit|ctest|nextest|playwright test|(npm|pnpm|yarn|bun|deno|cargo|go|dotnet|mvn|gradle|gradlew|swift|mix|zig build) (run )?([\w-]+ )?test|node --test|make (test|check)|tox|nox|unittest)\b/,
  ],
  ["types", /\b(tsc|vue-tsc|mypy|pyright|cargo check|go vet|flow check|typecheck|type-check)\b/],
  ["lint", /\b(eslint|biome|ruff|clippy|golangci-lint|rubocop|flake8|stylelint|lint)\b/],
  [
    "build",
    /\b((npm|pnpm|yarn|bun) run build|vite build|cargo build|go build|make build|dotnet build|mvn package|gradle build)\b/,
  ],
];

/** What a command checks; undefined for any other. Only words of a command count, never text that it prints or writes. */
export function checkKind(command: string): CheckKind | undefined {
  const code = command.replace(/<<-?\s*(['"]?)(\w+)\1[\s\S]*?^\2$/gm, "").replace(/'[^']*'|"[^"]*"/g, "''");
  if (/^\s*(echo|printf|cat|grep|rg|sed|ls|git)\b[^;&|]*$/.test(code)) return undefined;
  return KINDS.find(([, mark]) => mark.test(code))?.[0];
}

/** Checks of one session, in its order. `hide` masks secrets. */
export async function readChecks(
  kernel: Kernel,
  id: string,
  hide: (text: string) => Promise<string>,
): Promise<CheckRun[]> {
  const archive = kernel.inject("archive");
  const row = await archive.find(id);
  if (!row) return [];
  const adapter: Adapter | undefined = archive.adapter(row.tool);
  const open = new Map<string, CheckRun>();
  const runs: CheckRun[] = [];
  for await (const events of archive.events(row))
    for (const { kind, seq, at, tool_name: name = "", tool_use_id: use, tool_input: input, is_error } of events) {
      if (kind === "tool_use") {
        for (const action of toolActions(adapter?.tools?.[name], input) ?? []) {
          if (action.do !== "command") continue;
          const text = typeof action.command === "string" ? action.command : action.command.join(" ");
          const check = checkKind(text);
          if (check === undefined) continue;
          const command = (await hide(text)).split("\n", 1)[0]?.slice(0, 200) ?? "";
          const run: CheckRun = { session: id, seq, at: at ?? null, kind: check, command, failed: false };
          runs.push(run);
          if (use !== undefined) open.set(use, run);
        }
      } else if (kind === "tool_result" && use !== undefined) {
        const run = open.get(use);
        if (run && is_error === true) run.failed = true;
        open.delete(use);
      }
    }
  return runs;
}

/** What the last run of a kind says of lines of which the last was written by message `lastWrite`. */
export function outcomeOf(runs: readonly CheckRun[], kind: CheckKind, lastWrite: number): CheckOutcome {
  const last = runs.findLast((one) => one.kind === kind);
  if (!last) return "none";
  if (last.failed) return "failed";
  return last.seq < lastWrite ? "stale" : "passed";
}
