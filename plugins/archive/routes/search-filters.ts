/** What both searches take: the query, and filters beside it. */
import { type Kernel, SessarcError } from "sessarc";
import * as v from "valibot";
import type { Project } from "../catalogue/types.ts";
import { plainPieces } from "../search/canonical.ts";
import { asksForMarks, parseQuery, type Query, toKind, toTime } from "../search/query.ts";

export const filterQuery = {
  q: v.optional(v.pipe(v.string(), v.maxLength(2_000)), ""),
  project: v.optional(v.string()),
  tool: v.optional(v.string()),
  kind: v.optional(v.string()),
  after: v.optional(v.string()),
  before: v.optional(v.string()),
  errors: v.optional(v.picklist(["0", "1"])),
};

type Filters = v.InferOutput<v.ObjectSchema<typeof filterQuery, undefined>>;

/** Throws INVALID_INPUT for what no query says. */
export function toQuery(input: Filters): Query {
  const query = parseQuery(input.q);
  addFilters(query, input);
  if (query.after !== null && query.before !== null && query.after >= query.before)
    throw new SessarcError("INVALID_INPUT", {
      reason: `The range ends before it begins: ${toDay(query.after)} to ${toDay(query.before)}`,
    });
  return query;
}

const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Parameters narrow what the query says: both hold. */
function addFilters(query: Query, input: Filters): void {
  if (input.project) query.project.push([input.project.toLowerCase()]);
  if (input.tool) query.tool.push([input.tool.toLowerCase()]);
  if (input.kind) query.kind.push(input.kind.split(",").map((kind) => toKind(kind.trim())));
  if (input.after) query.after = Math.max(toTime(input.after, "after"), query.after ?? Number.NEGATIVE_INFINITY);
  if (input.before) query.before = Math.min(toTime(input.before, "before"), query.before ?? Number.POSITIVE_INFINITY);
  if (input.errors === "1" && query.error === false) query.kind.push([]);
  else if (input.errors === "1") query.error = true;
}

/** Sessions that a search has to read: those with the tags and bookmarks it asks for, and those that may contain its words. Null: all. */
export async function chooseSessions(kernel: Kernel, query: Query): Promise<ReadonlySet<string> | null> {
  const [marked, candidates] = await Promise.all([markedSessions(kernel, query), findCandidates(kernel, query)]);
  if (!marked || !candidates) return marked ?? candidates ?? null;
  return new Set([...candidates].filter((id) => marked.has(id)));
}

async function findCandidates(kernel: Kernel, { terms }: Query): Promise<ReadonlySet<string> | undefined> {
  const wanted = terms.flatMap(({ text, negated }) => (negated ? [] : plainPieces(text)));
  return wanted.length === 0 ? undefined : kernel.find("candidates")?.(wanted);
}

/** Null where the query asks for no tag or bookmark. */
async function markedSessions(kernel: Kernel, query: Query): Promise<ReadonlySet<string> | null> {
  if (!asksForMarks(query)) return null;
  const { tag: tags, notTag: notTags, bookmarked } = query;
  const notes = kernel.find("notes");
  if (!notes) throw new SessarcError("INVALID_INPUT", { reason: "tag: and is:bookmarked need the plugin notes" });
  return notes.choose({ tags, notTags, bookmarked });
}

const plain = (text: string) => text.toLowerCase().normalize("NFC");

/** Projects whose id, name or path the `project:` filters name; throws PROJECT_NOT_FOUND for what none has. */
export function chooseProjects(query: Query, projects: ReadonlyMap<string, Project>): ReadonlySet<string> | null {
  if (query.project.length === 0 && query.notProject.length === 0) return null;
  const all = [...projects.values()];
  const fits = (project: Project, wanted: string) =>
    project.id === wanted ||
    plain(project.name).includes(plain(wanted)) ||
    (project.path !== null && plain(project.path).includes(plain(wanted)));
  for (const id of query.project.flat())
    if (!all.some((project) => fits(project, id))) throw new SessarcError("PROJECT_NOT_FOUND", { id });
  const chosen = new Set<string>();
  for (const project of all) {
    if (!query.project.every((wanted) => wanted.some((one) => fits(project, one)))) continue;
    if (query.notProject.some((one) => fits(project, one))) continue;
    chosen.add(project.id);
  }
  return chosen;
}
