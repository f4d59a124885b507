/** An archive that tells stories among everyday sessions, and the questions about it with the messages that answer them. Equal for equal seeds. */
import type { TestSession, Turn } from "../logs.ts";
import { HELD_OUT, type Story, TUNED, UNKNOWN } from "./stories.ts";

export interface Question {
  text: string;
  kind: "one" | "several" | "none";
  story: string;
  /** Sessions that hold the answer, with the messages of it: [from, to). */
  answers: { n: number; from: number; to: number }[];
}

interface Named {
  thing: string;
  camel: string;
  Camel: string;
  file: string;
  word: string;
}

const DOMAINS =
  "invoice shipment payroll catalog ticket inventory booking coupon survey ledger playlist recipe weather fleet tenant course".split(
    " ",
  );
const ROLES = "exporter scheduler importer gateway renderer planner notifier resolver collector dispatcher".split(" ");
const WORDS =
  "zodiac lantern hazelnut quokka marzipan sprocket tundra falafel obsidian gecko walnut cobalt pelican saffron tangram bonsai".split(
    " ",
  );
const PROJECTS = ["/w/shop", "/w/desk", "/w/lab"];

/** What fills the days: the same things and words, without an answer. */
const EVERYDAY: readonly (readonly string[])[] = [
  ["u Add a button to the page of the {thing}", "e {file}", "a The button is on the page; the tests pass."],
  [
    "u What does {Camel} do?",
    "a It takes the rows of the last day and hands them to the next step. {file} has the entry point.",
  ],
  [
    "u Write a test for the {thing}",
    "e test/{camel}.test.ts",
    "$ npx vitest run test/{camel}.test.ts",
    "a There are {n} tests for the {thing} now.",
  ],
  ["u Update the readme of the {thing}", "e README.md", "a The readme names the options and the errors."],
  ["u commit this", "$ git add -A && git commit -m 'feat: {thing}'", "a Committed."],
  ["u Bump the version to 1.{n}.0", "e package.json", "$ npm test", "a The version is 1.{n}.0."],
  [
    "u Show me where the {thing} is called",
    "$ rg -n {Camel} src",
    "a It is called in {n} places, most of them in the server.",
  ],
  [
    "u Move the helpers of the {thing} into a folder",
    "e {file}",
    "$ npx tsc --noEmit",
    "a The helpers are in one folder and the types are right.",
  ],
  ["u The text of the {thing} has a typo", "e {file}", "a The typo is gone."],
  ["u Log how long the {thing} takes", "e {file}", "a The time is in the log, {n} ms in the test."],
  ["u Is the {thing} used by the app?", "a Yes, the app opens it after the user signs in."],
  ["u Sort the list of the {thing} by name", "e {file}", "$ npm test", "a The list is sorted by name."],
];

/** mulberry32 */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  const pick = <T>(list: readonly T[]): T => {
    const one = list[below(list.length)];
    if (one === undefined) throw new Error("Nothing to pick from");
    return one;
  };
  return { below, pick };
}
type Random = ReturnType<typeof createRandom>;

function toNamed(domain: string, role: string, word: string): Named {
  const Role = role.charAt(0).toUpperCase() + role.slice(1);
  const camel = `${domain}${Role}`;
  return {
    thing: `${domain} ${role}`,
    camel,
    Camel: camel.charAt(0).toUpperCase() + camel.slice(1),
    file: `src/${domain}/${domain}-${role}.ts`,
    word,
  };
}

const fill = (text: string, name: Named, n: number): string =>
  text.replaceAll("{n}", String(n)).replace(/\{(thing|camel|Camel|file|word)\}/g, (_, key: keyof Named) => name[key]);

function toTurns(lines: readonly string[], name: Named, n: number): Turn[] {
  return lines.map((raw, i): Turn => {
    const line = fill(raw.slice(2), name, n);
    if (raw.startsWith("u ")) return { user: line };
    if (raw.startsWith("a ")) return { says: line };
    if (raw.startsWith("e ")) {
      const edit = { file_path: line, old_string: `old ${i}`, new_string: `new ${i}` };
      return { call: "Edit", input: edit, result: "The file has been updated." };
    }
    const [command = "", output = "ok"] = line.split(" => ");
    const failed = raw.startsWith("! ");
    return { call: "Bash", input: { command }, result: failed ? `Exit code 1\n${output}` : output, failed };
  });
}

