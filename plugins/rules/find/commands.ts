/** Commands of a project that fail whenever they are run, and what is run instead. */
import { toKey, toPattern } from "../read/differ.ts";
import { isEvasion, toHead } from "../read/shell.ts";
import type { Run, Slip } from "../read/slips.ts";
import type { Finding } from "./finding.ts";

export interface SessionRuns {
  session: string;
  slips: readonly Slip[];
  runs: readonly Run[];
}

/** How often it must have happened, and in how many sessions. */
const TIMES = 5;
const SESSIONS = 2;
/** Of the runs of the command that fails, at most so many may have worked: else it fails for a reason in the code. */
const WORKED = 0.2;
const LONGEST = 200;

type Found = Slip & { session: string };

/** The most frequent first. */
export function findCommands(sessions: readonly SessionRuns[]): Finding[] {
  const groups = new Map<string, Found[]>();
  for (const { session, slips } of sessions)
    for (const slip of slips) {
      const key = toKey(slip.failed, slip);
      groups.set(key, [...(groups.get(key) ?? []), { ...slip, session }]);
    }
  return [...groups]
    .filter(([, slips]) => slips.length >= TIMES && new Set(slips.map(({ session }) => session)).size >= SESSIONS)
    .filter(([, slips]) => isWay(slips) && !worksElsewhere(slips, sessions))
    .sort(([, a], [, b]) => b.length - a.length)
    .flatMap(([key, slips]) => toFinding(key, slips) ?? []);
}

/** The other command is another way to the same, not another check, and it goes around nothing. */
function isWay(slips: readonly Found[]): boolean {
  const [first] = slips;
  if (!first || isEvasion(first.added) || isEvasion(first.worked.filter((word) => !first.failed.includes(word))))
    return false;
  const hasFlag = first.removed.length === 0 && first.added.some((word) => word.startsWith("-"));
  const wrong = slips.filter(({ isWrongCall }) => isWrongCall).length;
  return first.program || hasFlag || wrong * 2 > slips.length;
}

/** Whether the command that fails has worked since it first failed. */
function worksElsewhere(slips: readonly Found[], sessions: readonly SessionRuns[]): boolean {
  const since = slips.reduce((first, { at }) => (String(at) < first ? String(at) : first), "9");
  const [first] = slips;
  const heads = new Set(slips.map(({ failed }) => failed.join(" ")));
  let worked = 0;
  let failed = 0;
  for (const { runs } of sessions)
    for (const { at, words, ok } of runs) {
      if (String(at) < since || !isLike(words, heads, first)) continue;
      if (ok) worked++;
      else failed++;
    }
  return worked > WORKED * (worked + failed);
}

/** The same command, whatever its arguments, without what makes it work. */
function isLike(words: readonly string[], lines: ReadonlySet<string>, slip: Found | undefined): boolean {
  if (lines.has(words.join(" "))) return true;
  if (!slip || slip.added.every((word) => words.includes(word))) return false;
  const head = slip.failed.slice(0, 2);
  return head.every((word, i) => words[i] === word);
}

function toFinding(key: string, slips: readonly Found[]): Finding | undefined {
  const fails = toPattern(slips.map(({ failed }) => failed));
  const works = toPattern(slips.map(({ worked }) => worked));
  const [first] = slips;
  if (!first) return undefined;
  const [wrong, right] =
    fails !== undefined && works !== undefined ? [fails, works] : [first.removed.join(" "), first.added.join(" ")];
  if (wrong === "" || right === "" || /[`\p{C}]/u.test(`${wrong}${right}`)) return undefined;
  const line = `Run \`${right}\`, not \`${wrong}\`, which fails here.`;
  if (line.length > LONGEST) return undefined;
  const evidence = slips.map(({ session, seq, at, failed, worked, tokens }) => ({
    ...{ session, seq, at, tokens },
    text: `${failed.join(" ")} → ${worked.join(" ")}`,
  }));
  const heads = [...new Set(slips.map(({ failed }) => toHead(failed)))];
  return { kind: "command", key, line, evidence, mistake: { heads, added: [...first.added] } };
}
