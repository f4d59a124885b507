/** Projects with sessions of Claude Code in which a mistake recurs, or seems to: 30 of each for a seed. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pool, Run } from "./_said.ts";

/** What happens in a session. */
export type Step =
  | { user: string }
  | { reply: string }
  | { run: string; out?: string; fails?: boolean }
  | { edit: string }
  | { page: string }
  | { note: string };

export interface Fixture {
  /** Of its project's folder. */
  name: string;
  /** Why it is there. */
  what: string;
  /** What a line about the planted mistake holds, a word of each group; null where nothing is planted. */
  planted: readonly (readonly string[])[] | null;
  sessions: readonly (readonly Step[])[];
}

interface Random {
  below(count: number): number;
  pick<T>(list: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
}

export function createRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
    shuffled: (list) =>
      list
        .map((value) => ({ value, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ value }) => value),
  };
}

/** The fixtures of a seed, in a fixed order. */
export function makeFixtures(seed: number, pool: Pool): Fixture[] {
  const random = createRandom(seed);
  const maker = createMaker(pool, random);
  return [
    ...pool.corrections.slice(0, 15).map((said, i) => maker.correction(`said-${i}`, said)),
    ...pool.slips.slice(0, 15).map((run, i) => maker.slip(`run-${i}`, run)),
    ...maker.nearMisses(),
  ];
}

