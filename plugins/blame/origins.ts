/** GET /git/blame: a file's lines with their commits, and with the calls of archived sessions that wrote them. */
import { type Cache, createCache, type Kernel, mustYield, type Services, yieldNow } from "sessarc";
import { computeWeight, toKey, toLines } from "./indexer/keys.ts";
import { type Forms, isReformed, toForms } from "./match/forms.ts";
import { type CommittedLine, type LineEvidence, type Matched, matchLines, type Window } from "./match/match.ts";
import { OTHER, type Settled, settle } from "./match/seconds.ts";
import { readSources } from "./sources.ts";
import { byTime, type Write, writesBefore, writesInto } from "./writes.ts";

export interface Writer {
  sessionId: string;
  /** The assistant. */
  tool: string;
  title: string | null;
  /** The call. */
  seq: number;
  at: string;
  /** Name of the called tool. */
  name: string;
}

type Blamed = Awaited<ReturnType<Services["git"]["blameAt"]>>;
type LineCommit = NonNullable<Blamed["file"]>["commits"] extends Map<string, infer C> ? C : never;

export interface Origins {
  path: string;
  commit: string;
  /** Committer time. */
  at: string;
  /** Null for a file that is binary or larger than 2 MiB. */
  lines: { text: string; commit: number; writer: number | null; evidence: LineEvidence | null }[] | null;
  commits: LineCommit[];
  /** Calls that lines come from. */
  writers: Writer[];
  /** Calls that changed the file after this commit, the latest first: the folder may hold something else by now. */
  later: Writer[];
}

const LATER = 20;
const SECOND = 1_000;
/** Answers cached until the archive changes. */
const KEEP = 32;
const cached = new WeakMap<Kernel, Cache<Origins>>();

/** `project` undefined: of no archived project, so that no line has a writer. `root`: the project's folder. */
export function readOrigins(
  kernel: Kernel,
  project: string | undefined,
  root: string,
  blamed: Blamed,
): Promise<Origins> {
  const known = cached.get(kernel) ?? createCache<Origins>(KEEP);
  cached.set(kernel, known);
  const { generation } = kernel.inject("archive");
  const key = JSON.stringify([generation, project, blamed.commit, blamed.path]);
  return known.get(key, () => compute(kernel, project, root, blamed));
}

async function compute(
  kernel: Kernel,
  project: string | undefined,
  root: string,
  { commit, at, path, file }: Blamed,
): Promise<Origins> {
  if (!file) return { path, commit, at, lines: null, commits: [], writers: [], later: [] };
  const commits = [...file.commits.values()];
  const names = new Set([path, ...file.names]);
  const windows = new Map(commits.map((one) => [one.hash, toWindow(one, file.touched)]));
  let writes = project === undefined ? [] : await writesInto(kernel, project, root, names);
  const settled: Settled =
    project === undefined
      ? new Map()
      : await settle(
          file.versions,
          new Set(file.commits.keys()),
          writes.map((one) => one.at),
          await readSources(kernel, project, root, file, writes),
        );
  let lines: readonly CommittedLine[] = file.lines;
  let matched = await matchLines(lines, windows, writes, settled);
  const reformed = await reformedIn(kernel, root, file, matched, writes);
  if (reformed.size > 0) {
    lines = file.lines.map((line, i) => ({ ...line, reformed: reformed.has(i) }));
    matched = await matchLines(lines, windows, writes, settled);
  }
  const others = project === undefined ? [] : await underOtherNames(kernel, project, root, names, file, matched);
  if (others.length > 0) {
    const own = writes;
    writes = [...writes, ...others].sort(byTime);
    matched = await matchLines(lines, windows, writes, movedTo(settled, own, writes));
  }
  const commitAt = new Map(commits.map((one, i) => [one.hash, i]));
  const used = [...new Set(matched.flatMap((one) => (one ? [one.write] : [])))];
  const place = new Map(used.map((write, i) => [write, i]));
  const later = writes.filter((one) => one.at > Date.parse(at) + SECOND).reverse();
  return {
    ...{ path, commit, at, commits },
    lines: file.lines.map(({ text, commit: hash }, i) => ({
      text,
      commit: commitAt.get(hash) ?? 0,
      writer: place.get(matched[i]?.write ?? -1) ?? null,
      evidence: matched[i]?.evidence ?? null,
    })),
    writers: used.flatMap((i) => (writes[i] ? [toWriter(writes[i])] : [])),
    later: later.slice(0, LATER).map(toWriter),
  };
}

