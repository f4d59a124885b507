/** What an assistant writes to its status line's stdin. Every field may be missing, and none is guessed. */

/** How much of a limit is used, as the provider reported it. */
interface Limit {
  minutes: number;
  /** 0 to 100. */
  usedPercent: number;
  /** ISO 8601 UTC. */
  resetsAt: string;
}

export interface StatusInput {
  tool: string;
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

/** Undefined when the text is not the JSON of a status line. `tool`: default what the text shows. */
export function readInput(text: string, tool?: string): StatusInput | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const root = fieldsOf(value);
  const model = fieldsOf(root.model);
  const context = fieldsOf(root.context_window);
  const dollars = within(fieldsOf(root.cost).total_cost_usd, MOST_DOLLARS);
  return {
    // Copilot counts in units of its own.
    tool: tool ?? (root.ai_used === undefined ? "claude-code" : "copilot"),
    session: textOf(root.session_id),
    name: textOf(root.session_name),
    model: textOf(model.display_name) ?? textOf(model.id),
    folder: textOf(fieldsOf(root.workspace).current_dir) ?? textOf(root.cwd),
    context:
      within(context.current_context_used_percentage, MOST_PERCENT) ?? within(context.used_percentage, MOST_PERCENT),
    microdollars: dollars === undefined ? undefined : Math.round(dollars * 1e6),
    limits: limitsOf(fieldsOf(root.rate_limits)),
  };
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

function limitsOf(limits: Fields): Limit[] {
  return WINDOWS.flatMap(([name, minutes]) => {
    const { used_percentage, resets_at } = fieldsOf(limits[name]);
    const [used, resets] = [within(used_percentage, MOST_PERCENT), within(resets_at, LAST_SECOND)];
    if (used === undefined || !resets) return [];
    return [{ minutes, usedPercent: used, resetsAt: new Date(resets * 1000).toISOString() }];
  });
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
/** 200 characters at most; none of them is cut in half. */
const textOf = (value: unknown) =>
  typeof value === "string" && value !== "" ? [...value.slice(0, 400)].slice(0, 200).join("") : undefined;
const within = (value: unknown, most: number) =>
  typeof value === "number" && value >= 0 && value <= most ? value : undefined;
