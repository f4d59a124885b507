/**
 * Which calls are between two versions of a file where git's whole seconds leave it open. Contents decide: calls that make exactly a
 * version of the one before are between the two. Where a person has a part in a version, the calls that are left between its neighbours
 * are its own, and what they do not explain is the person's.
 */
import { mustYield, yieldNow } from "sessarc";
import { firstPast } from "../writes.ts";
import { applySteps, carry, isSameText, type Owned, type Step, toOwned } from "./steps.ts";

/** A commit that changed the file. */
export interface Version {
  hash: string;
  /** Author time, in seconds. */
  authored: number;
}

export interface Sources {
  /** The file in a commit and before it; undefined where it cannot be read. */
  texts(commit: string): Promise<{ before: string; after: string } | undefined>;
  /** What a call does to the file; undefined where its log does not hold it. */
  steps(write: number): Promise<readonly Step[] | undefined>;
}

/**
 * Of each line of a commit's version the call that wrote it, by each way to explain the version; undefined for a line of the version before.
 * Commits of which the logs do not hold all calls are absent.
 */
export type Settled = ReadonlyMap<string, readonly Explained[]>;

export interface Explained extends Pick<Owned, "keys" | "owners"> {
  /** The calls alone make the version. */
  isExact: boolean;
}

/** A line that no known call wrote. */
export const OTHER = -1;

/** Calls that are replayed for one commit, and commits of one file. */
const CALLS = 100;
const COMMITS = 200;
const SECOND = 1_000;

/** The first call after the version before is one of `low` to `high`; the first one after the commit is one of `least` to `end`. */
interface Span {
  low: number;
  high: number;
  least: number;
  end: number;
}

interface Choice extends Span {
  hash: string;
  /** The logs hold what each of its calls does. */
  isKnown: boolean;
  before: Owned;
  after: Owned;
  /** Calls from `first` up to `next` make the version. */
  ways: { first: number; next: number; made: Owned }[];
}

/** `versions`: oldest first; only those that may share calls with one of `wanted` are compared. `times`: of the calls, ascending, in ms. */
export async function settle(
  versions: readonly Version[],
  wanted: ReadonlySet<string>,
  times: readonly number[],
  sources: Sources,
): Promise<Settled> {
  const seconds = versions.map(({ authored }) => authored).sort((a, b) => a - b);
  const spans = versions.flatMap(({ hash, authored }) => {
    const span = toSpan(authored, seconds, times);
    return span.end - span.low <= CALLS && isOpen(span) ? [{ hash, ...span }] : [];
  });
  const own = spans.filter(({ hash }) => wanted.has(hash)).slice(-COMMITS);
  const choices: Choice[] = [];
  for (const span of spans) {
    if (!own.some(({ low, end }) => span.low <= end && span.end >= low)) continue;
    const texts = await sources.texts(span.hash);
    if (!texts) continue;
    const isKnown = await knowsAll(span, sources);
    const choice: Choice = { ...span, isKnown, before: toOwned(texts.before), after: toOwned(texts.after), ways: [] };
    choices.push(isKnown ? { ...choice, ways: await findWays(choice, sources) } : choice);
  }
  dropContradictions(choices);
  const settled = new Map<string, readonly Explained[]>();
  /** Lines of earlier versions. */
  const earlier = new Set<number>();
  for (const [i, choice] of choices.entries()) {
    const old = new Set(choice.before.keys);
    const made = choice.ways.map((way) => ({ ...way.made, isExact: true }));
    const all = made.length > 0 ? made : [{ ...(await explain(choice, i, choices, sources)), isExact: false }];
    const wholes = new Set<number>();
    for (let write = choice.low; write < choice.end; write++)
      if ((await sources.steps(write))?.some((step) => step.do === "write")) wholes.add(write);
    // A call that wrote the whole file does not write a line first that an earlier version had.
    const isBack = (key: number | undefined) => key !== undefined && earlier.has(key) && !old.has(key);
    const explained = all.map(({ keys, owners, isExact }) => ({
      ...{ keys, isExact },
      owners: owners.map((owner, at) => (wholes.has(owner ?? OTHER) && isBack(keys[at]) ? OTHER : owner)),
    }));
    if (choice.isKnown) settled.set(choice.hash, explained);
    for (const key of choice.before.keys) earlier.add(key);
    for (const key of choice.after.keys) earlier.add(key);
  }
  return settled;
}