/** The same calls, by their places in another list. */
function movedTo(settled: Settled, from: readonly Write[], to: readonly Write[]): Settled {
  const places = new Map(to.map((write, i) => [write, i]));
  const place = (owner: number | undefined) => {
    const write = from[owner ?? OTHER];
    return write ? places.get(write) : owner;
  };
  return new Map(
    [...settled].map(([hash, ways]) => [hash, ways.map((way) => ({ ...way, owners: way.owners.map(place) }))]),
  );
}

/** Earlier versions of a file that are read for one answer. */
const VERSIONS = 200;

/**
 * Lines whose commit changed their form alone, in commits of which a call of a whole file seems to have written lines: such a call repeats
 * lines that were there before, and a formatter makes them new ones to git.
 */
async function reformedIn(
  kernel: Kernel,
  root: string,
  file: NonNullable<Blamed["file"]>,
  matched: readonly (Matched | undefined)[],
  writes: readonly Write[],
): Promise<Set<number>> {
  const commits = new Set(
    file.lines.flatMap(({ commit }, i) => (writes[matched[i]?.write ?? -1]?.whole ? [commit] : [])),
  );
  const formsBefore = new Map<string, Forms>();
  for (const commit of [...commits].slice(0, VERSIONS)) {
    const previous = file.previous.get(commit);
    const text = previous && (await kernel.inject("git").textAt(root, previous.commit, previous.path));
    if (typeof text === "string") formsBefore.set(commit, toForms(toLines(text)));
    if (mustYield()) await yieldNow();
  }
  const found = new Set<number>();
  for (const [i, { text, commit }] of file.lines.entries()) {
    const before = formsBefore.get(commit);
    if (before && isReformed(text, before)) found.add(i);
    if (mustYield()) await yieldNow();
  }
  return found;
}

/** Lines of a commit that brought the file, from which on it is worth a look whether the file had another name before. */
const ENOUGH = 3;

/** Writes into files that may have become this one in the commit that brought it, renamed before they were ever committed. */
async function underOtherNames(
  kernel: Kernel,
  project: string,
  root: string,
  names: ReadonlySet<string>,
  file: NonNullable<Blamed["file"]>,
  matched: readonly (Matched | undefined)[],
): Promise<Write[]> {
  const brought = new Set([...file.commits.keys()].filter((hash) => !file.previous.has(hash)));
  const open = file.lines.filter(
    ({ text, commit }, i) => !matched[i] && brought.has(commit) && computeWeight(text) >= 12,
  );
  if (open.length < ENOUGH) return [];
  const until = Math.max(...[...brought].map((hash) => Date.parse(file.commits.get(hash)?.at ?? "")));
  const wanted = new Set(open.map(({ text }) => toKey(text)));
  const ends = [...names].map((name) => `/${name}`);
  const byFile = new Map<string, Write[]>();
  for (const write of await writesBefore(kernel, project, root, until + SECOND)) {
    if (mustYield()) await yieldNow();
    if (ends.some((end) => write.file.endsWith(end))) continue;
    const list = byFile.get(write.file);
    if (list) list.push(write);
    else byFile.set(write.file, [write]);
  }
  const found: Write[] = [];
  for (const writes of byFile.values()) {
    const held = new Set<number>();
    for (const { lines } of writes) {
      if (mustYield()) await yieldNow();
      for (const key of lines) if (wanted.has(key)) held.add(key);
    }
    if (held.size >= Math.max(ENOUGH, wanted.size / 4))
      for (const write of writes) found.push({ ...write, elsewhere: true });
  }
  return found;
}

/** `touched`: author times of the commits that changed the file, in seconds, ascending. */
function toWindow({ at, authoredAt }: Pick<LineCommit, "at" | "authoredAt">, touched: readonly number[]): Window {
  const authored = Date.parse(authoredAt);
  const before = touched.findLast((seconds) => seconds * SECOND < authored);
  return {
    after: before === undefined ? Number.NEGATIVE_INFINITY : before * SECOND,
    authored,
    committed: Date.parse(at),
  };
}

export const toWriter = ({ author, seq, at, name }: Write): Writer => ({
  sessionId: author.id,
  tool: author.tool,
  title: author.title,
  seq,
  at: new Date(at).toISOString(),
  name,
});
