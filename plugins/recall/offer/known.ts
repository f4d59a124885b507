/** What is known of commands and files: what made a failing command work, why a file was changed last. */
import type { Fact } from "../facts/contract.ts";
import { type OfferLine, quote, sourceOf, toLine } from "./line.ts";

type Keyed = [key: string, line: OfferLine][];

/** A statement about more files says little of each. */
const MOST_FILES = 4;
const MOST_LINES = 200;

const keyOf = (session: string, seq: number) => `${session}#${seq}`;

/**
 * By normalized command, newest first. A failure that was fixed by a change of files, once, is over: it is left out. What is said is what must be
 * done again: commands that were run before it, another way to run it, or a failure that came in two sessions.
 */
export function commandLines(facts: readonly Fact[]): Keyed {
  const fixes = new Map(
    facts.flatMap((fact) => (fact.kind === "fixed" ? [[keyOf(fact.session, fact.seq), fact]] : [])),
  );
  const failures = new Map<string, Fact[]>();
  for (const fact of facts)
    if (fact.kind === "failed" && fact.subject !== "")
      failures.set(fact.subject, [...(failures.get(fact.subject) ?? []), fact]);
  const lines: Keyed = [];
  for (const [subject, list] of failures) {
    const sessions = new Set(list.map(({ session }) => session)).size;
    for (const fact of list) {
      const fix = fact.other === null ? undefined : fixes.get(keyOf(fact.session, fact.other));
      const line = fix && fixLine(fact, fix, sessions > 1);
      if (!line) continue;
      lines.push([subject, line]);
      break;
    }
    if (lines.length === MOST_LINES) break;
  }
  return lines;
}

function fixLine(failed: Fact, fix: Fact, recurs: boolean): OfferLine | undefined {
  const isOther = fix.subject !== failed.subject;
  const how = [
    ...(fix.text === "" ? [] : [`after ${quote(fix.text)}`]),
    ...(isOther ? [`as ${quote(fix.command, 160)}`] : []),
    ...(recurs && fix.files.length > 0
      ? [
          `after changes of ${fix.files
            .slice(0, 3)
            .map((file) => quote(file, 120))
            .join(", ")}`,
        ]
      : []),
  ];
  if (how.length === 0 || (fix.text === "" && fix.files.length > 0 && !recurs)) return undefined;
  const why = failed.text === "" ? "" : ` with ${quote(failed.text)}`;
  const names = [...fix.text.split("; "), ...(isOther ? [fix.subject] : []), ...fix.files].filter(
    (name) => name !== "",
  );
  return toLine(sourceOf(fix), `${quote(failed.command, 160)} failed${why}; it worked ${how.join(" and ")}.`, names);
}

/** By `toKey` of the path, newest first; a correction only where neither a decision nor a fix says why. */
export function fileLines(facts: readonly Fact[], toKey: (path: string, session: string) => string | undefined): Keyed {
  const failures = new Map(
    facts.flatMap((fact) => (fact.kind === "failed" ? [[keyOf(fact.session, fact.seq), fact]] : [])),
  );
  const reasons = facts.filter(({ kind }) => kind === "decided" || kind === "fixed");
  const lines = new Map<string, OfferLine>();
  for (const fact of [...reasons, ...facts.filter(({ kind }) => kind === "corrected")]) {
    const why = fact.files.length <= MOST_FILES ? reasonOf(fact, failures) : undefined;
    if (why === undefined) continue;
    for (const path of fact.files) {
      const key = toKey(path, fact.session);
      if (key === undefined || lines.has(key) || lines.size === MOST_LINES) continue;
      const others = fact.files.filter((file) => file !== path);
      lines.set(key, toLine(sourceOf(fact), `${quote(key, 160)} was changed last ${why}.`, others));
    }
  }
  return [...lines];
}

function reasonOf(fact: Fact, failures: ReadonlyMap<string, Fact>): string | undefined {
  if (fact.kind === "decided") return `with this decision: ${quote(fact.text)}`;
  if (fact.kind === "corrected") return `before the user corrected: ${quote(fact.text)}`;
  const failed = fact.other === null ? undefined : failures.get(keyOf(fact.session, fact.other));
  if (!failed || failed.text === "") return undefined;
  return `so that ${quote(fact.command, 120)} no longer failed with ${quote(failed.text)}`;
}