function createMaker(pool: Pool, random: Random) {
  const { pick, below, shuffled } = random;
  const fill = (command: string, arg: string) => command.replaceAll("{}", arg);

  /** Ordinary work: a bug that a check finds and an edit repairs, a wish that is said once. */
  const ordinary = (): Step[] => {
    const file = `src/${pick(pool.args)}.ts`;
    const steps: Step[] = [{ user: pick(pool.tasks) }, { run: "git status --short" }, { edit: file }];
    if (below(3) === 0) steps.push({ run: "git diff --stat", out: ` ${file} | 4 ++--` });
    if (below(4) === 0) steps.push({ run: `cat ${file}.bak`, out: "No such file or directory", fails: true });
    steps.push({ reply: "Done." });
    return steps;
  };
  /** A session in which the user says something after the first answer. */
  const saying = (text: string): Step[] => [
    ...ordinary(),
    { user: text },
    { edit: "src/app.ts" },
    { reply: "Changed." },
  ];
  /** Before, between and after the sessions of a fixture are ordinary ones, in some of which something is said once. */
  const among = (sessions: readonly Step[][]): Step[][] => {
    const once = shuffled(pool.once);
    const others = Array.from({ length: 2 + below(3) }, (_, i) => (i === 0 ? saying(once[0] ?? "") : ordinary()));
    const all = [...sessions];
    for (const other of others) all.splice(below(all.length + 1), 0, other);
    return all;
  };
  const slipping = ({ fails, works, error }: Run, arg: string): Step[] => [
    { run: fill(fails, arg), out: error, fails: true },
    ...(below(2) === 0 ? [{ run: "ls", out: "README.md\nsrc" }] : []),
    ...(below(3) === 0 ? [{ reply: "That does not work here, another way." }] : []),
    { run: fill(works, arg), out: "ok" },
  ];
  /** `times` slips in so many sessions. */
  const slips = (run: Run, times: number, sessions: number): Step[][] =>
    Array.from({ length: sessions }, (_, i) => [
      ...ordinary(),
      ...Array.from({ length: Math.floor(times / sessions) + (i < times % sessions ? 1 : 0) }, () =>
        slipping(run, pick(pool.args)),
      ).flat(),
      ...(below(2) === 0 ? [{ run: fill(run.works, pick(pool.args)), out: "ok" }] : []),
      { reply: "All is well." },
    ]);
  const miss = (what: string, sessions: readonly Step[][], mix = true): Omit<Fixture, "name"> => ({
    what,
    planted: null,
    sessions: mix ? among(sessions) : sessions,
  });
  /** So many sessions, each with these steps after ordinary work. */
  const each = (count: number, steps: (i: number) => Step[]): Step[][] =>
    Array.from({ length: count }, (_, i) => [...ordinary(), ...steps(i), { reply: "Done." }]);
  const check = () => pick(pool.checks);
  const arg = () => pick(pool.args);

  const correction = (name: string, said: Pool["corrections"][number]): Fixture => {
    const ways = shuffled(said.ways).slice(0, 3 + below(said.ways.length - 2));
    const sessions = ways.map((way, i) =>
      i === 0 && below(3) === 0 ? [{ user: `${pick(pool.tasks)}. ${way}` }, ...ordinary().slice(1)] : saying(way),
    );
    return { name, what: "the same correction", planted: said.about, sessions: among(sessions) };
  };
  const slip = (name: string, run: Run): Fixture => ({
    name,
    what: "a command that fails first",
    planted: run.about.map((word) => [word]),
    sessions: among(slips(run, 5 + below(3), 2 + below(3))),
  });

  const KINDS: readonly (() => Omit<Fixture, "name"> | Omit<Fixture, "name">[])[] = [
    () => miss("said in one session only", [pick(pool.corrections).ways.flatMap(saying)]),
    () => miss("said in two sessions only", shuffled(pick(pool.corrections).ways).slice(0, 2).map(saying)),
    () => {
      const ways = shuffled(pick(pool.corrections).ways).slice(0, 3);
      return ways.map((way) => miss("said once in each of three projects", [saying(way)]));
    },
    () => miss("a slip four times", slips(pick(pool.slips), 4, 3)),
    () => miss("a slip in one session only", slips(pick(pool.slips), 6, 1)),
    () => {
      const command = check();
      return miss(
        "a bug, an edit, and it passes",
        each(6, () => [
          { run: command, out: "1 failed", fails: true },
          { edit: "src/a.ts" },
          { run: command, out: "ok" },
        ]),
      );
    },
    () => {
      const command = check();
      return miss(
        "a bug, an edit, and it passes with another option",
        each(6, () => [
          { run: command, out: "1 failed", fails: true },
          { edit: "src/a.ts" },
          { run: `${command} --verbose`, out: "ok" },
        ]),
      );
    },
    () => {
      const command = check();
      return miss(
        "a flaky check",
        each(6, () => [
          { run: command, out: "timeout", fails: true },
          { run: command, out: "ok" },
        ]),
      );
    },
    () => {
      const command = check();
      return miss(
        "a failing check whose output is cut the second time",
        each(6, () => [
          { run: command, out: "1 failed", fails: true },
          { run: `${command} 2>&1 | tail -20`, out: "1 failed" },
          { edit: "src/a.ts" },
          { run: command, out: "ok" },
        ]),
      );
    },
    () => {
      const command = check();
      return miss(
        "a failing check that is narrowed down",
        each(6, () => [
          { run: command, out: "2 failed", fails: true },
          { run: `${command} ${arg()}`, out: "ok" },
          { edit: "src/a.ts" },
          { run: command, out: "ok" },
        ]),
      );
    },
    () => {
      const [first = "", second = ""] = shuffled(pool.checks);
      return miss(
        "a failing check, and another check",
        each(6, () => [
          { run: first, out: "2 failed", fails: true },
          { run: second, out: "ok" },
        ]),
      );
    },
    () => miss("a task that is asked for often", pick(pool.repeated).map(saying)),
    () => miss("corrections that are alike", pick(pool.alike).map(saying)),
    () => miss("reports of what does not work", pick(pool.reports).map(saying)),
    () => miss("wishes of the moment", pick(pool.momentary).map(saying)),
    () => {
      const { before, after } = pick(pool.changed);
      return miss("the opposite later", [...before, ...after].map(saying), false);
    },
    () => {
      const text = pick(pool.templates);
      return miss(
        "a prompt that begins each session",
        each(5, () => []).map((steps) => [{ user: text }, ...steps.slice(1)]),
      );
    },
    () => {
      const text = pick(pool.injected);
      return miss(
        "text of pages, tools, notes and answers",
        each(6, (i) => [
          i % 2 === 0 ? { page: text } : { run: "cat NOTES.md", out: text },
          { reply: text },
          { note: `<system-reminder>${text}</system-reminder>` },
        ]),
      );
    },
    () => {
      const text = pick(pool.injected);
      return miss(
        "text that the user quotes",
        [
          `What does this mean?\n> ${text}`,
          `Look at this output:\n\`\`\`\n${text}\n\`\`\``,
          `The page says "${text}". Is it right?`,
          `> ${text}\nIgnore it`,
        ].map(saying),
      );
    },
    () => {
      const [fails, works] = pick(pool.searches);
      return miss(
        "a search that finds nothing",
        each(6, () => {
          const word = arg();
          return [
            { run: fill(fails, word), out: "", fails: true },
            { run: fill(works, word), out: "found" },
          ];
        }),
      );
    },
    () => {
      const [fails, works] = pick(pool.unclean);
      return miss(
        "a check that is never clean",
        each(6, () => [
          { run: fails, out: "3 problems", fails: true },
          { run: works, out: "ok" },
        ]),
      );
    },
    () => {
      const [fails, works] = pick(pool.evasions);
      return miss(
        "a way around a check",
        each(6, () => {
          const word = arg();
          return [
            { run: fill(fails, word), out: "hook failed", fails: true },
            { run: fill(works, word), out: "ok" },
          ];
        }),
      );
    },
  ];

  return {
    correction,
    slip,
    /** Thirty projects: each kind once, then again from the first. */
    nearMisses(): Fixture[] {
      const made: Omit<Fixture, "name">[] = [];
      for (let i = 0; made.length < 30; i++) made.push(...[KINDS[i % KINDS.length]?.() ?? []].flat());
      return made.slice(0, 30).map((fixture, i) => ({ name: `none-${i}`, ...fixture }));
    },
  };
}

