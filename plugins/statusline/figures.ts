/** What the archive adds to a status line: the answer of POST /statusline, and the state file. */
export interface Figures {
  /** The assistant they are about: as asked, else that of the session, else the first that shows such a line. */
  tool: string | null;
  /** When they were counted. */
  at: string;
  /** The local day that `today` is about. */
  day: string;
  today: { tokens: number; microdollars: number };
  /** Null where the session is not archived yet, or its models have no price. */
  session: { microdollars: number } | null;
  /** The budget of which most is used; null without budgets. */
  budget: { period: string; share: number } | null;
  /** Running windows of five hours, one a tool. */
  windows: RunningWindow[];
  /** Limits of providers that come near; none when these notices are switched off. */
  limits: NearLimit[];
}
export interface NearLimit {
  tool: string;
  /** Length of the window. */
  minutes: number;
  usedPercent: number;
  resetsAt: string;
  /** At the pace of today, if that is before the window resets. */
  runsOutAt: string | null;
}
export interface RunningWindow {
  tool: string;
  start: string;
  end: string;
  tokens: number;
  microdollars: number;
}

/** The state file, below `files` of the data directory. */
export const STATE_KEY = "statusline:state.json";

/** `2026-11-20` on the clock of this machine. */
export function toDay(now: number): string {
  const at = new Date(now);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Undefined for what is not the content of the state file. */
export function toFigures(value: unknown): Figures | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { tool, at, day, today, session, budget, windows, limits } = value as { [K in keyof Figures]?: unknown };
  if (typeof at !== "string" || Number.isNaN(Date.parse(at)) || typeof day !== "string") return undefined;
  if (!isSum(today) || !Array.isArray(windows) || !windows.every(isWindow)) return undefined;
  return {
    tool: typeof tool === "string" ? tool : null,
    at,
    day,
    today,
    windows,
    session: isCost(session) ? session : null,
    budget: isBudget(budget) ? budget : null,
    limits: Array.isArray(limits) ? limits.filter(isLimit) : [],
  };
}

/** A budget may be exceeded, but no share above this is one. */
const MOST_SHARE = 1_000;
const isAmount = (value: unknown, most = 1e15) => typeof value === "number" && value >= 0 && value <= most;
const isCost = (value: unknown): value is { microdollars: number } =>
  typeof value === "object" && value !== null && "microdollars" in value && isAmount(value.microdollars);
const isBudget = (value: unknown): value is NonNullable<Figures["budget"]> =>
  typeof value === "object" &&
  value !== null &&
  typeof Reflect.get(value, "period") === "string" &&
  isAmount(Reflect.get(value, "share"), MOST_SHARE);
const isSum = (value: unknown): value is Figures["today"] =>
  isCost(value) && "tokens" in value && Number.isSafeInteger(value.tokens) && isAmount(value.tokens);
const isWindow = (value: unknown): value is RunningWindow =>
  isSum(value) &&
  (["tool", "start", "end"] as const).every((name) => name in value && typeof Reflect.get(value, name) === "string");
const isLimit = (value: unknown): value is NearLimit =>
  typeof value === "object" &&
  value !== null &&
  (["tool", "resetsAt"] as const).every((name) => typeof Reflect.get(value, name) === "string") &&
  (["minutes", "usedPercent"] as const).every((name) => typeof Reflect.get(value, name) === "number") &&
  ["string", "object"].includes(typeof Reflect.get(value, "runsOutAt"));
