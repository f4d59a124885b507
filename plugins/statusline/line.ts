/** The line: parts of a template, each left out when one of its figures is missing. */

import { formatDuration, formatMoney, formatShort, oneLine, printable, type Style } from "sessarc/terminal";
import { type Figures, type NearLimit, toDay } from "./figures.ts";
import type { StatusInput } from "./input.ts";

export const DEFAULT_TEMPLATE =
  "{model}|{context} context|{session} session|{today} today|{window} window, {left} left|{limits}|budget {budget}";
const BETWEEN = " · ";

/** What a template may name, with what it stands for. */
export const FIELDS = {
  model: "the model",
  name: "the session's name",
  folder: "the folder's name",
  tool: "the assistant",
  context: "how full the context is",
  session: "cost of the session",
  today: "cost of today",
  tokens: "tokens of today",
  window: "cost of the running five-hour window",
  left: "time left in it",
  budget: "how much of the most used budget is used",
  limits: "limits as the provider reports them",
} as const;
type Field = keyof typeof FIELDS;

/** Names in a template that stand for nothing. */
export const unknownFields = (template: string): string[] =>
  [...template.matchAll(/\{([^{}|]*)\}/g)].map(([, name = ""]) => name).filter((name) => !Object.hasOwn(FIELDS, name));

/** Figures that are older are shown with their time. */
const OLD_MS = 5 * 60_000;

interface Look {
  template: string;
  style: Style;
  now: number;
}

export function toLine(given: StatusInput, figures: Figures | undefined, { template, style, now }: Look): string {
  const input = { ...given, tool: given.tool ?? figures?.tool ?? undefined };
  const values = findValues(input, figures, style, now);
  const parts = template.split("|").flatMap((part) => {
    let missing = false;
    const text = part.replace(/\{([a-z]+)\}/g, (whole, name: string) => {
      if (!Object.hasOwn(values, name)) return whole;
      const value = values[name as Field];
      missing ||= value === undefined;
      return value ?? "";
    });
    return missing || text.trim() === "" ? [] : [text.trim()];
  });
  // A limit that comes near is shown whatever the template names.
  if (!template.includes("{limits}")) {
    const near = pickNear(input, figures, now).map((limit) => `limit ${limitText(limit, limit, style, now)}`);
    parts.push(...near);
  }
  if (figures && now - Date.parse(figures.at) > OLD_MS) parts.push(style.dim(`as of ${clock(figures.at)}`));
  return parts.join(style.dim(BETWEEN));
}

function findValues(
  input: StatusInput,
  figures: Figures | undefined,
  style: Style,
  now: number,
): Record<Field, string | undefined> {
  const plain = (text: string | undefined) => (text === undefined ? undefined : oneLine(printable(text)));
  const share = (percent: number) => shareText(percent, style);
  const today = figures?.day === toDay(now) ? figures.today : undefined;
  const window = figures?.windows.find(({ tool, end }) => tool === input.tool && Date.parse(end) > now);
  const session = input.microdollars ?? figures?.session?.microdollars;
  const near = pickNear(input, figures, now);
  const given = input.limits.filter(({ resetsAt }) => Date.parse(resetsAt) > now);
  const limits = [
    ...given.map((limit) =>
      limitText(
        limit,
        near.find((one) => isSameWindow(one, limit)),
        style,
        now,
      ),
    ),
    // An assistant that passes no limits on may log them.
    ...near
      .filter((one) => !given.some((limit) => isSameWindow(one, limit)))
      .map((one) => limitText(one, one, style, now)),
  ];
  return {
    model: plain(input.model),
    name: plain(input.name),
    folder: plain(input.folder?.split(/[\\/]/).at(-1)),
    tool: plain(input.tool),
    context: input.context === undefined ? undefined : share(input.context),
    session: session === undefined ? undefined : formatMoney(session),
    today: today && formatMoney(today.microdollars),
    tokens: today && formatShort(today.tokens),
    window: window && formatMoney(window.microdollars),
    left: window && formatDuration(Math.ceil((Date.parse(window.end) - now) / 60_000) * 60_000).replace(/ 0 s$/, ""),
    budget: figures?.budget ? `${share(figures.budget.share * 100)} of the ${plain(figures.budget.period)}` : undefined,
    limits: limits.length > 0 ? limits.join(style.dim(BETWEEN)) : undefined,
  };
}

function shareText(percent: number, style: Style): string {
  const text = `${Math.round(percent)} %`;
  return percent >= 90 ? style.red(text) : percent >= 70 ? style.yellow(text) : text;
}

type Limit = Pick<NearLimit, "minutes" | "usedPercent" | "resetsAt">;

/** Limits of the assistant that come near, as far as they are still so. */
const pickNear = ({ tool }: StatusInput, figures: Figures | undefined, now: number): NearLimit[] =>
  (figures?.limits ?? []).filter((one) => one.tool === tool && Date.parse(one.resetsAt) > now);

const QUARTER_MS = 900_000;
/** The provider's clock may differ by seconds from one reading to the next. */
const isSameWindow = (a: Limit, b: Limit) =>
  a.minutes === b.minutes && Math.abs(Date.parse(a.resetsAt) - Date.parse(b.resetsAt)) < QUARTER_MS;

/** `5h 82 % until 16:00, out at 14:20`. */
function limitText(limit: Limit, near: NearLimit | undefined, style: Style, now: number): string {
  const { minutes, usedPercent, resetsAt } = limit;
  const length = minutes % 1440 === 0 ? `${minutes / 1440}d` : `${minutes / 60}h`;
  const until = minutes < 1440 ? style.dim(` until ${clock(resetsAt)}`) : "";
  const end = near?.runsOutAt ? Date.parse(near.runsOutAt) : 0;
  const out = end > now ? `, ${style.yellow(`out at ${outText(end, now)}`)}` : "";
  return `${length} ${shareText(usedPercent, style)}${until}${out}`;
}

/** The time, of another day with its date. */
const outText = (time: number, now: number): string => {
  const iso = new Date(time).toISOString();
  return toDay(time) === toDay(now) ? clock(iso) : `${toDay(time).slice(5)} ${clock(iso)}`;
};

function clock(iso: string): string {
  const at = new Date(iso);
  return `${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`;
}
