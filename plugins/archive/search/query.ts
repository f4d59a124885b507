/** The query language: words, "quoted words", and filters, the same over HTTP, on the command line and in the dashboard. */
import { EVENT_KINDS, type EventKind, SessarcError } from "sessarc";
import { readDay, startOf } from "./day.ts";
import { findKind, toKindWord } from "./kinds.ts";

interface Term {
  text: string;
  negated: boolean;
}

/** What a message must be. Lists hold alternatives; an empty list asks nothing. Of lists in a list each must hold. */
export interface Query {
  terms: Term[];
  tool: string[][];
  notTool: string[];
  project: string[][];
  notProject: string[];
  kind: EventKind[][];
  notKind: EventKind[];
  model: string[];
  notModel: string[];
  path: string[];
  notPath: string[];
  /** ms since the epoch; a message at `after` counts, one at `before` does not. */
  after: number | null;
  before: number | null;
  error: boolean | null;
  /** Tags of the session or of one of its messages, which the plugin `notes` knows. */
  tag: string[][];
  notTag: string[];
  bookmarked: boolean | null;
  /** `kind:trace`: only sessions of which the prompts are all that is left. */
  traces: boolean;
}

const TRACE = "trace";
const FILTERS = ["tool", "project", "kind", "model", "path", "after", "before", "is", "tag"] as const;
type Filter = (typeof FILTERS)[number];
/** A hyphen before a word leaves it out. A flag (`--force`, `-m`) is a word: two hyphens, or one before a single letter or digit. */
const TOKEN = /((?:-(?=[^\s-])(?![A-Za-z0-9](?:\s|$)))?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g;

/** Reads `q`. Unknown filter names are plain words (`http://x`); a filter's bad value is INVALID_INPUT. Linear. */
export function parseQuery(q: string): Query {
  const query: Query = {
    terms: [],
    tool: [],
    notTool: [],
    project: [],
    notProject: [],
    kind: [],
    notKind: [],
    model: [],
    notModel: [],
    path: [],
    notPath: [],
    after: null,
    before: null,
    error: null,
    tag: [],
    notTag: [],
    bookmarked: null,
    traces: false,
  };
  for (const match of q.matchAll(TOKEN)) {
    const [whole, minus, name, quoted, bare] = match;
    const value = quoted ?? bare ?? "";
    if (name !== undefined && isFilter(name) && value !== "") addFilter(query, name, value, minus === "-");
    else if (name !== undefined)
      addTerm(query, quoted === undefined ? whole.slice(minus?.length ?? 0) : `${name}:${value}`, minus === "-");
    else addTerm(query, value, minus === "-");
  }
  return query;
}

/** True when nothing is asked for: the answer is the recent sessions. */
export function isEmpty(query: Query): boolean {
  return (
    query.terms.length === 0 &&
    !hasMessageFilter(query) &&
    query.tool.length + query.notTool.length + query.project.length + query.notProject.length === 0 &&
    !query.traces &&
    !asksForMarks(query)
  );
}

/** True when tags or bookmarks are asked for. */
export const asksForMarks = ({ tag, notTag, bookmarked }: Query): boolean =>
  tag.length + notTag.length > 0 || bookmarked !== null;

/** True when single messages (and not only sessions) must be checked. */
export function hasMessageFilter(query: Query): boolean {
  const { kind, notKind, model, notModel, path, notPath, after, before, error } = query;
  return (
    [kind, notKind, model, notModel, path, notPath].some((list) => list.length > 0) ||
    after !== null ||
    before !== null ||
    error !== null
  );
}

function isFilter(name: string): name is Filter {
  return (FILTERS as readonly string[]).includes(name);
}

function addTerm(query: Query, text: string, negated: boolean): void {
  if (text !== "") query.terms.push({ text, negated });
}

function addFilter(query: Query, name: Filter, value: string, negated: boolean): void {
  switch (name) {
    case "tool":
      (negated ? query.notTool : own(query.tool)).push(value.toLowerCase());
      return;
    case "project":
      (negated ? query.notProject : own(query.project)).push(value.toLowerCase());
      return;
    case "model":
      (negated ? query.notModel : query.model).push(value.toLowerCase());
      return;
    case "path":
      (negated ? query.notPath : query.path).push(value.toLowerCase().normalize("NFC"));
      return;
    case "kind":
      if (value.toLowerCase() === TRACE && !negated) query.traces = true;
      else (negated ? query.notKind : own(query.kind)).push(toKind(value));
      return;
    case "tag":
      if (negated) query.notTag.push(value.toLowerCase());
      // Each must hold: tags are put together, as words are.
      else query.tag.push([value.toLowerCase()]);
      return;
    case "is":
      if (value === "bookmarked") query.bookmarked = !negated;
      else if (value === "error") query.error = !negated;
      else throw invalid("is", `"${value}" is not known; is:error and is:bookmarked are`);
      return;
    default:
      if (negated) throw invalid(name, "a time cannot be negated");
      query[name] = toTime(value, name);
  }
}

/** The list of alternatives that the query's own words make. */
function own<T>(lists: T[][]): T[] {
  lists[0] ??= [];
  return lists[0];
}

export function toKind(value: string): EventKind {
  const kind = findKind(value.toLowerCase());
  if (!kind) throw invalid("kind", `"${value}" is none of ${EVENT_KINDS.map(toKindWord).join(", ")}, ${TRACE}`);
  return kind;
}

/** The start of a local day (`2026-11-20`, `20261120`, `7d` for seven days ago) or any ISO time, as ms. */
export function toTime(value: string, name: string): number {
  const day = readDay(value);
  // Date takes the 30th of February for a day of March.
  const [date] = /^\d{4}-\d{2}-\d{2}/.exec(value) ?? [];
  const isDay = date === undefined || readDay(date) !== undefined;
  const at = day !== undefined ? startOf(day).getTime() : isDay ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw invalid(name, `"${value}" is no date; use 2026-11-20, 7d or an ISO 8601 time`);
  return at;
}

function invalid(path: string, message: string): SessarcError<"INVALID_INPUT"> {
  return new SessarcError("INVALID_INPUT", { reason: `${path}: ${message}` }, { issues: [{ path, message }] });
}
