/**
 * Which call of which session a line comes from. A line is matched by its text, never by a commit's id, so that squash, rebase, rename
 * and formatting change nothing. What was written between the last commit of the file and the line's own needs no more evidence;
 * anything else needs a run of lines that says enough, because short lines are the same everywhere.
 */
import { mustYield, yieldNow } from "sessarc";
import { computeWeight, formless, toKey } from "../indexer/keys.ts";
import { firstPast, type Write } from "../writes.ts";
import { type Explained, OTHER, type Settled } from "./seconds.ts";

/** `line`: it wrote the whole line; `part`: a piece of it; `near`: the lines around it, in the same commit. */
export type LineEvidence = "line" | "part" | "near";

export interface Matched {
  /** Place in the list of writes. */
  write: number;
  evidence: LineEvidence;
}

/** When the lines of a commit were written, in ms. */
export interface Window {
  /** The commit of the file before this one: what was written until then is in that one. */
  after: number;
  /** Author time, which a rebase keeps. */
  authored: number;
  committed: number;
}

export interface CommittedLine {
  text: string;
  commit: string;
  /** The commit changed the line's form alone: a call that wrote the whole file in its time did not write the line first. */
  reformed?: boolean;
  /** Number of the line in the commit's version of the file, from 1. */
  original?: number;
}

/** Stamps of commits have whole seconds. */
const SECOND = 1_000;
/** Letters and digits from which on a line says something. */
const HEAVY = 4;
/** Letters and digits of a line that hardly two people write. */
const TELLING = 12;
/** Of a run outside of its time. */
const RUN = 24;
/** Of one line outside of its time. */
const ALONE = 30;
/** Lines compared on each side of a candidate. */
const AROUND = 4;
/** Places of one line that are compared, the latest. */
const PLACES = 64;

/** Lines on each side in which a line of the same session decides between equal places. */
const NEXT = 8;

interface Place {
  write: number;
  /** Place in the write's lines. */
  at: number;
}

