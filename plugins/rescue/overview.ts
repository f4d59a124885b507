/** The figures of Home and of `sessarc rescue`. */
import type { Kernel } from "sessarc";
import type { Keeper, StoredLogs } from "./keep/keeper.ts";
import { type SessionState, STATES, type States } from "./state/states.ts";

export interface RescueOverview {
  /** Sessions that a person started. */
  sessions: number;
  /** Of them, by state. */
  states: Record<SessionState, number>;
  /** Hidden or gone. */
  notListed: number;
  /** Logs that assistants delete within seven days and that are not archived as they are. */
  notArchived: number;
  /** Their assistants. */
  notArchivedTools: string[];
  /** Sessions that were deleted before they were archived, and how many of their prompts are left; in none of the numbers above. */
  traces: { sessions: number; prompts: number };
  stored: StoredLogs;
  retention: RetentionRule[];
}

export interface RetentionRule {
  tool: string;
  label: string;
  days: number;
  /** The settings file, or "default". */
  source: string;
  /** sessarc can change it. */
  changeable: boolean;
}

/** Started by a person, not by another session. */
const TOP_LEVEL = "coalesce(parent_id, '') = ''";

export async function readOverview(kernel: Kernel, keeper: Keeper, states: States): Promise<RescueOverview> {
  const { db } = kernel.storage;
  const count = async (sql: string, params: Parameters<typeof db.get>[1] = []) =>
    (await db.get<{ n: number }>(`select count(*) as n from session where ${TOP_LEVEL} and ${sql}`, params))?.n ?? 0;
  const counted = await Promise.all(
    STATES.map(async (state) => {
      const { sql, params } = await states.condition(state);
      return [state, await count(`(${sql})`, params)] as const;
    }),
  );
  const all: Partial<Record<SessionState, number>> = Object.fromEntries(counted);
  const byState = { listed: 0, hidden: 0, dying: 0, gone: 0, reclaimed: 0, "folder-gone": 0, ...all };
  const due = await kernel.inject("retention").report();
  const late = due.filter(({ notArchived }) => notArchived > 0);
  return {
    sessions: await count("1"),
    states: byState,
    notListed: byState.hidden + byState.gone,
    notArchived: late.reduce((sum, one) => sum + one.notArchived, 0),
    notArchivedTools: late.map(({ tool }) => tool),
    traces: (await kernel.find("traces")?.count()) ?? { sessions: 0, prompts: 0 },
    stored: await keeper.room(),
    retention: await readRetention(kernel),
  };
}

/** Assistants that are here and delete their logs. */
export async function readRetention(kernel: Kernel): Promise<RetentionRule[]> {
  const here = new Set(
    (await kernel.storage.db.all<{ tool: string }>("select distinct tool from session")).map(({ tool }) => tool),
  );
  const rules: RetentionRule[] = [];
  for (const { name, label, retention, rescue } of kernel.registry.adapters.values()) {
    const rule = here.has(name) ? await retention?.(kernel.env) : undefined;
    if (rule) rules.push({ tool: name, label, ...rule, changeable: rescue?.retention !== undefined });
  }
  return rules;
}
