/** Chooses HEAD's commit at a moment when several share git's whole second: by parents, by the commits a log saw made, by contents. */
import type { Objects } from "../process/batch.ts";
import type { Repository } from "../repository/repository.ts";
import type { History } from "./history.ts";
import { likeness } from "./likeness.ts";
import { type CommitObject, entryAt, readCommit, toBytes } from "./objects.ts";

/** What the log of a session shows of its repository at one moment. */
export interface Witness {
  /** Commits that the session made, in order: hashes as git printed them, and whether that was before the moment. */
  commits(): Promise<readonly { hash: string; before: boolean }[]>;
  /** Files as the log shows them at the moment. Asked for only when several commits are possible. */
  files(): Promise<readonly SeenFile[]>;
}

export interface SeenFile {
  /** Absolute, or from the root of the repository. */
  path: string;
  text: string;
  /** The file from its first line to its last; false: some of its lines. */
  whole: boolean;
}

export interface Choice {
  /** Undefined before the history. */
  commit: CommitObject | undefined;
  /** What told them apart: stamps (and parents), commits that the log saw made, or contents. */
  evidence: "time" | "commits" | "content";
  /** Commits that fit as well, newest first. */
  others: CommitObject[];
}

interface Ask {
  repo: Repository;
  objects: Objects;
  history: History;
  shallow: ReadonlySet<string>;
}

/** `undefined`: nothing was committed yet. */
type Option = CommitObject | undefined;

/** Back through commits that were made later than their stamps say. */
const STEPS = 64;
/** Files compared, and the largest of them in bytes. */
const FILES = 24;
const FILE_BYTES = 1 << 20;

/** `exact`: the time is a whole second, as a commit's own stamp is. */
export async function choose(
  ask: Ask,
  head: string,
  { seconds, exact }: { seconds: number; exact: boolean },
  witness?: Witness,
): Promise<Choice> {
  const around = await ask.history.around(ask.repo, head, seconds);
  const second = byParents(await Promise.all(around.second.map((hash) => read(ask, hash))));
  const root = second.at(-1)?.parents[0] ?? around.before;
  const before = root === undefined ? undefined : await read(ask, root);
  if (!witness) {
    const [commit = before, ...rest] = second;
    return { commit, evidence: "time", others: known(exact || second.length === 0 ? rest : [...rest, before]) };
  }
  const { options, told, gone } = await byCommits(ask, head, second, before, await witness.commits());
  const evidence = told ? "commits" : "time";
  if (options.length === 1) return { commit: options[0], evidence, others: [] };
  const best = await byContent(ask, options, await witness.files());
  if (best.length < options.length) return { commit: best[0], evidence: "content", others: known(best.slice(1)) };
  return { commit: options[0], evidence, others: gone ? [] : known(options.slice(1)) };
}

const known = (options: readonly Option[]) => options.filter((one) => one !== undefined);

const read = ({ objects, shallow }: Ask, hash: string) => readCommit(objects, hash, shallow);

/** Children before their parents; of several lines the one first that git lists first. */
function byParents(commits: readonly CommitObject[]): CommitObject[] {
  const left = [...commits];
  const sorted: CommitObject[] = [];
  const findChild = ({ hash }: CommitObject) => left.find(({ parents }) => parents.includes(hash));
  let next = left[0];
  while (next) {
    for (let child = findChild(next); child; child = findChild(next)) next = child;
    left.splice(left.indexOf(next), 1);
    sorted.push(next);
    next = left[0];
  }
  return sorted;
}

/**
 * The commits that agree with those the log saw made, newest first. `told`: they are other or fewer than the stamps say. `gone`: the
 * first one is the session's own and not in the history any more.
 */
async function byCommits(
  ask: Ask,
  head: string,
  second: readonly CommitObject[],
  before: Option,
  made: Awaited<ReturnType<Witness["commits"]>>,
): Promise<{ options: Option[]; told: boolean; gone: boolean }> {
  const isLater = ({ hash }: CommitObject) => made.some((one) => !one.before && hash.startsWith(one.hash));
  const last = made.findLast((one) => one.before)?.hash;
  const later = toLine(second, isLater);
  const earlier = toLine(second, ({ hash }) => last !== undefined && hash.startsWith(last));
  const left = second.filter((one) => !later.has(one.hash) && (earlier.size === 0 || earlier.has(one.hash)));
  if (earlier.size > 0 && left.length > 0) return { options: left, told: true, gone: false };
  let parent = before;
  for (let i = 0; i < STEPS && parent && isLater(parent); i++) {
    const [hash] = parent.parents;
    parent = hash === undefined ? undefined : await read(ask, hash);
  }
  const options: Option[] = [...left, parent];
  const own = await rewritten(ask, head, last);
  if (own) options.unshift(own);
  const gone = own !== undefined;
  return { options, told: gone || parent !== before || left.length < second.length, gone };
}

/** Those of `commits` (children before parents) that fit, and all that come from them. */
function toLine(commits: readonly CommitObject[], fits: (one: CommitObject) => boolean): Set<string> {
  const line = new Set<string>();
  for (const one of commits.toReversed()) {
    if (fits(one) || one.parents.some((parent) => line.has(parent))) line.add(one.hash);
  }
  return line;
}

/** The commit the session made last, where an amend or a rebase took it out of the history since, and it is still there. */
async function rewritten(ask: Ask, head: string, hash: string | undefined): Promise<CommitObject | undefined> {
  const info = hash === undefined ? undefined : await ask.objects.info(`${hash}^{commit}`);
  if (info?.type !== "commit" || (await ask.history.holds(ask.repo, head, info.hash)) !== false) return undefined;
  return read(ask, info.hash);
}

/** Those whose files are most like what the log shows; all of them where it shows nothing that differs. */
async function byContent(ask: Ask, options: readonly Option[], files: readonly SeenFile[]): Promise<Option[]> {
  const scores = options.map(() => 0);
  for (const { path, text, whole } of files.slice(-FILES)) {
    const inside = insideOf(ask.repo, path);
    const blobs = await Promise.all(options.map((one) => one && entryAt(ask.objects, one.tree, toBytes(inside))));
    if (new Set(blobs.map((blob) => blob?.hash)).size < 2) continue;
    const likes = new Map<string | undefined, number>();
    for (const [index, blob] of blobs.entries()) {
      let like = likes.get(blob?.hash);
      if (like === undefined) {
        const content = blob && (await ask.objects.contents(blob.hash, FILE_BYTES));
        like = content?.type === "blob" && content.data ? likeness(text, content.data.toString("utf8"), whole) : 0;
        likes.set(blob?.hash, like);
      }
      scores[index] = (scores[index] ?? 0) + like;
    }
  }
  const best = Math.max(...scores);
  return options.filter((_, index) => (scores[index] ?? 0) > best - 1e-9);
}

function insideOf({ worktree, root }: Repository, path: string): string {
  const folder = `${worktree ?? root}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}
