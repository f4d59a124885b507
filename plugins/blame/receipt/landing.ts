/** Which lines of which calls got into which commits, and what became of them. */
import { type Kernel, mustYield, type Services, yieldNow } from "sessarc";
import { computeWeight, toKey } from "../indexer/keys.ts";
import { isReformed, toForms } from "../match/forms.ts";
import { type CommittedLine, type LineEvidence, type Matched, matchLines, type Window } from "../match/match.ts";
import { byTime, isSame, readWrites, type Write, writesInto } from "../writes.ts";
import { groupBy } from "./group.ts";

type CommitPatch = Awaited<ReturnType<Services["git"]["patches"]>>[number];

/** `kept`: at HEAD; `unmerged`: in a commit that HEAD has not. `rewritten` tells by whom in `by`. */
export type Fate = "kept" | "rewritten" | "reverted" | "unmerged";

/** A line of a call in the commit that took it. */
export interface Landed {
  write: Write;
  commit: string;
  evidence: LineEvidence;
  /** The file and the number of the line in the commit's version. */
  path: string;
  line: number;
  fate: Fate;
  /** Who wrote the line that came in its place. */
  by?: "assistant" | "person";
  /** Where the revert of a revert put it back. */
  again?: Pick<Landed, "commit" | "path" | "line">[];
}

export interface LandedCommit extends Omit<CommitPatch, "files"> {
  /** HEAD has it. */
  isMerged: boolean;
  added: number;
  removed: number;
}

export interface Landing {
  commits: LandedCommit[];
  landed: Landed[];
  writes: Write[];
}

const DAY = 86_400_000;

/** All commits since the first session of the project. Linear in their patches. */
export async function readLanding(
  kernel: Kernel,
  project: string,
  root: string,
  tips: { head: string | undefined; branches: { hash: string }[] },
): Promise<Landing> {
  const first = await firstSession(kernel, project);
  const writes = await readWrites(kernel, project, root);
  if (first === undefined || tips.head === undefined) return { commits: [], landed: [], writes };
  const byName = await groupBy(writes, ({ file }) => file.slice(file.lastIndexOf("/") + 1));
  const git = kernel.inject("git");
  const since = new Date(first - DAY).toISOString();
  // A file may get a writer's name by a rename later on: of all files the lines are wanted where any session wrote something.
  const query = { since, wants: () => writes.length > 0 };
  const others = tips.branches.map(({ hash }) => hash).filter((hash) => hash !== tips.head);
  const merged = await git.patches(root, { ...query, commits: [tips.head] });
  const open =
    others.length > 0 ? await git.patches(root, { ...query, commits: [...new Set(others), `^${tips.head}`] }) : [];
  const all = [...merged, ...open];
  const isMerged = new Set(merged.map(({ hash }) => hash));
  const landed = await landIn(all, isMerged, byName);
  return {
    commits: all.map(({ files, ...commit }) => ({
      ...commit,
      isMerged: isMerged.has(commit.hash),
      added: files.reduce((sum, { added }) => sum + added, 0),
      removed: files.reduce((sum, { removed }) => sum + removed, 0),
    })),
    landed,
    writes,
  };
}

/** What sessions of a project wrote into these files (paths in the repository) in commits of `head` since `since` (ms), oldest first. */
export async function landFiles(
  kernel: Kernel,
  project: string,
  root: string,
  { head, files, since }: { head: string; files: ReadonlySet<string>; since: number },
): Promise<{ commits: CommitPatch[]; landed: Landed[] }> {
  if (files.size === 0) return { commits: [], landed: [] };
  const query = { commits: [head], since: new Date(since).toISOString(), files: [...files], wants: () => true };
  const commits = await kernel.inject("git").patches(root, query);
  if (commits.length === 0) return { commits, landed: [] };
  const writes = await writesInto(kernel, project, root, files);
  const byName = await groupBy(writes, ({ file }) => file.slice(file.lastIndexOf("/") + 1));
  return { commits, landed: await landIn(commits, new Set(commits.map(({ hash }) => hash)), byName) };
}

/** When the first archived session of a project began, ms: what was committed before cannot be a session's. */
export async function firstSession(kernel: Kernel, project: string): Promise<number | undefined> {
  const row = await kernel.storage.db.get<{ at: string | null }>(
    "select min(started_at) as at from session where project_id = ? and started_at is not null",
    [project],
  );
  return row?.at ? Date.parse(row.at) : undefined;
}

