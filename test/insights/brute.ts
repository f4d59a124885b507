/** Reports of usage the slow way, word by word as they are defined: every quarter-hour of every session checked, sets of whatever is counted. */
import type { TokenUsage } from "sessarc";
import type { UsageReport, UsageRow } from "../../plugins/insights/index.ts";
import { modelName } from "../../plugins/insights/prices/names.ts";

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

export interface BruteSession {
  id: string;
  root: string;
  kind: string;
  tool: string;
  project: string;
  /** Of its project. */
  branch: string;
  folder: string;
  label: string | null;
  evidence: { records: number; requests: number; duplicatesFolded: number; inheritedExcluded: number } | null;
  slots: { quarter: number; m: number; a: number; e: number }[];
  tokens: { quarter: number; model: string; tokens: TokenUsage }[];
}

export interface Question {
  by: string;
  zone: string;
  from?: string | undefined;
  to?: string | undefined;
  tool?: string | undefined;
  kind?: string | undefined;
  project?: string | undefined;
  /** It and those of its root. */
  session?: string | undefined;
}

interface Money {
  /** The model, or the model at one of its prices. */
  keyAt(model: string, at: number): string;
  cost(usage: Record<string, TokenUsage>): { microdollars: number; unpriced: string[] };
}

/** What of a report is compared: a row without what follows from the rest of it. */
export type Figures = ReturnType<typeof toFigures>;
export const toFigures = (row: UsageRow | (Omit<UsageRow, "key" | "label"> & Partial<UsageRow>)) => ({
  key: row.key ?? null,
  label: row.label ?? null,
  sessions: row.sessions,
  messages: row.messages,
  activeMs: row.activeMs,
  usage: row.usage,
  tokens: row.tokens,
  microdollars: row.cost.microdollars,
  unpriced: [...row.cost.unpriced].sort(),
  models: row.models,
});
export const reportFigures = ({ rows, totals, evidence, range }: UsageReport) => ({
  rows: rows.map(toFigures),
  totals: toFigures(totals),
  evidence,
  range,
});

export function brute(
  sessions: readonly BruteSession[],
  { by, zone, from, to, ...filter }: Question,
  money: Money,
  projectNames: ReadonlyMap<string, string> = new Map(),
): ReturnType<typeof reportFigures> {
  const toDay = calendar(zone);
  const rows = new Map<string, Row>();
  const totals = new Row(null, null);
  const evidence = { records: 0, requests: 0, duplicatesFolded: 0, inheritedExcluded: 0 };
  for (const one of sessions) {
    if (filter.tool !== undefined && one.tool !== filter.tool) continue;
    if (filter.kind !== undefined && one.kind !== filter.kind) continue;
    if (filter.project !== undefined && one.project !== filter.project) continue;
    if (filter.session !== undefined && one.id !== filter.session && one.root !== filter.session) continue;
    const findRow = (day: string, model: string | undefined): Row | undefined => {
      const put = (key: string, label: string | null = null) => {
        const row = rows.get(key) ?? new Row(key, label);
        rows.set(key, row);
        return row;
      };
      if (by === "day") return put(day);
      if (by === "week") return put(toMonday(day));
      if (by === "month") return put(day.slice(0, 7));
      if (by === "model") return model === undefined ? undefined : put(modelName(model));
      if (by === "session") return put(one.id, one.label);
      if (by === "project") return put(one.project, projectNames.get(one.project) ?? null);
      if (by === "branch") return put(one.branch, toBranch(one, projectNames));
      if (by === "worktree") return put(one.folder, one.folder === "" ? "—" : null);
      return put(by === "kind" ? one.kind : one.tool);
    };
    let counted = false;
    const each = (quarter: number, model: string | undefined, add: (row: Row) => void) => {
      const day = toDay(quarter);
      if ((from !== undefined && day < from) || (to !== undefined && day > to)) return;
      counted = true;
      for (const row of [totals, findRow(day, model)]) {
        if (!row) continue;
        row.roots.add(one.root);
        add(row);
      }
    };
    for (const { quarter, m, a } of one.slots)
      each(quarter, undefined, (row) => {
        row.messages += m;
        row.activeMs += a;
      });
    for (const { quarter, model, tokens } of one.tokens)
      each(quarter, model, (row) => {
        add(row.usage, model, tokens);
        add(row.priced, money.keyAt(model, quarter * 900_000), tokens);
      });
    if (counted && one.evidence)
      for (const key of Object.keys(evidence) as (keyof typeof evidence)[]) evidence[key] += one.evidence[key];
  }
  const list = [...rows.values()].map((row) => row.figures(money, by === "model"));
  const byTime = ["day", "week", "month"].includes(by);
  const order = (a: string | null, b: string | null) => ((a ?? "") < (b ?? "") ? -1 : 1);
  list.sort((a, b) =>
    byTime
      ? order(a.key, b.key)
      : b.microdollars - a.microdollars || total(b.tokens) - total(a.tokens) || order(a.key, b.key),
  );
  return {
    rows: list,
    totals: totals.figures(money, false),
    evidence,
    range: { from: from ?? null, to: to ?? null },
  };
}

