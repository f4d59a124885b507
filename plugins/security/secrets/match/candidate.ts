/** What a check of a rule sees of a match, and what it answers. */
export interface Candidate {
  text: string;
  /** The secret part. */
  start: number;
  end: number;
  /** Where the match begins: the identifier of an assignment, the head of a token. */
  from: number;
  /** Where the match ends. */
  stop: number;
}

/** False: no finding. True: as the row says. `weak`: only `possible`. */
export type Verdict = boolean | "weak";
