/** Generated histories: logs of Claude Code and Codex row by row, and beside each row what it stands for, written down before anything is imported. */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface Tokens {
  input: number;
  output: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  cacheRead: number;
}
export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
export interface Reply {
  at: number;
  model: string;
  tokens: Tokens;
}
export interface Call {
  id: string;
  at: number;
  name: string;
  does: "command" | "read" | "edit" | "other";
  /** Arguments as JSON. */
  input: string;
  /** Of a read or an edit. */
  path: string;
}
export interface Result {
  call: string;
  at: number;
  failed: boolean;
  chars: number;
}
/** What the provider reported: this window is used so far, and ends then. */
export interface Reading {
  tool: string;
  minutes: number;
  at: number;
  resetsAt: number;
  usedPercent: number;
}
/** Rows that are written together, and what they stand for. */
export interface Step {
  rows: readonly object[];
  /** Time of the last row. */
  end: number;
  messages: readonly { at: number; kind: "user" | "assistant" | "thinking" | "note" | "call" | "result" }[];
  reply?: Reply;
  calls?: readonly Call[];
  result?: Result;
  readings?: readonly Reading[];
}
export interface Log {
  id: string;
  /** The session it counts with. */
  root: string;
  tool: "claude-code" | "codex";
  folder: string;
  file: string;
  /** What it repeats of another log, before its own rows: how many messages, and when the last one was. */
  copied?: { messages: number; end: number };
  steps: readonly Step[];
}

export function random(seed: number) {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}
export type Dice = ReturnType<typeof random>;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const iso = (ms: number) => new Date(ms).toISOString();

/** Two spellings of one model, one with a price for long prompts, one that costs less at night, one without a price. */
const CLAUDE_MODELS = [
  "claude-haiku-4-5",
  "claude-haiku-4-5-20251001",
  "claude-sonnet-4-5-20250929",
  "deepseek-chat",
  "unheard-of-1",
] as const;
const CODEX_MODELS = ["gpt-5", "gpt-5-mini"] as const;
/** Within a turn, at the edge of active time, over lunch, over night, over days. */
const GAPS = [
  1_000,
  4_321,
  40_000,
  59_000,
  61_000,
  10 * MINUTE,
  10 * MINUTE + 1,
  31 * MINUTE,
  3 * HOUR,
  9 * HOUR,
  40 * HOUR,
];

/** Sessions of two weeks from `start` on. */
export function anyHistory(dice: Dice, start: number): Log[] {
  const account = { end: 0, week: 0 };
  const mains = Array.from({ length: 6 }, (_, n) =>
    dice.below(3) === 0 ? codexLog(dice, n, start, account) : claudeLog(dice, n, start),
  );
  const agents = mains
    .filter(({ tool }) => tool === "claude-code" && dice.below(3) === 0)
    .map((parent, n) => agentLog(dice, n, parent));
  return [...mains, ...agents];
}

/** Writes the rows up to a time. Files are as old as their last row: nothing is live. */
export async function writeLogs(home: string, logs: readonly Log[], until = Number.POSITIVE_INFINITY): Promise<void> {
  for (const { file, steps } of logs) {
    const own = steps.filter(({ end }) => end <= until);
    const last = own.at(-1);
    if (!last) continue;
    const path = join(home, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, own.flatMap(({ rows }) => rows.map((row) => `${JSON.stringify(row)}\n`)).join(""));
    await utimes(path, last.end / 1_000, last.end / 1_000);
  }
}

