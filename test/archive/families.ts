/** Families of logs that repeat each other, what happens to them, and what an archive of them must count. */
import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";

const MODELS = ["claude-sonnet-4-5", "claude-haiku-4-5"] as const;
const FULL = 100;
const PARTIAL = 3;
/** Rows of a turn: a question, a reply half-written, the whole of it with its call, and the call's failure. */
const ROWS = 4;
/** Lately, so that a log is imported in pieces. */
const BEGIN = Math.floor(Date.now() / 900_000) * 900_000 - 40 * 3_600_000;
/** Two turns may be on two days. The last of at most 18 turns is still in the past: a reply more than a day ahead is refused. */
const STEP = 2 * 3_600_000;

/** The `row`-th row of a turn. */
interface Said {
  turn: number;
  row: number;
}

export interface Log {
  key: string;
  /** Number of the log it is a sub-agent of. */
  parent: number | null;
  /** Number of the log whose start it repeats. */
  of: number | null;
  /** Its rows say where it came from. */
  named: boolean;
  project: string;
  /** Rows at its start that it repeats. */
  copied: number;
  rows: Said[];
}

export type Step =
  | { do: "grow" | "import" | "live" | "remove" | "delete"; log: number }
  | { do: "sync" | "undo" | "restart" | "rebuild" | "compact" };

