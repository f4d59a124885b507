/** What a call shows of a match: what it was called on and the stretch that matched, neither of them twice. */
import type { SearchAnswer } from "../../wire.ts";

type Match = SearchAnswer["results"][number]["matches"][number];
type Ranges = readonly (readonly [number, number])[];

interface CallLine {
  /** What it was called on, with its hits. */
  argument?: { text: string; ranges: Ranges };
  /** Whether the snippet says more. */
  snippet: boolean;
}

/** Characters of an argument by which it is recognized in a snippet, which may end before it does. */
const RECOGNIZED = 40;
/** Characters that a snippet and the end of an argument have in common before they count as one text. */
const LEAST = 8;
const spaced = (text: string) => text.replace(/\s+/g, " ");

export function callLine({ argument, snippet, ranges }: Pick<Match, "argument" | "snippet" | "ranges">): CallLine {
  if (argument === undefined) return { snippet: true };
  const hits = [...new Set(ranges.map(([from, to]) => snippet.slice(from, to)))];
  if (hits.every((hit) => argument.includes(hit))) {
    const from = snippet.indexOf(argument);
    const own = ranges
      .map(([start, end]) => [start - from, end - from] as const)
      .filter(([start, end]) => start >= 0 && end <= argument.length);
    const marked = from < 0 ? hits.flatMap((hit) => placesOf(hit, argument)) : own;
    return { argument: { text: argument, ranges: marked }, snippet: false };
  }
  const shown = spaced(snippet);
  if (shown.includes(argument.slice(0, RECOGNIZED))) return { snippet: true };
  const text = argument.slice(0, overlapAt(argument, shown)).trimEnd();
  return { argument: { text, ranges: [] }, snippet: true };
}

/** Where the snippet goes on inside the argument; at its end where it does not. */
function overlapAt(argument: string, snippet: string): number {
  const text = snippet.replace(/^[\s…]+/, "");
  for (let at = 1; at <= argument.length - LEAST; at++) {
    const rest = argument.slice(at, at + RECOGNIZED);
    if (text.startsWith(rest)) return at;
  }
  return argument.length;
}

function placesOf(hit: string, text: string): [number, number][] {
  const places: [number, number][] = [];
  if (hit === "") return places;
  for (let at = text.indexOf(hit); at >= 0; at = text.indexOf(hit, at + hit.length)) places.push([at, at + hit.length]);
  return places;
}

/** A match with paths inside the project from its folder on: in what the call was called on and in the snippet, with its hits. */
export function insideOf<M extends Pick<Match, "argument" | "snippet" | "ranges">>(match: M, root: string | null): M {
  if (root === null) return match;
  const prefix = `${root}/`;
  const parts = match.snippet.split(prefix);
  /** Where each part ends in the snippet, to count the prefixes before a place. */
  const cuts = parts.slice(0, -1).map((_, i) => parts.slice(0, i + 1).join(prefix).length);
  const shift = (place: number) => place - cuts.filter((cut) => cut < place).length * prefix.length;
  const isCut = (from: number) => cuts.some((cut) => from >= cut && from < cut + prefix.length);
  return {
    ...match,
    ...(match.argument !== undefined && { argument: match.argument.replaceAll(prefix, "") }),
    snippet: parts.join(""),
    ranges: match.ranges
      .filter(([from]) => !isCut(from))
      .map(([from, to]): [number, number] => [shift(from), shift(to)]),
  };
}
