/** Limits of providers that come near, by what the providers reported and nothing else. */
import type { Kernel } from "sessarc";
import type { Show } from "./system.ts";

/** A reading of the hook `limits:reported`; times in ms. */
interface Reading {
  tool: string;
  minutes: number;
  at: number;
  resetsAt: number;
  usedPercent: number;
}

export interface LimitNotice {
  tool: string;
  /** Name of the assistant. */
  label: string;
  /** Length of the window. */
  minutes: number;
  usedPercent: number;
  /** ISO 8601 UTC: when the provider reported it, and when the window resets. */
  at: string;
  resetsAt: string;
  /** When it is used up at the pace of today, if that is before it resets; ISO 8601 UTC. */
  runsOutAt: string | null;
  /** In English, for a terminal. */
  text: string;
}

export interface Limits {
  /** None when they are switched off. */
  list(): Promise<LimitNotice[]>;
  /** Returns at once, so that no import waits: then shows a notification for what comes near, each kind once a window. */
  check(readings: readonly Reading[]): void;
}

export const migrations: readonly string[] = [
  // One row for each notification that was shown: `reading` is the tool, the length and the quarter-hour of the reset.
  "create table limit_notice (reading text not null, kind text not null, resets integer not null, primary key (reading, kind))",
];

const NEAR_PERCENT = 80;
/** A pace of less time says nothing. */
const LEAST_MS = 1_800_000;
const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;

export function createLimits(kernel: Kernel, show: Show): Limits {
  const { db, readOnly } = kernel.storage;
  const isOn = () => kernel.config.notices.limits === "on";

  async function near(): Promise<(LimitNotice & { window: string })[]> {
    if (!isOn()) return [];
    const now = Date.now();
    const readings = await kernel.inject("insights").runningReadings(now);
    const windows = new Map<string, Reading[]>();
    for (const reading of readings) {
      // A provider's clock may differ by seconds from one reading to the next.
      const window = `${reading.tool} ${reading.minutes} ${Math.round(reading.resetsAt / QUARTER_MS)}`;
      windows.set(window, [...(windows.get(window) ?? []), reading]);
    }
    return [...windows].flatMap(([window, list]) => {
      const last = list.at(-1);
      if (!last) return [];
      const runsOut = runsOutAt(list, last, now);
      if (last.usedPercent < NEAR_PERCENT && runsOut === undefined) return [];
      const label = kernel.inject("archive").adapter(last.tool)?.label ?? last.tool;
      const pace = runsOut === undefined ? "" : `, runs out at ${clock(runsOut, now)}`;
      return [
        {
          window,
          tool: last.tool,
          label,
          minutes: last.minutes,
          usedPercent: last.usedPercent,
          at: new Date(last.at).toISOString(),
          resetsAt: new Date(last.resetsAt).toISOString(),
          runsOutAt: runsOut === undefined ? null : new Date(runsOut).toISOString(),
          text: `${label}: ${Math.round(last.usedPercent)} % of the ${lengthOf(last.minutes)} limit used${pace}; resets at ${clock(last.resetsAt, now)}`,
        },
      ];
    });
  }

  /** True the first time. */
  async function isNew({ window, resetsAt }: { window: string; resetsAt: string }, kind: string): Promise<boolean> {
    if (await db.get("select 1 from limit_notice where reading = ? and kind = ?", [window, kind])) return false;
    await db.batch([
      ["delete from limit_notice where resets < ?", [Date.now() - DAY_MS]],
      ["insert or ignore into limit_notice values (?, ?, ?)", [window, kind, Date.parse(resetsAt)]],
    ]);
    return true;
  }

  /** One at a time; readings that come meanwhile are read by one more. */
  let running: Promise<void> | undefined;
  let again = false;
  async function tell(): Promise<void> {
    for (const notice of await near()) {
      const kinds = [
        ...(notice.usedPercent >= NEAR_PERCENT ? ["used"] : []),
        ...(notice.runsOutAt === null ? [] : ["pace"]),
      ];
      const fresh: string[] = [];
      for (const kind of kinds) if (await isNew(notice, kind)) fresh.push(kind);
      if (fresh.length > 0) show(`The ${lengthOf(notice.minutes)} limit comes near`, notice.text);
    }
  }
  async function tellAll(): Promise<void> {
    try {
      do {
        again = false;
        await tell();
      } while (again);
    } catch (error) {
      if (!kernel.closing.aborted) await kernel.notify("listener:failed", error, { hook: "limits:reported" });
    } finally {
      running = undefined;
    }
  }

  kernel.onClose(() => running);

  return {
    list: async () => (await near()).map(({ window: _, ...notice }) => notice),
    check(readings) {
      // A command shows nothing, and the service shows it then.
      if (readOnly || !kernel.address || !isOn() || !readings.some(({ resetsAt }) => resetsAt > Date.now())) return;
      again = true;
      running ??= tellAll();
    },
  };
}

/**
 * When the window is used up at the pace of today: from the window's start, at which nothing is used, or from the last reading before today
 * where the window began earlier. Undefined when it resets before, and for less than half an hour.
 */
function runsOutAt(list: readonly Reading[], last: Reading, now: number): number | undefined {
  if (last.usedPercent >= 100) return undefined;
  const start = last.resetsAt - last.minutes * 60_000;
  const today = new Date(now).setHours(0, 0, 0, 0);
  const before = list.findLast(({ at }) => at <= today) ?? list[0];
  const base =
    start >= today
      ? { at: start, usedPercent: 0 }
      : { at: Math.max(today, before?.at ?? today), usedPercent: before?.usedPercent ?? 0 };
  const [took, used] = [last.at - base.at, last.usedPercent - base.usedPercent];
  if (took < LEAST_MS || used <= 0) return undefined;
  const end = last.at + ((100 - last.usedPercent) * took) / used;
  return end < last.resetsAt && end > now ? end : undefined;
}

const lengthOf = (minutes: number) => (minutes % 1440 === 0 ? `${minutes / 1440}-day` : `${minutes / 60}-hour`);

function clock(time: number, now: number): string {
  const at = new Date(time);
  const two = (n: number) => String(n).padStart(2, "0");
  const text = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === new Date(now).toDateString()) return text;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${text}`;
}