const plan = fc.record({
  kind: fc.constantFrom("main", "main", "fork", "fork", "fork", "named", "agent", "agent"),
  pick: fc.nat(99),
  keeps: fc.integer({ min: 1, max: 3 * ROWS }),
  adds: fc.integer({ min: 0, max: 2 }),
  /** Of the last turn. */
  ends: fc.integer({ min: 1, max: ROWS }),
  project: fc.constantFrom("app", "app", "lib"),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** Logs in the order in which their files are made. */
export const family: fc.Arbitrary<Log[]> = fc.array(plan, { minLength: 2, maxLength: 6 }).map((plans) => {
  const logs: Log[] = [];
  let turns = 1;
  for (const one of plans) logs.push(toLog(one, logs, () => turns++));
  return logs;
});

function toLog({ kind, pick, keeps, adds, ends, project }: Plan, logs: readonly Log[], next: () => number): Log {
  const number = (of: readonly Log[]) => {
    const one = of[pick % Math.max(1, of.length)];
    return one ? logs.indexOf(one) : null;
  };
  const mains = logs.filter((log) => log.parent === null);
  const parent = kind === "agent" ? number(mains) : null;
  const origin = parent === null ? null : (logs[parent]?.of ?? null);
  const of =
    kind === "main"
      ? null
      : parent === null
        ? number(mains)
        : // A task of its own, its parent's talk gone on with, or what an agent of the session did that its parent came from.
          ([null, parent, number(logs.filter((log) => log.parent !== null && log.parent === origin))][keeps % 3] ??
          null);
  const named = kind === "named";
  const rows = of === null ? [] : startOf(logs[of]?.rows ?? [], keeps, named);
  const copied = rows.length;
  for (let left = adds + (copied === 0 ? 1 : 0); left > 0; left--) {
    const turn = next();
    for (let row = 0; row < (left === 1 ? ends : ROWS); row++) rows.push({ turn, row });
  }
  const n = String(logs.length).padStart(12, "0");
  const key = parent === null ? `aaaaaaaa-0000-4000-8000-${n}` : `${logs[parent]?.key}:agent-${n}`;
  const home = parent === null ? project : (logs[parent]?.project ?? project);
  return { key, parent, of: copied > 0 ? of : null, named: named && copied > 0, project: home, copied, rows };
}

/** A fork whose log does not name its origin is recognized only by a reply: its copy ends after one. */
function startOf(rows: readonly Said[], keeps: number, named: boolean): Said[] {
  const start = rows.slice(0, keeps);
  if (!named) while (start.length > 0 && start.at(-1)?.row === 0) start.pop();
  return start;
}

/** Any order in which the logs may grow, and what is done between. */
export const toHistory = (logs: readonly Log[]): fc.Arbitrary<Step[]> =>
  fc
    .tuple(
      fc.shuffledSubarray(
        logs.flatMap((log, n) => log.rows.map(() => n)),
        { minLength: logs.reduce((sum, log) => sum + log.rows.length, 0) },
      ),
      fc.array(fc.tuple(fc.nat(39), fc.nat(99)), { minLength: 100, maxLength: 100 }),
    )
    .map(([order, between]) =>
      order.flatMap((log, i): Step[] => {
        const [what, pick] = between[i % between.length] ?? [0, 0];
        return [{ do: "grow", log }, ...DONE(what, pick % logs.length)];
      }),
    );

/** About every third record something is done. */
function DONE(what: number, log: number): Step[] {
  if (what < 5) return [{ do: "sync" }];
  if (what < 8) return [{ do: "import", log }];
  if (what < 11) return [{ do: "live", log }];
  if (what === 11) return [{ do: "delete", log }];
  if (what === 12) return [{ do: "undo" }];
  if (what === 13) return [{ do: "remove", log }];
  if (what === 14) return [{ do: "restart" }];
  if (what === 15) return [{ do: "rebuild" }];
  if (what === 16) return [{ do: "compact" }];
  return [];
}

export const toId = (log: Log) => `claude-code:${log.key}`;

export function toPath(home: string, { key, project }: Log): string {
  const [session = "", agent] = key.split(":");
  const folder = join(home, `.claude/projects/-w-${project}`);
  return agent ? join(folder, session, "subagents", `${agent}.jsonl`) : join(folder, `${session}.jsonl`);
}

/** Makes the files, each a little later than the one before, so that every archive sees the same ages. */
export function create(home: string, logs: readonly Log[]): void {
  let last = 0;
  for (const log of logs) {
    const path = toPath(home, log);
    mkdirSync(dirname(path), { recursive: true });
    for (let n = 0; ; n++) {
      writeFileSync(`${path}.${n}`, "");
      const born = statSync(`${path}.${n}`).birthtimeMs;
      if (born <= last) continue;
      last = born;
      renameSync(`${path}.${n}`, path);
      break;
    }
  }
}

let clock = Date.now() / 1000 - 86_400;
/** In place: the file keeps its birth. */
export function write(home: string, logs: readonly Log[], n: number, length: number): void {
  const log = logs[n] as Log;
  const path = toPath(home, log);
  const rows = log.rows.slice(0, length).map((said, i) => JSON.stringify(toRow(logs, n, said, i)));
  writeFileSync(path, rows.map((row) => `${row}\n`).join(""));
  utimesSync(path, ++clock, clock);
}

function toRow(logs: readonly Log[], n: number, { turn, row }: Said, at: number) {
  const log = logs[n] as Log;
  const origin = log.named && at < log.copied ? logs[log.of ?? -1] : undefined;
  const record = {
    uuid: `${row}-${turn}-${n}`,
    timestamp: new Date(BEGIN + turn * STEP + row * 60_000).toISOString(),
    cwd: `/w/${log.project}`,
    sessionId: log.key.slice(0, 36),
    ...(origin && { forkedFrom: { sessionId: origin.key } }),
  };
  const reply = (output: number, content: object) => ({
    ...record,
    type: "assistant",
    requestId: `r${turn}`,
    message: {
      id: `m${turn}`,
      role: "assistant",
      model: MODELS[turn % 2],
      content: [content],
      usage: { input_tokens: 10, output_tokens: output },
    },
  });
  if (row === 1) return reply(PARTIAL, { type: "text", text: `answer ${turn}` });
  if (row === 2)
    return reply(FULL + turn, {
      type: "tool_use",
      id: `t${turn}`,
      name: "Read",
      input: { file_path: `/w/${turn}.ts` },
    });
  const content =
    row === 0 ? `word ${turn}` : [{ type: "tool_result", tool_use_id: `t${turn}`, content: "no", is_error: true }];
  return { ...record, type: "user", message: { role: "user", content } };
}

export interface Truth {
  /** Output tokens by model, by UTC day, by project and by log; how many replies there are. */
  models: Record<string, number>;
  days: Record<string, number>;
  projects: Record<string, number>;
  logs: Record<string, number>;
  requests: number;
}

/** What counts of logs of these lengths, nothing but whose rows is asked: of each reply the largest copy, of equal ones the oldest. */
export function toTokens(logs: readonly Log[], lengths: readonly number[]): Truth {
  const copies = new Map<number, { output: number; log: number }>();
  for (const [n, log] of logs.entries())
    for (const { turn, row } of log.rows.slice(0, lengths[n])) {
      if (row !== 1 && row !== 2) continue;
      const output = row === 1 ? PARTIAL : FULL + turn;
      if (output > (copies.get(turn)?.output ?? 0)) copies.set(turn, { output, log: n });
    }
  const truth: Truth = { models: {}, days: {}, projects: {}, logs: {}, requests: copies.size };
  const add = (to: Record<string, number>, name: string, output: number) => {
    to[name] = (to[name] ?? 0) + output;
  };
  for (const [turn, { output, log }] of copies) {
    const { key, project } = logs[log] as Log;
    add(truth.models, MODELS[turn % 2] as string, output);
    add(truth.days, new Date(BEGIN + turn * STEP).toISOString().slice(0, 10), output);
    add(truth.projects, `/w/${project}`, output);
    add(truth.logs, `claude-code:${key}`, output);
  }
  return truth;
}

/** Messages that count in each log, all of them being there: those it does not repeat. And errors. */
export const toMessages = (logs: readonly Log[]) =>
  Object.fromEntries(
    logs.map((log) => {
      const own = log.rows.slice(log.copied);
      return [toId(log), [own.length, own.filter(({ row }) => row === 3).length, log.copied]];
    }),
  );