const toBranch = ({ branch, project }: BruteSession, names: ReadonlyMap<string, string>) =>
  `${names.get(project) ?? project}: ${branch.slice(project.length + 1) || "—"}`;

class Row {
  readonly roots = new Set<string>();
  messages = 0;
  activeMs = 0;
  readonly usage: Record<string, TokenUsage> = {};
  readonly priced: Record<string, TokenUsage> = {};
  readonly key: string | null;
  readonly label: string | null;

  constructor(key: string | null, label: string | null) {
    this.key = key;
    this.label = label;
  }

  figures(money: Money, isModel: boolean): Figures {
    const models = new Map<string, { model: string; spellings: string[]; tokens: TokenUsage }>();
    for (const [spelling, tokens] of Object.entries(this.usage)) {
      const model = modelName(spelling);
      const own = models.get(model) ?? { model, spellings: [], tokens: none() };
      models.set(model, { ...own, spellings: [...own.spellings, spelling].sort(), tokens: plus(own.tokens, tokens) });
    }
    const computeCost = (spellings: string[]) =>
      money.cost(
        Object.fromEntries(Object.entries(this.priced).filter(([key]) => spellings.includes(key.split("\0")[0] ?? ""))),
      );
    const list = [...models.values()].map(({ model, spellings, tokens }) => {
      const { microdollars, unpriced } = computeCost(spellings);
      return {
        model,
        spellings,
        tokens,
        microdollars: microdollars === 0 && unpriced.length > 0 ? null : microdollars,
      };
    });
    list.sort(
      (a, b) =>
        (b.microdollars ?? -1) - (a.microdollars ?? -1) ||
        total(b.tokens) - total(a.tokens) ||
        (a.model < b.model ? -1 : 1),
    );
    const { microdollars, unpriced } = money.cost(this.priced);
    return {
      key: this.key,
      label: this.label,
      sessions: this.roots.size,
      messages: isModel ? null : this.messages,
      activeMs: isModel ? null : this.activeMs,
      usage: this.usage,
      tokens: Object.values(this.usage).reduce(plus, none()),
      microdollars,
      unpriced: unpriced.sort(),
      models: list,
    };
  }
}

const none = (): TokenUsage => ({ input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 });
const total = (tokens: TokenUsage) => FIELDS.reduce((sum, field) => sum + tokens[field], 0);
const plus = (a: TokenUsage, b: TokenUsage): TokenUsage => {
  const sum = { ...a };
  for (const field of FIELDS) sum[field] += b[field];
  return sum;
};
function add(usage: Record<string, TokenUsage>, key: string, tokens: TokenUsage): void {
  usage[key] = plus(usage[key] ?? none(), tokens);
}

/** Names of days by the calendar's own words, each asked once. */
function calendar(timeZone: string): (quarter: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  const known = new Map<number, string>();
  return (quarter) => {
    const name = known.get(quarter) ?? format.format(quarter * 900_000);
    known.set(quarter, name);
    return name;
  };
}

function toMonday(day: string): string {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return new Date(ms - ((new Date(ms).getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10);
}
