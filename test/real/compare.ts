/** The ledger against what sessarc says. Pure. */
import type { Entry, Tokens } from "./model/script.ts";
import type { Told } from "./read.ts";
import type { Expected } from "./scenarios.ts";

export interface Verdict {
  /** What differs: nothing may be here. */
  wrong: string[];
  /** What no log holds, named. */
  unlogged: string[];
}

/** `reason`: why no log holds what a request spent. */
export function compare(
  ledger: readonly Entry[],
  told: Told,
  expected: Expected,
  reason: (entry: Entry) => string | undefined,
): Verdict {
  const wrong: string[] = [];
  const differs = (what: string, want: unknown, got: unknown) => {
    const [a, b] = [JSON.stringify(want), JSON.stringify(got)];
    if (a !== b) wrong.push(`${what}: ${b} instead of ${a}`);
  };
  const spent = ledger.filter(({ status }) => status === 200);
  const excused = spent.flatMap((entry) => {
    const why = reason(entry) ?? (entry.finished ? undefined : "a reply that was cut off");
    return why === undefined ? [] : [{ entry, why }];
  });
  // What need not be in a log may be there all the same: what is missing decides.
  const missing = toGap(excused, sum(spent).input - told.tokens.input);
  const rest = sum(spent.filter((entry) => !missing.some((one) => one.entry === entry)));
  differs("tokens", counted(rest), counted(told.tokens));
  const made = spent.filter(({ finished }) => finished).flatMap(({ calls }) => calls);
  const unlogged = missing.map(({ entry, why }) => `${why} (${entry.tokens.input} in, ${entry.tokens.output} out)`);
  const inside = without(
    made.flatMap(({ nested = [] }) => nested),
    told.calls,
  );
  // A call that fails inside a script ends the script and leaves no record of its own.
  const lost = inside.length <= expected.failures ? inside : [];
  unlogged.push(...lost.map((name) => `the failed call ${name} inside a script`));
  const all = made.flatMap(({ name, nested = [] }) => [name, ...nested]);
  differs("calls", without(all, lost).sort(), [...told.calls].sort());
  // A tool that is killed may not have written down the last result yet.
  const unwritten = Math.min(told.open, expected.unwritten ?? 0);
  if (unwritten > 0) unlogged.push("the result of the last call, not written when it was killed");
  differs("calls without a result", 0, told.open - unwritten);
  differs("failures", expected.failures, told.failures);
  differs("sessions", expected.sessions, told.sessions);
  differs("prompts", [...expected.prompts].sort(), [...told.prompts].sort());
  differs("files changed", [...expected.changed].sort(), [...new Set(told.changed)].sort());
  differs("files changed for a cause", [...expected.changed].sort(), [...new Set(told.caused)].sort());
  differs("unread", [], told.unread);
  return { wrong, unlogged };
}

/** `names` less one for each that is in `taken`. */
function without(names: readonly string[], taken: readonly string[]): string[] {
  const left = [...taken];
  return names.filter((name) => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Those of `entries` whose inputs make up the gap; all of them when none do. Figures of replies differ, so that the sum tells. */
function toGap<T extends { entry: Entry }>(entries: readonly T[], gap: number): readonly T[] {
  for (let bits = 0; bits < 2 ** Math.min(entries.length, 12); bits++) {
    const some = entries.filter((_, index) => bits & (1 << index));
    if (some.reduce((total, { entry }) => total + entry.tokens.input, 0) === gap) return some;
  }
  return entries;
}

const counted = ({ input, output, cacheRead, cacheWrite }: Tokens) => ({ input, output, cacheRead, cacheWrite });

function sum(entries: readonly Entry[]): Tokens {
  const total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  for (const { tokens } of entries) {
    for (const kind of Object.keys(total) as (keyof Tokens)[]) total[kind] += tokens[kind];
  }
  return total;
}
