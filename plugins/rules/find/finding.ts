/** What the detection answers. */

/** Where a mistake was seen. */
export interface Evidence {
  session: string;
  /** The message: what the user said, the call that failed. */
  seq: number;
  at: string | null;
  /** What was said; what failed, and what was run instead. */
  text: string;
  /** About how many the failed call and its result took; 0 for a correction. */
  tokens: number;
}

/** A mistake that recurs, and the line that says how it is to be done. */
export interface Finding {
  kind: "correction" | "command";
  /** The same for the same mistake, as far as its evidence goes. */
  key: string;
  line: string;
  evidence: Evidence[];
  /** What a call must not be for the mistake to be gone. */
  mistake: Mistake;
}

/** Of a command: the calls that fail, by their first words, and what makes them work. Of a correction: words that no call may have together. */
export type Mistake = { heads: string[]; added: string[] } | { words: string[] };
