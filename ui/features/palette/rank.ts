/** Which of some labels fit a typed text, best first. Labels chosen often and recently rank higher; stored in this browser. */
import { readStored, writeStored } from "../../state/settings.ts";

const KEY = "sessarc:chosen";
const HALF_LIFE = 7 * 86_400_000;
type Chosen = Record<string, [score: number, at: number]>;

export function remember(id: string, now = Date.now()): void {
  const chosen = readStored<Chosen>(KEY, {});
  chosen[id] = [weight(chosen[id], now) + 1, now];
  const best = Object.entries(chosen)
    .sort((a, b) => b[1][1] - a[1][1])
    .slice(0, 200);
  writeStored(KEY, Object.fromEntries(best));
}

const weight = (entry: [number, number] | undefined, now: number) =>
  entry ? entry[0] * 0.5 ** ((now - entry[1]) / HALF_LIFE) : 0;

interface Ranked {
  id: string;
  label: string;
  /** Other words for it, between commas. */
  also?: string | undefined;
}

export function rank<T extends Ranked>(
  rows: readonly T[],
  typed: string,
  options: { now?: number /** Leaves the order as it is. */; kept?: boolean } = {},
): T[] {
  if (options.kept) return [...rows];
  return scored(rows, typed, options.now).map(({ row }) => row);
}

/** The same with each row's score. */
export function scored<T extends Ranked>(
  rows: readonly T[],
  typed: string,
  now = Date.now(),
): { row: T; score: number }[] {
  const chosen = readStored<Chosen>(KEY, {});
  const wanted = typed.toLowerCase().trim();
  return rows
    .map((row) => ({
      row,
      fit: Math.max(computeScore(row.label.toLowerCase(), wanted), synonymScore(row.also, wanted)),
    }))
    .filter(({ fit }) => fit > 0)
    .map(({ row, fit }) => ({ row, score: fit + Math.min(3, weight(chosen[row.id], now)) / 4 }))
    .sort((a, b) => b.score - a.score);
}

/** A synonym counts from its beginning: above the middle of a label, below its words. */
function synonymScore(also: string | undefined, wanted: string): number {
  if (also === undefined || wanted.length < 2) return 0;
  const words = also.toLowerCase().split(", ");
  return words.includes(wanted) ? 2.8 : words.some((word) => word.startsWith(wanted)) ? 2.5 : 0;
}

/** 0 when it does not fit; a start beats the start of a word beats the middle beats scattered letters. */
function computeScore(label: string, wanted: string): number {
  if (wanted === "") return 1;
  const place = label.indexOf(wanted);
  if (place === 0) return 4;
  if (place > 0) return /[\s\-_/.]/.test(label[place - 1] ?? "") ? 3 : 2;
  let at = -1;
  for (const letter of wanted) {
    at = label.indexOf(letter, at + 1);
    if (at < 0) return 0;
  }
  return 1;
}