/** The calls that may be those of a commit. */
function toSpan(authored: number, seconds: readonly number[], times: readonly number[]): Span {
  const previous = seconds.findLast((one) => one < authored);
  const isShared = seconds.indexOf(authored) !== seconds.lastIndexOf(authored);
  const least = firstAt(times, authored);
  const end = firstAt(times, authored + 1);
  if (previous === undefined) return { low: 0, high: isShared ? end : 0, least, end };
  return { low: firstAt(times, previous), high: isShared ? end : firstAt(times, previous + 1), least, end };
}

/** The times leave a choice. */
const isOpen = ({ low, high, least, end }: Span): boolean => low < high || least < end;

/** Place of the first call at this second or later. */
const firstAt = (times: readonly number[], second: number) => firstPast(times, (time) => time >= second * SECOND);

async function knowsAll({ low, end }: Span, { steps }: Sources): Promise<boolean> {
  for (let write = low; write < end; write++) if ((await steps(write)) === undefined) return false;
  return true;
}

async function findWays({ low, high, least, end, before, after }: Choice, sources: Sources): Promise<Choice["ways"]> {
  const ways: Choice["ways"] = [];
  for (let first = low; first <= high; first++) {
    let made: Owned | undefined = before;
    for (let next = first; made && next <= end; next++) {
      if (next >= least && next > first && isSameText(made, after)) ways.push({ first, next, made });
      const steps = next < end ? await sources.steps(next) : undefined;
      made = steps && applySteps(made, steps, next);
      if (mustYield()) await yieldNow();
    }
  }
  return ways;
}

/** A call is in one version alone, and later calls are in later versions: ways that contradict this explain nothing. */
function dropContradictions(choices: readonly Choice[]): void {
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    const known = choices.filter(({ ways }) => ways.length > 0);
    for (const [i, one] of known.entries()) {
      const next = known[i + 1];
      if (!next) continue;
      const least = Math.min(...one.ways.map((way) => way.next));
      const most = Math.max(...next.ways.map(({ first }) => first));
      const [before, after] = [one.ways.length, next.ways.length];
      const isContradiction = least > most;
      one.ways = isContradiction ? [] : one.ways.filter((way) => way.next <= most);
      next.ways = isContradiction ? [] : next.ways.filter(({ first }) => first >= least);
      isChanged ||= one.ways.length < before || next.ways.length < after;
    }
  }
}

/** A version in which a person has a part, from the calls that are surely its own. */
async function explain(own: Choice, at: number, choices: readonly Choice[], sources: Sources): Promise<Owned> {
  const earlier = choices.slice(0, at).findLast(({ ways }) => ways.length > 0);
  const later = choices.slice(at + 1).find(({ ways }) => ways.length > 0);
  const low = Math.max(own.low, ...(earlier?.ways.map(({ next }) => next) ?? []));
  const end = Math.min(own.end, ...(later?.ways.map(({ first }) => first) ?? []));
  const others = choices.filter((one) => one !== own && one.ways.length === 0 && one.low < end && one.end > low);
  let made = own.before;
  for (let write = low; write < end; write++) {
    const steps = await sources.steps(write);
    const isOwn = (write >= own.high && write < own.least) || others.length === 0;
    if (!steps || !(isOwn || (isDone(steps, own) && !others.some((one) => isDone(steps, one))))) continue;
    made = applySteps(made, steps, write) ?? made;
    if (mustYield()) await yieldNow();
  }
  const owners = carry(made, own.after.keys, OTHER) ?? own.after.keys.map(() => OTHER);
  // A person may have undone a call of which lines are missing, and typed the others.
  const isWhole = (owner: number) => countOf(owners, owner) === countOf(made.owners, owner);
  return {
    ...own.after,
    owners: owners.map((owner) => (owner === undefined || owner === OTHER || isWhole(owner) ? owner : OTHER)),
  };
}

const countOf = (owners: Owned["owners"], wanted: number): number => owners.filter((one) => one === wanted).length;

/** The version has what the call made, and the one before had what it began with. */
function isDone(steps: readonly Step[], { before, after }: Choice): boolean {
  return steps.every((step) => {
    if (step.do !== "edit") return false;
    return step.edits.every(
      (edit) =>
        edit.new.trim() !== "" &&
        before.text.includes(edit.old) &&
        !before.text.includes(edit.new) &&
        after.text.includes(edit.new),
    );
  });
}