async function landIn(
  commits: readonly CommitPatch[],
  isMerged: ReadonlySet<string>,
  byName: ReadonlyMap<string, Write[]>,
): Promise<Landed[]> {
  const lineages = await readLineages(commits);
  const uncommitted = await findUncommitted(lineages, byName);
  const landed: Landed[] = [];
  const subjects = new Map(commits.map(({ hash, subject }) => [hash, subject]));
  for (const { names, patches } of lineages) {
    if (mustYield()) await yieldNow();
    let writes = await writesUnder(names, byName);
    if (writes.length === 0 && uncommitted.size === 0) continue;
    const touched = patches.map(({ commit }) => Date.parse(commit.authoredAt)).sort((a, b) => a - b);
    const windows = new Map<string, Window>();
    for (const { commit } of patches) {
      const authored = Date.parse(commit.authoredAt);
      const before = touched.findLast((ms) => ms < authored);
      windows.set(commit.hash, {
        after: before ?? Number.NEGATIVE_INFINITY,
        authored,
        committed: Date.parse(commit.at),
      });
      if (mustYield()) await yieldNow();
    }
    const lines: CommittedLine[] = [];
    for (const { commit, file } of patches) {
      const before = toForms(file.removedLines);
      for (const added of file.addedLines) {
        const text = added.replace(/\r$/, "");
        lines.push({ text, commit: commit.hash, reformed: isReformed(text, before) });
        if (mustYield()) await yieldNow();
      }
    }
    let matched = await matchLines(lines, windows, writes);
    const others = underOtherNames(patches[0], lines, matched, uncommitted);
    if (others.length > 0) {
      writes = [...writes, ...others].sort(byTime);
      matched = await matchLines(lines, windows, writes);
    }
    const writers = matched.map((one): Written | undefined => {
      const write = writes[one?.write ?? -1];
      return one && write && { write, evidence: one.evidence };
    });
    for (const one of await followed(patches, lines, writers, isMerged, subjects)) landed.push(one);
  }
  return landed;
}

/** Files that no commit has, by the keys of the lines that were written into them. */
type Uncommitted = ReadonlyMap<number, ReadonlySet<readonly Write[]>>;

/** Calls may have written a file that was renamed before it was ever committed. */
async function findUncommitted(
  lineages: readonly { names: ReadonlySet<string> }[],
  byName: ReadonlyMap<string, Write[]>,
): Promise<Uncommitted> {
  const committed = new Map<string, string[]>();
  for (const { names } of lineages)
    for (const path of names) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      committed.set(name, [...(committed.get(name) ?? []), path]);
    }
  const found = new Map<number, Set<readonly Write[]>>();
  for (const [name, writes] of byName) {
    const files = await groupBy(
      writes.filter(({ file }) => !committed.get(name)?.some((path) => isSame(file, path))),
      ({ file }) => file,
    );
    for (const own of files.values())
      for (const { lines } of own) {
        if (mustYield()) await yieldNow();
        for (const key of lines) found.set(key, (found.get(key) ?? new Set()).add(own));
      }
  }
  return found;
}

/** Lines of the commit that brought a file, from which on it may have had another name before; and letters and digits of each. */
const ENOUGH = 3;
const TELLING = 12;

/** Writes into files that may have become the one that `first` brought. */
function underOtherNames(
  first: CommittedFile | undefined,
  lines: readonly CommittedLine[],
  matched: readonly (Matched | undefined)[],
  uncommitted: Uncommitted,
): Write[] {
  if (!first || first.file.removed > 0 || uncommitted.size === 0) return [];
  const open = new Set<number>();
  for (const [i, { text }] of lines.slice(0, first.file.addedLines.length).entries())
    if (!matched[i] && computeWeight(text) >= TELLING) open.add(toKey(text));
  const held = new Map<readonly Write[], number>();
  for (const key of open)
    for (const writes of uncommitted.get(key) ?? []) held.set(writes, (held.get(writes) ?? 0) + 1);
  return [...held]
    .filter(([, count]) => count >= Math.max(ENOUGH, open.size / 4))
    .flatMap(([writes]) => writes.map((write) => ({ ...write, elsewhere: true })));
}

type Written = Pick<Landed, "write" | "evidence">;
type CommittedFile = { commit: CommitPatch; file: CommitPatch["files"][number] };

