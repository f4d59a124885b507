/** What is said at a session's start: what is open, which test fails, what was corrected in two sessions. One line each. */
import type { Fact } from "../facts/contract.ts";
import { type OfferLine, quote, sourceOf, toLine } from "./line.ts";
import type { Outcome } from "./outcomes.ts";

export interface RecentSession {
  id: string;
  title: string;
  /** ms */
  at: number;
}

/** A session with its end: the first open tasks, and how many there are. */
export interface EndedSession extends RecentSession {
  todos: readonly string[];
  more: number;
  last: Outcome["last"];
}

const TEST =
  /\b(?:tests?|spec|vitest|jest|pytest|mocha|ava|phpunit|rspec|playwright|cypress|ctest|nextest|unittest|tox)\b/i;

/** `facts`: newest first, of two weeks. `sessions`: the last of the project, newest first. */
export function startLines(facts: readonly Fact[], sessions: readonly EndedSession[]): OfferLine[] {
  const failing = facts.filter(
    (fact) => fact.kind === "failed" && fact.family !== "" && stillFails(fact, facts, sessions),
  );
  const test = failing.find(({ family, subject }) => TEST.test(family) || TEST.test(subject));
  const other = failing.find((fact) => fact !== test && !TEST.test(fact.family) && !TEST.test(fact.subject));
  const lines = [openThread(sessions) ?? (other && failingLine(other)), test && failingLine(test), corrected(facts)];
  return lines.filter((one) => one !== undefined);
}

function openThread(sessions: readonly EndedSession[]): OfferLine | undefined {
  const one = sessions.find(({ todos }) => todos.length > 0);
  if (!one) return undefined;
  const more = one.more > one.todos.length ? ` and ${one.more - one.todos.length} more` : "";
  const tasks = `${one.todos.map((todo) => quote(todo, 120)).join(", ")}${more}`;
  return toLine({ session: one.id, seq: null, at: one.at }, `tasks of ${quote(one.title, 80)} are open: ${tasks}.`, []);
}

function failingLine(fact: Fact): OfferLine {
  const { command, subject, text, files } = fact;
  const why = text === "" ? "" : `: ${quote(text)}`;
  return toLine(sourceOf(fact), `${quote(command, 160)} failed when it was run last${why}.`, [subject, ...files]);
}

/** No run of the same family worked since. */
function stillFails(fact: Fact, facts: readonly Fact[], sessions: readonly EndedSession[]): boolean {
  if (fact.other !== null) return false;
  const at = fact.at ?? "";
  if (facts.some((one) => one.kind === "fixed" && one.family === fact.family && (one.at ?? "") > at)) return false;
  const own = sessions.findIndex(({ id }) => id === fact.session);
  // Whether it worked in later sessions is known of those that were read.
  if (own < 0) return false;
  return sessions.slice(0, own + 1).every(({ last }) => last.get(fact.family) !== "worked");
}

/** Share of words that two corrections have in common. */
const ALIKE = 0.5;

/** The newest correction that came in two sessions or more. */
function corrected(facts: readonly Fact[]): OfferLine | undefined {
  const all = facts.flatMap((fact) => (fact.kind === "corrected" ? [{ fact, words: toWords(fact.text) }] : []));
  for (const { fact, words } of all) {
    if (words.size < 2) continue;
    const alike = all.filter((one) => share(words, one.words) >= ALIKE);
    const count = new Set(alike.map(({ fact: { session } }) => session)).size;
    if (count < 2) continue;
    const { text } = fact;
    return toLine(sourceOf(fact), `the user corrected this in ${count} sessions: ${quote(text)}.`, namesIn(text));
  }
  return undefined;
}

const COMMON = new Set(
  "the and for you not that this with use using don are was have has but please again i it to a of in is on no do never always stop said told we instead".split(
    " ",
  ),
);

const toWords = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}_.@/-]+/u)
      .map((word) => word.replace(/^[./-]+|[./-]+$/g, ""))
      .filter((word) => word.length > 1 && !COMMON.has(word)),
  );

function share(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = [...a].filter((word) => b.has(word)).length;
  return both / Math.max(1, a.size + b.size - both);
}

/** Paths and words in code quotes. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/[`'"]([\w@./ -]{2,60})[`'"]|\b([\w-]+(?:\/[\w.-]+)+|[\w-]+\.[a-z]{1,4})\b/g)]
    .map(([, quoted, path]) => quoted ?? path ?? "")
    .filter((name) => name !== "")
    .slice(0, 4);
