/**
 * Sessions whose logs are gone and of which only the prompts are left, as a search shows them. Another plugin has them: they are in no list, no
 * total and no figure.
 */
import { type Kernel, pages } from "sessarc";
import type { Project } from "../catalogue/types.ts";
import { compile, type FoundMatch, matchesIn, toMatch } from "./match.ts";
import type { Query } from "./query.ts";
import { toSearched } from "./searched.ts";

export interface Trace {
  /** As the session's was: `<tool>:<key>`. */
  id: string;
  tool: string;
  /** The name that the assistant's list has, else the first prompt. */
  title: string | null;
  cwd: string | null;
  startedAt: string | null;
  endedAt: string | null;
  prompts: number;
}

export interface TracePrompt {
  seq: number;
  at: string | null;
  text: string;
}

/** Service "traces". */
export interface Traces {
  /** Of all that are shown. */
  count(): Promise<{ sessions: number; prompts: number }>;
  /** Newest first. */
  list(filter?: { tool?: string | undefined }): Promise<Trace[]>;
  /** Undefined for an id that has none. */
  find(id: string): Promise<Trace | undefined>;
  /** In their order, by trace. `part`: only those that contain it, whatever the case of its ASCII letters. */
  prompts(ids: readonly string[], part?: string): Promise<Map<string, TracePrompt[]>>;
  /** Forgets one for good, as the deletion of a session does. */
  remove(id: string): Promise<void>;
}

export interface FoundTrace {
  trace: Trace;
  project: Project | null;
  matches: FoundMatch[];
}

/** Matches shown of one trace. */
const SHOWN = 3;

/** Null where the query asks for what a prompt does not have, or there is nothing of the kind. */
export async function searchTraces(
  kernel: Kernel,
  query: Query,
  projects: ReadonlyMap<string, Project>,
  chosen: ReadonlySet<string> | null,
): Promise<FoundTrace[] | null> {
  const traces = kernel.find("traces");
  if (!traces || !canBeFound(query)) return null;
  const compiled = compile(query);
  const all = (await traces.list()).flatMap((trace) => {
    const project = toProject(trace.cwd, projects);
    const isChosen = chosen === null || (project !== null && chosen.has(project.id));
    const isOf = query.tool.every((tools) => tools.some((tool) => trace.tool.includes(tool)));
    return isChosen && isOf && !query.notTool.some((tool) => trace.tool.includes(tool)) ? [{ trace, project }] : [];
  });
  const found: FoundTrace[] = [];
  const part = longest(query);
  for (const page of pages(all)) {
    const prompts = await traces.prompts(
      page.map(({ trace }) => trace.id),
      part,
    );
    for (const { trace, project } of page) {
      const events = (prompts.get(trace.id) ?? []).map(({ seq, at, text }) => ({
        seq,
        kind: "user" as const,
        text,
        ...(at !== null && { at }),
      }));
      const matches: FoundMatch[] = [];
      for (const one of matchesIn(toSearched(events), compiled)) if (one) matches.push(toMatch(one, compiled));
      if (matches.length > 0) found.push({ trace, project, matches: matches.slice(0, SHOWN) });
    }
  }
  return found;
}

/** A prompt has words, a time, an assistant and a folder, and nothing else. */
function canBeFound(query: Query): boolean {
  const { terms, kind, notKind, model, path, error, tag, bookmarked, traces } = query;
  if (!traces && !terms.some(({ negated }) => !negated)) return false;
  if (model.length + path.length + tag.length > 0 || error === true || bookmarked === true) return false;
  return kind.every((kinds) => kinds.includes("user")) && !notKind.includes("user");
}

/**
 * A part that each hit contains as it is written, but for the case of ASCII letters: a database can look for that. Two characters outside ASCII fold to
 * s and k.
 */
function longest({ terms }: Query): string | undefined {
  const words = terms.filter(({ negated }) => !negated).flatMap(({ text }) => text.split(/[^\x20-\x7e]|[sk]/i));
  const [first] = words.sort((a, b) => b.length - a.length);
  return first || undefined;
}

/** The project whose folder is the longest above a folder. */
function toProject(cwd: string | null, projects: ReadonlyMap<string, Project>): Project | null {
  if (cwd === null) return null;
  let best: Project | null = null;
  for (const project of projects.values()) {
    const { path } = project;
    if (path === null || !(cwd === path || cwd.startsWith(`${path}/`) || cwd.startsWith(`${path}\\`))) continue;
    if (!best || path.length > (best.path ?? "").length) best = project;
  }
  return best;
}