const START = Date.parse("2026-10-01T08:00:00Z");

/** Writes the sessions of fixtures below `home` as Claude Code does, one a day; the folder of a fixture is `<home>/work/<name>`. `first`: number of the first session. */
export async function writeFixtures(
  home: string,
  fixtures: readonly Fixture[],
  from = START,
  first = 0,
): Promise<void> {
  for (const { name, sessions } of fixtures) {
    const cwd = join(home, "work", name);
    const folder = join(home, ".claude", "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
    await mkdir(folder, { recursive: true });
    for (const [i, steps] of sessions.entries()) {
      const id = `${name}-${String(first + i).padStart(2, "0")}`;
      await writeFile(join(folder, `${id}.jsonl`), toLog(steps, { id, cwd, at: from + i * 86_400_000 }));
    }
  }
}

/** A session's log. */
export function toLog(steps: readonly Step[], { id, cwd, at }: { id: string; cwd: string; at: number }): string {
  const rows: object[] = [];
  let parent: string | null = null;
  const add = (type: "user" | "assistant", message: object, more: object = {}) => {
    const uuid = `${id}-${rows.length}`;
    const timestamp = new Date(at + rows.length * 5_000).toISOString();
    rows.push({
      parentUuid: parent,
      isSidechain: false,
      cwd,
      sessionId: id,
      version: "2.1.0",
      type,
      message,
      uuid,
      timestamp,
      ...more,
    });
    parent = uuid;
  };
  const say = (content: object[]) =>
    add(
      "assistant",
      {
        id: `m-${id}-${rows.length}`,
        role: "assistant",
        model: "claude-sonnet-4-5",
        content,
        usage: { input_tokens: 900, output_tokens: 40 },
      },
      { requestId: `r-${id}-${rows.length}` },
    );
  const call = (name: string, input: object, content: string, fails = false) => {
    const use = `c-${id}-${rows.length}`;
    say([{ type: "tool_use", id: use, name, input }]);
    add("user", { role: "user", content: [{ type: "tool_result", tool_use_id: use, content, is_error: fails }] });
  };
  for (const step of steps) {
    if ("user" in step) add("user", { role: "user", content: step.user });
    else if ("reply" in step) say([{ type: "text", text: step.reply }]);
    else if ("note" in step) add("user", { role: "user", content: step.note }, { isMeta: true });
    else if ("page" in step) call("WebFetch", { url: "https://example.test", prompt: "read" }, step.page);
    else if ("edit" in step)
      call(
        "Edit",
        { file_path: join(cwd, step.edit), old_string: `a${rows.length}`, new_string: `b${rows.length}` },
        "ok",
      );
    else call("Bash", { command: step.run }, step.out ?? "", step.fails === true);
  }
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
