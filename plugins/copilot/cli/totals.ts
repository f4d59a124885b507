/**
 * Totals of a shutdown: which part of a session they count. Versions of Copilot differ: a total goes on over resumes, starts from zero with
 * each run, or falls back at a compaction. The output tokens that messages name decide between these.
 */

/** Places in a run that are remembered as possible beginnings of a total. */
const POINTS = 32;

export interface Total {
  input: number;
  output: number;
  read: number;
  write: number;
}

/** Output tokens of messages, as sums since the session's start. */
export interface TotalsState {
  said: number;
  /** Where the last total began, and where the last shutdown was. */
  base: number;
  shut: number;
  /** Compactions of the run. */
  points: number[];
  before?: Total | undefined;
}

export const newTotals = (): TotalsState => ({ said: 0, base: 0, shut: 0, points: [] });

export function compacted(state: TotalsState): void {
  state.points = [...state.points, state.said].slice(-POINTS);
}

/** What a new total adds, and output that no total counts: of messages before the one began. */
export function addTotal(state: TotalsState, now: Total): { run: Total; lost: number } {
  const { said, before } = state;
  const ways = [
    ...(before && !isBelow(now, before) ? [{ from: state.base, known: before }] : []),
    ...[...(before ? [state.shut] : [state.base]), ...state.points].map((from) => ({ from, known: ZERO })),
  ];
  const far = ({ from }: { from: number }) => Math.abs(said - from - now.output);
  const way = ways.reduce((best, one) => (far(one) < far(best) ? one : best));
  const lost = Math.max(0, way.from - state.shut);
  Object.assign(state, { base: way.from, shut: said, points: [], before: now } satisfies Partial<TotalsState>);
  return { run: minus(now, way.known), lost };
}

const ZERO: Total = { input: 0, output: 0, read: 0, write: 0 };

const isBelow = (now: Total, before: Total): boolean => now.input < before.input || now.output < before.output;

const minus = (now: Total, known: Total): Total => ({
  input: now.input - known.input,
  output: now.output - known.output,
  read: Math.max(0, now.read - known.read),
  write: Math.max(0, now.write - known.write),
});
