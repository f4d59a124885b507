/** What the usage screen draws: rows of `GET /usage` as bars in series, and as lines of a file. */
import type { Answer } from "../../client.ts";
import type { Bar } from "../../components/chart/BarSeries.vue";
import { date, dayOf, daysLabel } from "../../format.ts";
import { saveBlob } from "../../state/save.ts";
import { toPeriod, type Unit } from "./periods.ts";

export type UsageReport = Answer<"GET /usage">;
export type UsageRow = UsageReport["rows"][number];
export type Metric = "cost" | "tokens" | "time";

type Tokens = UsageRow["tokens"];
export const sumOf = (tokens: Tokens): number =>
  tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite5m + tokens.cacheWrite1h;

export const worthOf = (row: Pick<UsageRow, "cost" | "tokens" | "activeMs">, metric: Metric): number =>
  metric === "cost" ? row.cost.microdollars : metric === "tokens" ? sumOf(row.tokens) : (row.activeMs ?? 0);

/** One line of a chart: its name, and what each period had of it. */
export interface Series {
  key: string;
  name: string;
  color: string;
  pattern?: number;
  values: ReadonlyMap<string, number>;
  /** Nothing of it has a price: its cost is unknown, not zero. */
  isUnpriced?: boolean;
}

export const isUnpriced = ({ cost }: Pick<UsageRow, "cost">): boolean =>
  cost.microdollars === 0 && cost.unpriced.length > 0;

export function toBars(keys: readonly string[], unit: Unit, series: readonly Series[], now = Date.now()): Bar[] {
  const today = dayOf(now);
  return keys.map((key) => {
    const { from, to } = toPeriod(key, unit);
    const noon = `${from}T12:00`;
    return {
      key,
      from,
      to,
      label:
        unit === "month"
          ? date(noon, { month: "short", year: "2-digit" })
          : date(noon, { day: "numeric", month: "short" }),
      title:
        unit === "day"
          ? date(noon, { weekday: "short", day: "numeric", month: "short", year: "numeric" })
          : daysLabel(from, to),
      parts: series.flatMap((one) => {
        const value = one.values.get(key) ?? 0;
        return value > 0
          ? [{ name: one.name, color: one.color, value, ...(one.pattern !== undefined && { pattern: one.pattern }) }]
          : [];
      }),
      running: from <= today && today <= to,
    };
  });
}

/** A field that begins like a formula is none in a table program. */
const field = (value: string | number): string => {
  const plain = String(value);
  const safe = /^[=+\-@\t]/.test(plain) && typeof value === "string" ? `'${plain}` : plain;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const COLUMNS = ["input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;

export function toCsv(rows: readonly UsageRow[]): string {
  const head = ["key", "label", "sessions", "messages", "active_ms", ...COLUMNS, "cost_usd", "unpriced"];
  const lines = rows.map((row) => [
    row.key,
    row.label ?? "",
    row.sessions,
    row.messages ?? "",
    row.activeMs ?? "",
    ...COLUMNS.map((name) => row.tokens[name]),
    (row.cost.microdollars / 1e6).toFixed(6),
    row.cost.unpriced.join(" "),
  ]);
  return `${[head, ...lines].map((line) => line.map(field).join(",")).join("\n")}\n`;
}

const toXml = (value: string) => value.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

/** The chart as a picture of its own. `resolve`: the colour behind a custom property. */
export function toSvg(
  title: string,
  bars: readonly Bar[],
  format: (value: number) => string,
  resolve: (color: string) => string,
): string {
  const [width, height, left, bottom, head] = [960, 320, 70, 40, 44];
  const total = (bar: Bar) => bar.parts.reduce((sum, part) => sum + part.value, 0);
  const top = Math.max(1, ...bars.map(total));
  const step = (width - left - 20) / Math.max(1, bars.length);
  const plot = height - bottom - head;
  const rects = bars.flatMap((bar, i) => {
    let y = height - bottom;
    return bar.parts.map((part) => {
      const h = (part.value / top) * plot;
      y -= h;
      return `<rect x="${(left + i * step + step * 0.14).toFixed(1)}" y="${y.toFixed(1)}" width="${(step * 0.72).toFixed(1)}" height="${h.toFixed(1)}" fill="${resolve(part.color)}"><title>${toXml(`${bar.title}, ${part.name}: ${format(part.value)}`)}</title></rect>`;
    });
  });
  const every = Math.max(1, Math.ceil(bars.length / 12));
  const labels = bars.flatMap((bar, i) =>
    i % every === 0
      ? [
          `<text x="${(left + (i + 0.5) * step).toFixed(1)}" y="${height - 16}" text-anchor="middle">${toXml(bar.label)}</text>`,
        ]
      : [],
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="#555">
<rect width="100%" height="100%" fill="#fff"/>
<text x="16" y="26" font-size="16" fill="#111">${toXml(title)}</text>
<text x="${left - 8}" y="${head + 4}" text-anchor="end">${toXml(format(top))}</text>
<text x="${left - 8}" y="${height - bottom}" text-anchor="end">${toXml(format(0))}</text>
<line x1="${left}" x2="${width - 20}" y1="${height - bottom}" y2="${height - bottom}" stroke="#ccc"/>
${rects.join("")}${labels.join("")}</svg>\n`;
}

/** Offers a text as a file. */
export const save = (name: string, type: string, content: string): void =>
  saveBlob(name, new Blob([content], { type }));
