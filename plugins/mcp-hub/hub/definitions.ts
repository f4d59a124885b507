/**
 * Definitions that services list, checked by the schemas of both SDKs. Clients check a list as a whole: one malformed item would cost
 * them every tool of every service. An item is repaired where that takes nothing from it that works, else left out; both are reported.
 */
import { BoundedMap, isRecord, type JsonRecord, toText } from "sessarc";
import { skillProblem } from "../skills/entries.ts";

/** `skills` are those of services with the skills extension, for clients that declare it. */
export type Kind = "tools" | "prompts" | "resources" | "resourceTemplates" | "skills";
export const KINDS: readonly Kind[] = ["tools", "prompts", "resources", "resourceTemplates", "skills"];

/** What is wrong with one item of a service's lists. */
export interface ItemProblem {
  kind: Kind;
  /** Its name or address; null where it has none. */
  name: string | null;
  /** False: the item is offered, repaired. */
  leftOut: boolean;
  reason: string;
}

interface CheckedItems {
  /** Valid items, sorted by name or address. */
  items: JsonRecord[];
  problems: ItemProblem[];
}

type Check = (item: JsonRecord) => readonly { path: readonly PropertyKey[]; message: string }[];
type CheckOutput = (schema: JsonRecord) => string | undefined;
interface Checks {
  of: Record<Exclude<Kind, "skills">, Check>;
  output: CheckOutput;
}

/** The field that identifies an item. */
const KEYS = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  resourceTemplates: "uriTemplate",
  skills: "uri",
} as const;
/** Output schemas whose compilation is cached; a service that changes them on every list must not fill the memory. */
const MOST_KNOWN = 2_000;
/** An item that has more faults is left out. */
const MOST_REPAIRS = 50;

export async function checkItems(kind: Kind, listed: readonly unknown[]): Promise<CheckedItems> {
  const checks = await loadChecks();
  const found = new Map<string, JsonRecord>();
  const problems: ItemProblem[] = [];
  for (const item of listed) {
    const name = isRecord(item) ? toText(item[KEYS[kind]]) : undefined;
    const leaveOut = (reason: string) => problems.push({ kind, name: name ?? null, leftOut: true, reason });
    if (!isRecord(item)) leaveOut("it is not an object");
    else if (name === undefined) leaveOut(`its ${KEYS[kind]} is missing or not a text`);
    else if (found.has(name)) leaveOut(`an earlier item has the same ${KEYS[kind]}`);
    else {
      const { repaired, reasons, failed } = repair(kind, item, checks);
      if (failed !== undefined) leaveOut(failed);
      else {
        found.set(name, repaired);
        if (reasons.length > 0) problems.push({ kind, name, leftOut: false, reason: reasons.join("; ") });
      }
    }
  }
  const items = [...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item);
  return { items, problems };
}

/** `failed`: why the item cannot be offered. */
function repair(kind: Kind, item: JsonRecord, { of, output }: Checks) {
  const reasons: string[] = [];
  // Digests bind an entry as it is: nothing of it can be repaired.
  if (kind === "skills") return { repaired: item, reasons, failed: skillProblem(item) };
  const check = of[kind];
  if (check(item).length === 0 && item.outputSchema === undefined)
    return { repaired: item, reasons, failed: undefined };
  const repaired = structuredClone(item);
  if (kind === "tools") reasons.push(...repairInput(repaired));
  else if (kind !== "prompts" && toText(repaired.name) === undefined) {
    repaired.name = toText(repaired.title) ?? repaired[KEYS[kind]];
    reasons.push("name is missing: its title or address is used");
  }
  for (let left = MOST_REPAIRS; left > 0; left--) {
    const [issue] = check(repaired);
    if (!issue) break;
    const removed = removeAt(repaired, issue.path);
    if (removed === undefined) return { repaired, reasons, failed: `${at(issue.path)}: ${issue.message}` };
    reasons.push(`${removed} is left out: ${issue.message}`);
  }
  const [issue] = check(repaired);
  if (issue) return { repaired, reasons, failed: `${at(issue.path)}: ${issue.message}` };
  const unusable = isRecord(repaired.outputSchema) ? output(repaired.outputSchema) : undefined;
  if (unusable !== undefined) {
    delete repaired.outputSchema;
    reasons.push(`outputSchema is left out: ${unusable}`);
  }
  return { repaired, reasons, failed: undefined };
}