/** `writes` in order of time. `settled`: commits whose calls their contents show, not their times. */
export async function matchLines(
  lines: readonly CommittedLine[],
  windows: ReadonlyMap<string, Window>,
  writes: readonly Write[],
  settled: Settled = new Map(),
): Promise<(Matched | undefined)[]> {
  const keys: number[] = [];
  const weights: number[] = [];
  for (const { text } of lines) {
    keys.push(toKey(text));
    weights.push(computeWeight(text));
    if (mustYield()) await yieldNow();
  }
  const found: (Matched | undefined)[] = new Array(lines.length).fill(undefined);
  const used = new Set<string>();
  const take = (i: number, { write, at }: Place, evidence: LineEvidence) => {
    found[i] = { write, evidence };
    used.add(`${write} ${at}`);
  };
  const isFree = ({ write, at }: Place) => !used.has(`${write} ${at}`);
  const same = (i: number, j: number) => lines[i]?.commit === lines[j]?.commit;

  /** How many lines in a row are the same before (`step` -1) or after a place. */
  const alike = (i: number, { write, at }: Place, step: 1 | -1, most: number): number => {
    const own = writes[write]?.lines;
    let count = 0;
    while (count < most) {
      const next = i + step * (count + 1);
      const key = own?.[at + step * (count + 1)];
      if (key === undefined || key !== keys[next] || !same(i, next)) break;
      count++;
    }
    return count;
  };

  const sessionOf = ({ write }: { write: number }) => writes[write]?.author.id;

  /** The place that fits best: by the lines around it, of equal ones that of the session next to the line, else the latest. */
  const best = (i: number, places: readonly Place[]): { place: Place; score: number } | undefined => {
    let equal: Place[] = [];
    let most = -1;
    for (let p = places.length - 1; p >= Math.max(0, places.length - PLACES); p--) {
      const place = places[p];
      if (!place || !isFree(place)) continue;
      const score = alike(i, place, -1, AROUND) + alike(i, place, 1, AROUND);
      if (score > most) equal = [];
      if (score >= most) equal.push(place);
      most = Math.max(most, score);
      if (most === 2 * AROUND) break;
    }
    const place = nearest(i, equal);
    return place && { place, score: most };
  };

  /** Of places that fit equally well, the latest first. */
  const nearest = (i: number, places: readonly Place[]): Place | undefined => {
    const [latest, ...others] = places;
    if (!latest || others.every((one) => sessionOf(one) === sessionOf(latest))) return latest;
    for (let distance = 1; distance <= NEXT; distance++)
      for (const j of [i - distance, i + distance]) {
        const one = same(i, j) ? found[j] : undefined;
        const place = one && places.find((each) => sessionOf(each) === sessionOf(one));
        if (place) return place;
      }
    return latest;
  };

  /** A call that wrote the whole file wrote down lines of others too: the line is of the call before that put it there. */
  const origin = (i: number, place: Place, places: readonly Place[]): Place => {
    if (!writes[place.write]?.whole) return place;
    const known = (one: Place) => (weights[i] ?? 0) >= TELLING || alike(i, one, -1, 1) + alike(i, one, 1, 1) > 0;
    const before = places.filter((one) => one.write < place.write && isFree(one) && known(one));
    return before.findLast(({ write }) => !writes[write]?.whole) ?? before[0] ?? place;
  };

  const byCommit = new Map<string, number[]>();
  for (const [i, { commit }] of lines.entries()) {
    const list = byCommit.get(commit);
    if (list) list.push(i);
    else byCommit.set(commit, [i]);
  }

  for (const [commit, own] of byCommit) {
    const window = windows.get(commit);
    const ways = settled.get(commit);
    if (ways)
      for (const i of own) {
        if (mustYield()) await yieldNow();
        const key = keys[i] ?? 0;
        const write = settledWriter(ways, key, lines[i]?.original ?? 0, writes);
        if (write === undefined) continue;
        const written = writes[write]?.lines;
        const at = written?.findIndex((one, at) => one === key && isFree({ write, at })) ?? -1;
        const isLight = (weights[i] ?? 0) < HEAVY;
        take(i, { write, at }, isLight ? "near" : written?.includes(key) ? "line" : "part");
      }
    if (!window || ways) continue;
    const first = firstPast(writes, ({ at }) => at > window.after + SECOND);
    const end = firstPast(writes, ({ at }) => at > window.authored + SECOND);
    if (first >= end) continue;
    const places = await readPlaces(writes, first, end, ({ elsewhere }) => !elsewhere);
    const heavy = own.filter((i) => (weights[i] ?? 0) >= HEAVY);
    // Those whose neighbours fit come first: a line that is there twice goes to the place it belongs to.
    for (const least of [1, 0])
      for (const i of heavy) {
        if (mustYield()) await yieldNow();
        if (found[i]) continue;
        const all = places.get(keys[i] ?? 0) ?? [];
        const here = lines[i]?.reformed ? all.filter(({ write }) => !writes[write]?.whole) : all;
        const fit = best(i, here);
        if (fit && fit.score >= least) take(i, origin(i, fit.place, here), "line");
      }
    dropChance(own, keys, weights, found, writes);
    const pieces = toPieces(writes, first, end);
    if (pieces.length > 0)
      for (const i of heavy) {
        if (mustYield()) await yieldNow();
        if (found[i] || lines[i]?.reformed) continue;
        const text = formless(lines[i]?.text ?? "");
        const piece = pieces.findLast((one) => text.includes(one.text));
        if (piece) found[i] = { write: piece.write, evidence: "part" };
      }
  }

  // Outside of its time: after a squash, a merge of an older branch, a change of form by someone else.
  if (found.some((one, i) => !one && (weights[i] ?? 0) >= HEAVY)) {
    // A call that wrote a whole file which was committed before repeats lines of others.
    const born = Math.min(
      ...[...windows.values()].map(({ after, authored }) => (Number.isFinite(after) ? after : authored)),
    );
    const isOwn = ({ whole, at }: Write) => !whole || at <= born + SECOND;
    const everywhere = await readPlaces(writes, 0, writes.length);
    for (const [i, one] of found.entries()) {
      if (mustYield()) await yieldNow();
      if (one || (weights[i] ?? 0) < HEAVY) continue;
      const until = (windows.get(lines[i]?.commit ?? "")?.committed ?? Number.NEGATIVE_INFINITY) + SECOND;
      const places = (everywhere.get(keys[i] ?? 0) ?? []).filter(({ write }) => {
        const one = writes[write];
        return one !== undefined && one.at <= until && isOwn(one);
      });
      const fit = best(i, places);
      if (!fit) continue;
      const before = alike(i, fit.place, -1, lines.length);
      const after = alike(i, fit.place, 1, lines.length);
      let weight = 0;
      for (let j = i - before; j <= i + after; j++) weight += weights[j] ?? 0;
      if (weight < (before + after > 0 ? RUN : ALONE)) continue;
      for (let j = i - before; j <= i + after; j++) {
        const place = { write: fit.place.write, at: fit.place.at + j - i };
        if (!found[j] && (weights[j] ?? 0) >= HEAVY && isFree(place)) take(j, place, "line");
      }
    }
  }
  await spread(lines, keys, weights, found, writes, settled);
  return found;
}

/** The call that wrote a line, if all ways to explain its commit name the same session. Git may take any of equal lines for the new one. */
function settledWriter(
  ways: readonly Explained[],
  key: number,
  original: number,
  writes: readonly Write[],
): number | undefined {
  const sessionOf = (write: number | undefined) => writes[write ?? OTHER]?.author.id;
  const found = ways.map(({ keys, owners, isExact }) => {
    const twins = owners.filter((owner, at) => owner !== undefined && keys[at] === key);
    const own = owners[original - 1];
    return new Set(twins.map(sessionOf)).size === 1 ? (own ?? (isExact ? twins[0] : undefined)) : undefined;
  });
  const [first] = found;
  return new Set(found.map(sessionOf)).size === 1 && sessionOf(first) !== undefined ? first : undefined;
}

/**
 * Drops the matches of a session of which a commit has only a few short lines, of calls whose other lines it lacks: people write such
 * lines too. `own`: the lines of the commit.
 */
