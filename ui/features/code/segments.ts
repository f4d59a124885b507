import type { Token } from "./highlight.ts";

export interface Segment {
  text: string;
  style: Record<string, string>;
  strong: boolean;
}

/** A line cut where its colour or its emphasis changes. */
export function toSegments(
  text: string,
  tokens: readonly Token[] | undefined,
  words: readonly (readonly [number, number])[],
): Segment[] {
  if (words.length === 0)
    return tokens ? tokens.map((token) => ({ ...token, strong: false })) : [{ text, style: {}, strong: false }];
  const edges = new Set([0, text.length, ...words.flat()]);
  const styles: { from: number; style: Record<string, string> }[] = [];
  let at = 0;
  for (const token of tokens ?? []) {
    styles.push({ from: at, style: token.style });
    edges.add(at);
    at += token.text.length;
  }
  const cuts = [...edges].filter((edge) => edge <= text.length).sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, i) => ({
    text: text.slice(from, cuts[i + 1]),
    style: styles.findLast((one) => one.from <= from)?.style ?? {},
    strong: words.some(([start, end]) => from >= start && from < end),
  }));
}
