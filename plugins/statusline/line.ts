/** The line: parts of a template, each left out when one of its figures is missing. */
import { printable, type Style } from "sessarc/terminal";
import { formatDuration, formatMoney, formatShort } from "#internal/terminal";
import type { Figures } from "./figures.ts";
import { dayOf } from "./figures.ts";
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

export function lineOf(input: StatusInput, figures: Figures | undefined, { template, style, now }: Look): string {
  const values = valuesOf(input, figures, style, now);
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
  if (figures && now - Date.parse(figures.at) > OLD_MS) parts.push(style.dim(`as of ${clock(figures.at)}`));
  return parts.join(style.dim(BETWEEN));
}

function valuesOf(
  input: StatusInput,
  figures: Figures | undefined,
  style: Style,
  now: number,
): Record<Field, string | undefined> {
  const plain = (text: string | undefined) =>
    text === undefined ? undefined : printable(text).replace(/\s+/g, " ").trim();
  const share = (percent: number) => {
    const text = `${Math.round(percent)} %`;
    return percent >= 90 ? style.red(text) : percent >= 70 ? style.yellow(text) : text;
  };
  const today = figures?.day === dayOf(now) ? figures.today : undefined;
  const window = figures?.windows.find(({ tool, end }) => tool === input.tool && Date.parse(end) > now);
  const session = input.microdollars ?? figures?.session?.microdollars;
  const limits = input.limits
    .filter(({ resetsAt }) => Date.parse(resetsAt) > now)
    .map(({ minutes, usedPercent, resetsAt }) => {
      const length = minutes % 1440 === 0 ? `${minutes / 1440}d` : `${minutes / 60}h`;
      return `${length} ${share(usedPercent)}${minutes < 1440 ? style.dim(` until ${clock(resetsAt)}`) : ""}`;
    });
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

function clock(iso: string): string {
  const at = new Date(iso);
  return `${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`;
}