function dropChance(
  own: readonly number[],
  keys: readonly number[],
  weights: readonly number[],
  found: (Matched | undefined)[],
  writes: readonly Write[],
): void {
  const bySession = new Map<string, number[]>();
  for (const i of own) {
    const id = writes[found[i]?.write ?? -1]?.author.id;
    if (id === undefined) continue;
    const list = bySession.get(id);
    if (list) list.push(i);
    else bySession.set(id, [i]);
  }
  const present = new Set(own.map((i) => keys[i]));
  for (const matched of bySession.values()) {
    if (matched.reduce((sum, i) => sum + (weights[i] ?? 0), 0) >= RUN) continue;
    for (const i of matched) {
      const written = writes[found[i]?.write ?? -1]?.lines.filter((key) => key !== 0) ?? new Int32Array();
      if (written.filter((key) => present.has(key)).length * 2 < written.length) found[i] = undefined;
    }
  }
}

/** Brackets and blank lines belong to the lines around them, where the same call wrote them too. */
async function spread(
  lines: readonly CommittedLine[],
  keys: readonly number[],
  weights: readonly number[],
  found: (Matched | undefined)[],
  writes: readonly Write[],
  settled: Settled,
): Promise<void> {
  const keysOf = new Map<number, Set<number>>();
  const holds = (write: number, key: number) => {
    const known = keysOf.get(write) ?? new Set(writes[write]?.lines);
    keysOf.set(write, known);
    return known.has(key);
  };
  /** The call wrote both lines next to each other: `key` after `other` (`step` 1) or before it. */
  const follows = (write: number, other: number | undefined, key: number | undefined, step: 1 | -1) =>
    writes[write]?.lines.some((one, at, all) => one === other && all[at + step] === key) ?? false;
  const pass = async (from: number, step: 1 | -1) => {
    for (let i = from; i >= 0 && i < lines.length; i += step) {
      if (mustYield()) await yieldNow();
      const before = found[i - step];
      if (
        found[i] ||
        !before ||
        settled.has(lines[i]?.commit ?? "") ||
        lines[i - step]?.commit !== lines[i]?.commit ||
        (weights[i] ?? 0) >= HEAVY
      )
        continue;
      if (follows(before.write, keys[i - step], keys[i], step)) found[i] = { ...before, evidence: "near" };
    }
  };
  await pass(1, 1);
  await pass(lines.length - 2, -1);
  // A bracket alone: of a call that other lines of its commit come from and that wrote it more often than lines have it from there already,
  // unless calls of two sessions may have written it.
  const of = new Map<string, Set<number>>();
  const taken = new Map<string, number>();
  for (const [i, one] of found.entries()) {
    if (!one) continue;
    const commit = lines[i]?.commit ?? "";
    of.set(commit, (of.get(commit) ?? new Set()).add(one.write));
    const name = `${one.write} ${keys[i]}`;
    taken.set(name, (taken.get(name) ?? 0) + 1);
  }
  const left = (write: number, key: number) =>
    (writes[write]?.lines.filter((one) => one === key).length ?? 0) - (taken.get(`${write} ${key}`) ?? 0);
  const inOrder = new Map<string, number[]>();
  for (const [commit, own] of of) {
    inOrder.set(
      commit,
      [...own].sort((a, b) => a - b),
    );
    if (mustYield()) await yieldNow();
  }
  for (const [i, { commit }] of lines.entries()) {
    if (mustYield()) await yieldNow();
    const key = keys[i] ?? 0;
    if (found[i] || key === 0 || settled.has(commit) || lines[i]?.reformed || (weights[i] ?? 0) >= HEAVY) continue;
    const holders = (inOrder.get(commit) ?? []).filter((one) => holds(one, key) && left(one, key) > 0);
    const write = holders.at(-1);
    const isSure = holders.every((one) => writes[one]?.author.id === writes[write ?? -1]?.author.id);
    if (write === undefined || !isSure) continue;
    found[i] = { write, evidence: "near" };
    taken.set(`${write} ${key}`, (taken.get(`${write} ${key}`) ?? 0) + 1);
  }
}

/** Where each line was written, in order of time. */
async function readPlaces(
  writes: readonly Write[],
  first: number,
  end: number,
  counts: (write: Write) => boolean = () => true,
): Promise<Map<number, Place[]>> {
  const places = new Map<number, Place[]>();
  for (let write = first; write < end; write++) {
    const one = writes[write];
    if (!one || !counts(one)) continue;
    for (const [at, key] of one.lines.entries()) {
      const list = places.get(key);
      if (list) list.push({ write, at });
      else places.set(key, [{ write, at }]);
    }
    if (mustYield()) await yieldNow();
  }
  return places;
}

function toPieces(writes: readonly Write[], first: number, end: number): { write: number; text: string }[] {
  const pieces: { write: number; text: string }[] = [];
  for (let write = first; write < end; write++)
    for (const text of writes[write]?.elsewhere ? [] : (writes[write]?.pieces ?? [])) pieces.push({ write, text });
  return pieces;
}