/** A tool without a schema of its arguments takes any; a property without one takes any value. */
function repairInput(tool: JsonRecord): string[] {
  if (tool.inputSchema === undefined || tool.inputSchema === null) {
    tool.inputSchema = { type: "object" };
    return ["inputSchema is missing: the tool is offered with any arguments"];
  }
  const schema = tool.inputSchema;
  if (!isRecord(schema)) return [];
  const reasons: string[] = [];
  if (schema.type === undefined) {
    schema.type = "object";
    reasons.push("inputSchema has no type: it is taken as an object");
  }
  const { properties } = schema;
  if (isRecord(properties))
    for (const [name, property] of Object.entries(properties)) {
      if (isRecord(property)) continue;
      properties[name] = property === false ? { not: {} } : {};
      if (typeof property !== "boolean")
        reasons.push(`inputSchema.properties.${name} is not a schema: it takes any value`);
    }
  return reasons;
}

/**
 * Removes the value at a path, or what holds it where it is missing. Answers what was removed; undefined where nothing can be: the name,
 * the address, and what a tool needs of its input schema.
 */
function removeAt(item: JsonRecord, path: readonly PropertyKey[]): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const way = path.slice(0, length).map(String);
    if (isNeeded(way)) return undefined;
    const last = way.pop() ?? "";
    let holder: unknown = item;
    for (const key of way) holder = Array.isArray(holder) ? holder[Number(key)] : isRecord(holder) ? holder[key] : null;
    if (Array.isArray(holder) && Number(last) < holder.length) {
      holder.splice(Number(last), 1);
      return at(path.slice(0, length));
    }
    if (isRecord(holder) && Object.hasOwn(holder, last)) {
      delete holder[last];
      return at(path.slice(0, length));
    }
  }
  return undefined;
}

const NEEDED = new Set(["name", "uri", "uriTemplate", "inputSchema", "inputSchema.type"]);
const isNeeded = (path: readonly string[]) => NEEDED.has(path.join("."));
const at = (path: readonly PropertyKey[]) => path.map(String).join(".") || "it";

let loading: Promise<Checks> | undefined;

/** Loaded with the first list, which loads the SDKs anyway. */
function loadChecks(): Promise<Checks> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Checks> {
  const [older, newer, olderAjv, newerAjv] = await Promise.all([
    import("@modelcontextprotocol/sdk/types.js"),
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/sdk/validation/ajv"),
    import("@modelcontextprotocol/client/validators/ajv"),
  ]);
  const { specTypeSchemas: modern } = newer;
  const both = (first: Standard, second: Standard): Check => {
    return (item) => [...toIssues(first, item), ...toIssues(second, item)];
  };
  const known = new BoundedMap<string, string | undefined>(MOST_KNOWN);
  /** Why the clients' SDKs cannot compile a schema. They compile it when they list, and a failure costs them the list. */
  const output: CheckOutput = (schema) => {
    const key = JSON.stringify(schema);
    if (known.has(key)) return known.get(key);
    let reason: string | undefined;
    try {
      new olderAjv.AjvJsonSchemaValidator().getValidator(schema);
      new newerAjv.AjvJsonSchemaValidator().getValidator(schema);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    known.set(key, reason);
    return reason;
  };
  return {
    output,
    of: {
      tools: both(older.ToolSchema, modern.Tool),
      prompts: both(older.PromptSchema, modern.Prompt),
      resources: both(older.ResourceSchema, modern.Resource),
      resourceTemplates: both(older.ResourceTemplateSchema, modern.ResourceTemplate),
    },
  };
}

/** A schema as the Standard Schema specification has it, of any library. */
interface Standard {
  "~standard": { validate(value: unknown): unknown };
}

function toIssues(schema: Standard, item: JsonRecord): ReturnType<Check> {
  const result = schema["~standard"].validate(item);
  const issues = isRecord(result) && Array.isArray(result.issues) ? result.issues : [];
  return issues.map((issue: unknown) => {
    const { path, message } = isRecord(issue) ? issue : {};
    const steps = Array.isArray(path) ? path.map((step) => (isRecord(step) ? step.key : step)) : [];
    return { path: steps.map(String), message: String(message) };
  });
}