const uuid = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d${String(n).padStart(4, "0")}`;
const toFolder = (n: number) => `/w/app${n % 3}`;

/** Some begin at a full hour, or just before one: hours are where days, windows and clocks change. */
function beginning(dice: Dice, start: number): number {
  const at = start + dice.below(13 * 24) * HOUR;
  return dice.below(3) === 0 ? at : dice.below(3) === 0 ? at - 1 : at + dice.below(HOUR);
}

function clock(dice: Dice, start: number) {
  let now = start;
  return {
    next(gap?: number): number {
      now += gap ?? dice.pick(GAPS);
      return now;
    },
    get now() {
      return now;
    },
  };
}

function anyTokens(dice: Dice): Tokens {
  // One in six prompts is longer than 200,000 tokens.
  const cacheRead = dice.below(6) ? dice.below(150_000) : 200_000 + dice.below(100_000);
  return {
    input: 1 + dice.below(9_000),
    output: 1 + dice.below(4_000),
    cacheWrite5m: dice.below(3) ? 0 : dice.below(20_000),
    cacheWrite1h: dice.below(4) ? 0 : dice.below(20_000),
    cacheRead,
  };
}

interface Plan {
  name: string;
  does: Call["does"];
  input: object;
  path: string;
  failed: boolean;
  chars: number;
}

/** What a turn does: commands that work or fail, a failed one again, a file that is read for nothing, one that is read and changed. */
function anyPlans(dice: Dice, folder: string, turn: string): Plan[] {
  const chars = () => 1 + dice.below(6_000);
  const command = (text: string, failed: boolean): Plan => ({
    ...{ name: "Bash", does: "command", input: { command: text }, path: "" },
    ...{ failed, chars: chars() },
  });
  const read = (path: string): Plan => ({
    ...{ name: "Read", does: "read", input: { file_path: path }, path },
    ...{ failed: false, chars: chars() },
  });
  const edit = (path: string, failed: boolean): Plan => ({
    ...{ name: "Edit", does: "edit", input: { file_path: path, old_string: `o${turn}`, new_string: `n${turn}` }, path },
    ...{ failed, chars: chars() },
  });
  const far = `${folder}/notes${turn}/far${turn}.md`;
  const near = `${folder}/src${turn}/near${turn}.ts`;
  return dice.pick<() => Plan[]>([
    () => [],
    () => [command(`make ${turn}`, dice.below(3) === 0)],
    () => Array.from({ length: 2 + dice.below(3) }, () => command(`make again ${turn}`, true)),
    () => [read(far)],
    () => [read(far), command(`make between ${turn}`, false), read(far)],
    () => [read(near), edit(near, false)],
    () => [read(near), edit(near, true)],
  ])();
}

function claudeLog(dice: Dice, n: number, start: number): Log {
  const folder = toFolder(n);
  return {
    ...{ id: `claude-code:${uuid(n)}`, root: `claude-code:${uuid(n)}`, tool: "claude-code", folder },
    file: `.claude/projects/${folder.replaceAll("/", "-")}/${uuid(n)}.jsonl`,
    steps: claudeSteps(dice, { start: beginning(dice, start), folder, name: `${n}`, session: uuid(n), agent: "" }),
  };
}

function agentLog(dice: Dice, n: number, parent: Log): Log {
  const session = parent.id.slice(parent.id.indexOf(":") + 1);
  const start = (parent.steps[0]?.end ?? 0) + 5_000;
  return {
    ...{ id: `agent ${n}`, root: parent.id, tool: "claude-code", folder: parent.folder },
    file: parent.file.replace(".jsonl", `/subagents/agent-a${n}.jsonl`),
    steps: claudeSteps(dice, { start, folder: parent.folder, name: `agent${n}`, session, agent: `a${n}` }),
  };
}

interface Session {
  start: number;
  folder: string;
  name: string;
  session: string;
  /** Of a sub-agent, which calls no tools here. */
  agent: string;
}

function claudeSteps(dice: Dice, { start, folder, name, session, agent }: Session): Step[] {
  const time = clock(dice, start);
  const steps: Step[] = [];
  let rows = 0;
  const head = (type: string, at: number) => ({
    ...{ type, uuid: `u${name}-${rows++}`, sessionId: session, timestamp: iso(at), cwd: folder },
    ...(agent !== "" && { isSidechain: true, agentId: agent }),
  });
  const prompt = () => {
    const at = steps.length === 0 ? start : time.next();
    const message = { role: "user", content: `do ${name} ${rows}` };
    steps.push({ rows: [{ ...head("user", at), message }], end: at, messages: [{ at, kind: "user" }] });
  };
  /** A reply is a row for each of its parts; the tokens are in all of them, those put out complete in the last one. */
  const reply = (plan: Plan | undefined) => {
    const model = dice.pick(CLAUDE_MODELS);
    const tokens = anyTokens(dice);
    const id = `${name}-${rows}`;
    const parts: { kind: "thinking" | "assistant" | "call"; block: object }[] = [];
    if (dice.below(3) === 0)
      parts.push({ kind: "thinking", block: { type: "thinking", thinking: "so", signature: "x" } });
    if (!plan || dice.below(2)) parts.push({ kind: "assistant", block: { type: "text", text: `answer ${id}` } });
    if (plan)
      parts.push({ kind: "call", block: { type: "tool_use", id: `t${id}`, name: plan.name, input: plan.input } });
    const first = time.next();
    const messages = parts.map(({ kind }, i) => ({ at: i === 0 ? first : time.next(900), kind }));
    const lines = parts.map(({ block }, i) => ({
      ...head("assistant", messages[i]?.at ?? first),
      requestId: `r${id}`,
      message: {
        ...{ id: `m${id}`, role: "assistant", model, content: [block] },
        usage: {
          input_tokens: tokens.input,
          output_tokens: i === parts.length - 1 ? tokens.output : 1,
          cache_read_input_tokens: tokens.cacheRead,
          cache_creation_input_tokens: tokens.cacheWrite5m + tokens.cacheWrite1h,
          cache_creation: {
            ephemeral_5m_input_tokens: tokens.cacheWrite5m,
            ephemeral_1h_input_tokens: tokens.cacheWrite1h,
          },
        },
      },
    }));
    const calls = plan && [{ id: `t${id}`, at: time.now, ...toCall(plan) }];
    steps.push({ rows: lines, end: time.now, messages, reply: { at: first, model, tokens }, ...(calls && { calls }) });
    if (!plan) return;
    const at = time.next();
    const content = [
      { type: "tool_result", tool_use_id: `t${id}`, is_error: plan.failed, content: "x".repeat(plan.chars) },
    ];
    steps.push({
      rows: [{ ...head("user", at), message: { role: "user", content } }],
      end: at,
      messages: [{ at, kind: "result" }],
      result: { call: `t${id}`, at, failed: plan.failed, chars: plan.chars },
    });
  };
  for (let turn = 0; turn <= dice.below(4); turn++) {
    prompt();
    if (agent === "") for (const plan of anyPlans(dice, folder, `${name}x${turn}`)) reply(plan);
    if (dice.below(4)) reply(undefined);
  }
  return steps;
}

const toCall = ({ name, does, input, path }: Plan) => ({ name, does, input: JSON.stringify(input), path });

/** `account`: when the running windows of the plan end. */
function codexLog(dice: Dice, n: number, from: number, account: { end: number; week: number }): Log {
  const folder = toFolder(n);
  const start = beginning(dice, from);
  const time = clock(dice, start);
  const model = dice.pick(CODEX_MODELS);
  const sum = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 };
  const row = (at: number, type: string, payload: object) => ({ timestamp: iso(at), type, payload });
  const message = (role: string, type: string, text: string) => ({ type: "message", role, content: [{ type, text }] });
  const steps: Step[] = [];
  const prompt = (text: string) => {
    const at = steps.length === 0 ? start : time.next();
    const meta = { id: uuid(n), timestamp: iso(start), cwd: folder, cli_version: "0.98.0", source: "cli" };
    const rows = [
      ...(steps.length === 0 ? [row(at, "session_meta", meta)] : []),
      row(at, "turn_context", { cwd: folder, model }),
      row(at, "response_item", message("user", "input_text", text)),
    ];
    steps.push({ rows, end: at, messages: [{ at, kind: "user" }] });
  };
  const reply = (text: string, plan: Plan | undefined) => {
    const at = time.next();
    const { input, output, cacheRead } = anyTokens(dice);
    const last = { input_tokens: input + cacheRead, cached_input_tokens: cacheRead, output_tokens: output };
    for (const key of Object.keys(last) as (keyof typeof last)[]) sum[key] += last[key];
    const id = `call${n}-${steps.length}`;
    const counted = time.next(700);
    const readings = dice.below(5) ? readingsAt(dice, counted, account) : [];
    const [primary, secondary] = readings.map(({ minutes, resetsAt, usedPercent }) => ({
      ...{ used_percent: usedPercent, window_minutes: minutes, resets_at: resetsAt / 1_000 },
    }));
    const info = { total_token_usage: { ...sum }, last_token_usage: last };
    const count = row(counted, "event_msg", {
      ...{ type: "token_count", info, rate_limits: primary ? { primary, secondary } : null },
    });
    const item = plan
      ? { type: "function_call", name: "shell", arguments: JSON.stringify(plan.input), call_id: id }
      : message("assistant", "output_text", text);
    steps.push({
      // The count may come twice.
      rows: [row(at, "response_item", item), ...(dice.below(4) ? [count] : [count, count])],
      end: counted,
      messages: [{ at, kind: plan ? "call" : "assistant" }],
      reply: { at: counted, model, tokens: { ...NO_TOKENS, input, output, cacheRead } },
      readings,
      ...(plan && { calls: [{ id, at, ...toCall({ ...plan, name: "shell" }) }] }),
    });
    if (!plan) return;
    const done = time.next();
    const result = { output: "x".repeat(plan.chars), metadata: { exit_code: plan.failed ? 1 : 0 } };
    steps.push({
      rows: [row(done, "response_item", { type: "function_call_output", call_id: id, output: JSON.stringify(result) })],
      end: done,
      messages: [{ at: done, kind: "result" }],
      result: { call: id, at: done, failed: plan.failed, chars: plan.chars },
    });
  };
  for (let turn = 0; turn <= dice.below(4); turn++) {
    prompt(`do ${n} ${turn}`);
    for (const plan of anyPlans(dice, folder, `${n}x${turn}`)) {
      const [text] = Object.values(plan.input);
      if (plan.does === "command") reply("", { ...plan, input: { command: ["bash", "-lc", String(text)] } });
    }
    if (dice.below(4)) reply(`answer ${n} ${turn}`, undefined);
  }
  const day = iso(start).slice(0, 10);
  return {
    ...{ id: `codex:${uuid(n)}`, root: `codex:${uuid(n)}`, tool: "codex", folder, steps },
    file: `.codex/sessions/${day.replaceAll("-", "/")}/rollout-${iso(start).slice(0, 19).replaceAll(":", "-")}-${uuid(n)}.jsonl`,
  };
}

/** The windows in which the provider counts then: begun by the first use after the last ones. */
function readingsAt(dice: Dice, at: number, account: { end: number; week: number }): Reading[] {
  const second = Math.floor(at / 1_000) * 1_000;
  // Logs are made one after another: an earlier time than those of the log before belongs to no window of theirs.
  if (at >= account.end || at < account.end - 5 * HOUR) account.end = second + 5 * HOUR;
  if (at >= account.week || at < account.week - 7 * DAY) account.week = second + 7 * DAY;
  const reading = (minutes: number, resetsAt: number): Reading => ({
    ...{ tool: "codex", minutes, at, resetsAt, usedPercent: dice.below(101) },
  });
  return [reading(300, account.end), reading(10_080, account.week)];
}
