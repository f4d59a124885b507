/** What an assistant writes to its status line's stdin. Every field may be missing, and none is guessed. */

import type { StatuslineField } from "./contract.ts";

/** How much of a limit is used, as the provider reported it. */
interface Limit {
  minutes: number;
  /** 0 to 100. */
  usedPercent: number;
  /** ISO 8601 UTC. */
  resetsAt: string;
}

export interface StatusInput {
  /** Undefined where the command does not name it: the service knows the session's. */
  tool: string | undefined;
  /** The assistant's own id of the session. */
  session: string | undefined;
  name: string | undefined;
  model: string | undefined;
  folder: string | undefined;
  /** How full the context is, 0 to 100. */
  context: number | undefined;
  /** What the session cost by the assistant's own count. */
  microdollars: number | undefined;
  limits: Limit[];
}

type Fields = { [key: string]: unknown };

/** Fields under other names than the usual ones: `{ model: "llm.name" }`. */
export type OtherNames = { readonly [K in StatuslineField]?: string };

/** Undefined when the text is not the JSON of a status line. */
export function readInput(text: string, tool?: string, names: OtherNames = {}): StatusInput | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const root = toFields(value);
  const found = (field: StatuslineField): unknown[] =>
    (names[field] === undefined ? USUAL[field] : [names[field]]).map((path) => at(root, path));
  const dollars = first(found("dollars"), (one) => within(one, MOST_DOLLARS));
  return {
    tool,
    session: first(found("session"), findText),
    name: first(found("name"), findText),
    model: first(found("model"), findText),
    folder: first(found("folder"), findText),
    context: first(found("context"), (one) => within(one, MOST_PERCENT)),
    microdollars: dollars === undefined ? undefined : Math.round(dollars * 1e6),
    limits: toLimits(toFields(root.rate_limits)),
  };
}

/** Where assistants have a figure; the first that is there is taken. */
const USUAL: Readonly<Record<StatuslineField, readonly string[]>> = {
  session: ["session_id"],
  name: ["session_name"],
  model: ["model.display_name", "model.id"],
  folder: ["workspace.current_dir", "cwd"],
  context: ["context_window.current_context_used_percentage", "context_window.used_percentage"],
  dollars: ["cost.total_cost_usd"],
};

/** `model=llm.name,context=ctx.percent`, as the installed command has it. Undefined for another text. */
export function readNames(text: string): OtherNames | undefined {
  const names: { [K in StatuslineField]?: string } = {};
  for (const pair of text.split(",")) {
    const [field = "", path = "", ...more] = pair.split("=");
    if (!isField(field) || !/^[\w.-]+$/.test(path) || more.length > 0) return undefined;
    names[field] = path;
  }
  return names;
}

const isField = (name: string): name is StatuslineField => Object.hasOwn(USUAL, name);

/** Own fields only: a path may name what every object inherits. */
function at(root: Fields, path: string): unknown {
  let value: unknown = root;
  for (const key of path.split(".")) {
    const fields = toFields(value);
    value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  }
  return value;
}

function first<T>(found: readonly unknown[], read: (value: unknown) => T | undefined): T | undefined {
  for (const value of found) {
    const one = read(value);
    if (one !== undefined) return one;
  }
  return undefined;
}

const WINDOWS = [
  ["five_hour", 300],
  ["seven_day", 10_080],
] as const;

/** Above these a figure is a mistake of the assistant, and left out: a limit may be exceeded, but not tenfold. */
const MOST_PERCENT = 1_000;
const MOST_DOLLARS = 1_000_000;
/** 2100-01-01: a later time is not one in seconds. */
const LAST_SECOND = 4_102_444_800;

function toLimits(limits: Fields): Limit[] {
  return WINDOWS.flatMap(([name, minutes]) => {
    const { used_percentage, resets_at } = toFields(limits[name]);
    const [used, resets] = [within(used_percentage, MOST_PERCENT), within(resets_at, LAST_SECOND)];
    if (used === undefined || !resets) return [];
    return [{ minutes, usedPercent: used, resetsAt: new Date(resets * 1000).toISOString() }];
  });
}

const toFields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
/** 200 characters at most; none of them is cut in half. */
const findText = (value: unknown) =>
  typeof value === "string" && value !== "" ? [...value.slice(0, 400)].slice(0, 200).join("") : undefined;
const within = (value: unknown, most: number) =>
  typeof value === "number" && value >= 0 && value <= most ? value : undefined;