/** Follows each line from the commit that took it to the one that removed it. */
async function followed(
  patches: readonly CommittedFile[],
  lines: readonly CommittedLine[],
  writers: readonly (Written | undefined)[],
  isMerged: ReadonlySet<string>,
  subjects: ReadonlyMap<string, string>,
): Promise<Landed[]> {
  const all: Landed[] = [];
  /** Lines at HEAD so far, and lines that a revert took out, by their key. */
  const present = new Map<number, Landed[]>();
  const gone = new Map<number, Landed[]>();
  const put = (map: Map<number, Landed[]>, key: number, one: Landed) => {
    const list = map.get(key);
    if (list) list.push(one);
    else map.set(key, [one]);
  };
  let at = 0;
  for (const { commit, file } of patches) {
    if (mustYield()) await yieldNow();
    const own = file.addedLines.length;
    const written = writers.slice(at, at + own);
    if (!isMerged.has(commit.hash)) {
      for (const [i, one] of written.entries())
        if (one) all.push({ ...one, ...placeOf(commit, file, i), fate: "unmerged" });
      at += own;
      continue;
    }
    const isRevert = /^Revert\b/i.test(subjects.get(commit.hash) ?? "");
    const isReapplied = /^(Revert "Re(vert|apply)\b|Reapply\b)/i.test(subjects.get(commit.hash) ?? "");
    const by = written.some((one) => one !== undefined) ? "assistant" : "person";
    for (const text of file.removedLines) {
      if (mustYield()) await yieldNow();
      const key = toKey(text);
      const one = present.get(key)?.pop();
      if (!one) continue;
      one.fate = isRevert ? "reverted" : "rewritten";
      if (!isRevert) one.by = by;
      put(gone, key, one);
    }
    for (let i = 0; i < own; i++) {
      if (mustYield()) await yieldNow();
      const from = written[i];
      const key = toKey(lines[at + i]?.text ?? "");
      const back = from ? undefined : gone.get(key)?.pop();
      const one: Landed | undefined = back ?? (from && { ...from, ...placeOf(commit, file, i), fate: "kept" });
      if (!one) continue;
      one.fate = "kept";
      delete one.by;
      if (!back) all.push(one);
      else if (isReapplied) one.again = [...(one.again ?? []), placeOf(commit, file, i)];
      put(present, key, one);
    }
    at += own;
  }
  return all;
}

const placeOf = ({ hash }: CommitPatch, { path, addedAt }: CommittedFile["file"], i: number) => ({
  commit: hash,
  path,
  line: addedAt[i] ?? 0,
});

/** Files that are one, by renames. Patches in the order of the commits. */
async function readLineages(
  commits: readonly CommitPatch[],
): Promise<{ names: ReadonlySet<string>; patches: CommittedFile[] }[]> {
  const groups = new Map<string, { names: Set<string>; patches: CommittedFile[] }>();
  for (const commit of commits)
    for (const file of commit.files) {
      if (mustYield()) await yieldNow();
      const one = groups.get(file.previousPath) ?? groups.get(file.path) ?? { names: new Set<string>(), patches: [] };
      const other = groups.get(file.path);
      if (other && other !== one) {
        for (const name of other.names) {
          one.names.add(name);
          groups.set(name, one);
        }
        one.patches.push(...other.patches);
      }
      for (const name of [file.path, file.previousPath]) {
        one.names.add(name);
        groups.set(name, one);
      }
      one.patches.push({ commit, file });
    }
  const place = new Map(commits.map((commit, i) => [commit, i]));
  const lineages = new Set(groups.values());
  for (const { patches } of lineages) {
    if (mustYield()) await yieldNow();
    patches.sort((a, b) => (place.get(a.commit) ?? 0) - (place.get(b.commit) ?? 0));
  }
  return [...lineages];
}

async function writesUnder(names: ReadonlySet<string>, byName: ReadonlyMap<string, Write[]>): Promise<Write[]> {
  const found = new Set<Write>();
  for (const path of names)
    for (const write of byName.get(path.slice(path.lastIndexOf("/") + 1)) ?? []) {
      if (mustYield()) await yieldNow();
      if (isSame(write.file, path)) found.add(write);
    }
  return [...found].sort((a, b) => a.at - b.at || a.seq - b.seq);
}
