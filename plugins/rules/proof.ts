/** What a proof came to. */

/** One run of an old prompt. */
export interface TrialRun {
  /** The mistake was made. */
  failed: boolean;
  /** US dollars as the assistant printed them, else at the prices of now; null where nothing says. */
  usd: number | null;
  ms: number;
}

export interface Trial {
  session: string;
  /** The prompt. */
  seq: number;
  without: TrialRun;
  /** Null where the mistake was not made without the line: the second run would show nothing. */
  with: TrialRun | null;
}

export interface Proof {
  at: string;
  command: string;
  /**
   * `proved`: the mistake was made without the line, and not with it. `refuted`: it was made with the line, too. `not-shown`: it was not made
   * without the line either.
   */
  verdict: "proved" | "refuted" | "not-shown";
  trials: Trial[];
  /** US dollars of all runs; null where one is unknown. */
  usd: number | null;
}

export function toVerdict(trials: readonly Trial[]): Proof["verdict"] {
  if (trials.some((trial) => trial.with?.failed)) return "refuted";
  return trials.some((trial) => trial.without.failed) ? "proved" : "not-shown";
}