/** Messages of turns: a call has two. */
const lengthOf = (turns: readonly Turn[]) => turns.reduce((sum, turn) => sum + ("call" in turn ? 2 : 1), 0);

export interface Asked {
  sessions: TestSession[];
  questions: Question[];
}

/**
 * `count` questions: 60 % of one session, 20 % of several, 20 % of none, and four everyday sessions for each. `around`: fewer than so many everyday
 * tasks precede a story in its session, and follow it.
 */
export function makeQuestions(stories: readonly Story[], seed: number, count: number, around = 3): Asked {
  const random = createRandom(seed);
  const names = DOMAINS.flatMap((domain) => ROLES.map((role) => [domain, role] as const)).map(([domain, role], i) =>
    toNamed(domain, role, `${WORDS[i % WORDS.length]}-${role}-${domain}`.slice(0, 40)),
  );
  const sessions: TestSession[] = [];
  const told: { story: Story; name: Named; n: number; from: number; to: number }[] = [];
  const day = 86_400_000;
  const start = Date.parse("2026-06-01T09:00:00Z");
  const at = () => new Date(start + random.below(170) * day + random.below(28_800) * 1_000).toISOString();
  const everyday = (some: Random): Turn[] => toTurns(some.pick(EVERYDAY), some.pick(names), 2 + some.below(90));
  const tell = (story: Story, name: Named) => {
    const before = Array.from({ length: random.below(around) }, () => everyday(random)).flat();
    const own = toTurns(story.lines, name, 2 + random.below(90));
    const after = Array.from({ length: random.below(around) }, () => everyday(random)).flat();
    const from = lengthOf(before);
    const n = sessions.length + 1;
    sessions.push({ n, turns: [...before, ...own, ...after], cwd: random.pick(PROJECTS), at: at() });
    told.push({ story, name, n, from, to: from + lengthOf(own) });
  };
  const used = new Set<string>();
  const fresh = (story: Story): Named => {
    for (;;) {
      const name = random.pick(names);
      if (!used.has(`${story.id} ${name.camel}`)) {
        used.add(`${story.id} ${name.camel}`);
        return name;
      }
    }
  };
  const wanted: { story: Story; name: Named; text: string; kind: "one" | "several" }[] = [];
  const ask = (kind: "one" | "several", i: number) => {
    const story = stories[i % stories.length] ?? random.pick(stories);
    const name = fresh(story);
    tell(story, name);
    if (kind === "several") tell(story, name);
    wanted.push({ story, name, kind, text: random.pick(story.questions) });
  };
  const one = Math.round(count * 0.6);
  const several = Math.round(count * 0.2);
  for (let i = 0; i < one; i++) ask("one", i);
  for (let i = 0; i < several; i++) ask("several", i * 7);
  for (let i = 0; i < count * 4; i++) {
    const turns = Array.from({ length: 1 + random.below(5) }, () => everyday(random)).flat();
    sessions.push({ n: sessions.length + 1, turns, cwd: random.pick(PROJECTS), at: at() });
  }
  const questions = wanted.map(({ story, name, text, kind }): Question => {
    const isNamed = /\{(?!n\})/.test(text);
    const holds = told.filter((one) => one.story === story && (!isNamed || one.name === name));
    return {
      text: fill(text, name, 0),
      kind: holds.length === 1 ? "one" : kind,
      story: story.id,
      answers: holds.map(({ n, from, to }) => ({ n, from, to })),
    };
  });
  for (let i = 0; i < count - one - several; i++) {
    const text = fill(UNKNOWN[i % UNKNOWN.length] ?? "", random.pick(names), 0);
    questions.push({ text, kind: "none", story: "none", answers: [] });
  }
  return { sessions, questions };
}

export const tuned = (seed: number, count: number, around?: number): Asked => makeQuestions(TUNED, seed, count, around);
export const heldOut = (seed: number, count: number, around?: number): Asked =>
  makeQuestions(HELD_OUT, seed, count, around);
