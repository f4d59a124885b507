/** Commands of one session: which failed and were then run otherwise, with no change of a file between. */
import type { SessionEvent } from "sessarc";
import { type ToolRole, toCommand } from "sessarc/adapter";
import { type Difference, differ } from "./differ.ts";
import { isChange, isQuestion, isWrongCall, toHead, toWords } from "./shell.ts";

/** A command that failed, and the one that worked instead. */
export interface Slip extends Difference {
  /** Of the call that failed, and of the one that worked. */
  seq: number;
  workedSeq: number;
  at: string | null;
  failed: readonly string[];
  worked: readonly string[];
  /** The result says that the call was wrong, not what it checked. */
  isWrongCall: boolean;
  /** About how many the failed call and its result took: a quarter of the characters. */
  tokens: number;
}
/** A command that ended. */
export interface Run {
  seq: number;
  at: string | null;
  words: readonly string[];
  head: string;
  ok: boolean;
}

const CHARS_PER_TOKEN = 4;
/** Calls after which a failure is over. */
const REACH = 6;
const CHANGING: ReadonlySet<ToolRole> = new Set(["edit", "write", "patch", "delete", "move"]);

interface Pending {
  run: Run;
  isWrongCall: boolean;
  tokens: number;
  left: number;
}

export function createSlipReader(tools: Readonly<Record<string, ToolRole>>, cwd: string | null) {
  const calls = new Map<string, { event: SessionEvent; line: string; words: string[] | undefined }>();
  let pending: Pending[] = [];
  let lastId = "";
  const slips: Slip[] = [];
  const runs: Run[] = [];

  function onWorked(run: Run, line: string): void {
    const same = pending.filter(({ run: { words } }) => words.join(" ") === run.words.join(" "));
    if (same.length > 0) pending = pending.filter((one) => !same.includes(one));
    for (const { run: failure, ...rest } of pending.toReversed()) {
      const difference = differ(failure.words, run.words);
      if (!difference) continue;
      const { seq, at, words: failed } = failure;
      slips.push({
        ...difference,
        seq,
        workedSeq: run.seq,
        at,
        failed,
        worked: run.words,
        isWrongCall: rest.isWrongCall,
        tokens: rest.tokens,
      });
      pending = [];
      return;
    }
    if (isChange(line, run.words)) pending = [];
  }

  return {
    slips,
    runs,
    event(event: SessionEvent): void {
      if (event.kind === "tool_use") {
        const role = Object.hasOwn(tools, event.tool_name ?? "") ? tools[event.tool_name ?? ""] : undefined;
        if (role !== undefined && CHANGING.has(role)) pending = [];
        if (role !== "shell") return;
        const line = toCommand(event.tool_input);
        lastId = event.tool_use_id ?? "";
        calls.set(lastId, { event, line, words: toWords(line, cwd) });
      } else if (event.kind === "tool_result") {
        const id = event.tool_use_id ?? lastId;
        const call = calls.get(id);
        calls.delete(id);
        if (!call?.words || isQuestion(call.words)) return;
        const ok = event.is_error !== true;
        const run: Run = {
          seq: call.event.seq,
          at: call.event.at ?? null,
          words: call.words,
          head: toHead(call.words),
          ok,
        };
        runs.push(run);
        pending = pending.filter((one) => --one.left > 0);
        if (ok) onWorked(run, call.line);
        else {
          const tokens = Math.ceil((call.line.length + event.text.length) / CHARS_PER_TOKEN);
          pending.push({ run, isWrongCall: isWrongCall(event.text), tokens, left: REACH });
        }
      }
    },
  };
}
