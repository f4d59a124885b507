/**
 * A made-up project: sessions of six assistants and people work in one repository, which is squashed, rebased, renamed, formatted, merged
 * and reverted in between. The oracle notes who wrote each line. All follows from the seed.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claudeCode } from "../../plugins/demo/formats/claude-code.ts";
import { codex } from "../../plugins/demo/formats/codex.ts";
import { copilot } from "../../plugins/demo/formats/copilot.ts";
import { cursor } from "../../plugins/demo/formats/cursor.ts";
import { geminiCli } from "../../plugins/demo/formats/gemini-cli.ts";
import { openCode } from "../../plugins/demo/formats/opencode.ts";
import type { Call, Played, Turn } from "../../plugins/demo/play.ts";
import { createRandom, type Random } from "../../plugins/demo/random.ts";
import type { Action, Tool } from "../../plugins/demo/script.ts";
import { testEnv } from "../git/_repo.ts";

/** Who wrote a line: number of a session, or -1 for a person. */
export interface Line {
  text: string;
  who: number;
  /** Sessions that changed a piece of it. */
  also: readonly number[];
  /** As its writer left it. */
  intact: boolean;
}
type Files = Map<string, Line[]>;

export interface Commit {
  mark: number;
  parents: number[];
  author: string;
  authored: number;
  committed: number;
  message: string;
  files: Files;
  /** No session wrote anything since the commit before. */
  clean: boolean;
}

export interface World {
  root: string;
  /** Lines at HEAD. */
  files: Files;
  /** Ids without their assistant, by number. */
  sessions: { id: string; tool: Tool }[];
  commits: number;
  /** Subjects of commits that hold nothing of a session. */
  clean: ReadonlySet<string>;
}

const TOOLS: Tool[] = ["claude-code", "codex", "cursor", "opencode", "gemini-cli", "copilot"];
const MODELS: Record<Tool, string> = {
  "claude-code": "claude-opus-4-5-20251101",
  codex: "gpt-5.2-codex",
  cursor: "claude-4.5-sonnet",
  opencode: "claude-sonnet-4-5",
  "gemini-cli": "gemini-3-pro-preview",
  copilot: "gpt-5.2",
};
const NOUNS = "user order price item cart total row table field value entry token page cache stock limit".split(" ");
const VERBS = "read write load store parse merge sort filter count check apply build send fetch render".split(" ");
/** What everyone writes. */
const COMMON = [
  "return null;",
  "}",
  "});",
  "return result;",
  "if (!value) return undefined;",
  "const result = [];",
  "break;",
  "try {",
  "} catch (error) {",
  'import { join } from "node:path";',
  "",
  "default:",
  "i++;",
];
const START = 1_700_000_000;

/** `home`: where the logs go; `root`: where the repository goes. */
export async function makeWorld(seed: number, home: string, root: string): Promise<World> {
  const random = createRandom(`world ${seed}`);
  const chance = (percent: number) => random.between(1, 100) <= percent;
  const pick = <T>(list: readonly T[]): T => list[random.between(0, list.length - 1)] as T;
  const played: Played[] = [];
  const commits: Commit[] = [];
  let clock = START;
  const wait = (low = 60, high = 4_000) => {
    clock += random.between(low, high);
  };

  let clean = true;
  let work: Files = new Map();
  let head: Commit | undefined;
  let serial = 0;

  const copy = (files: Files): Files => new Map([...files].map(([path, lines]) => [path, [...lines]]));
  const text = (lines: readonly Line[]) => lines.map((line) => `${line.text}\n`).join("");
  const commit = (message: string, author = pick(["Ada", "Ben", "Cleo"]), more: Partial<Commit> = {}): Commit => {
    wait(5, 300);
    const made: Commit = {
      ...{ mark: commits.length + 1, parents: head ? [head.mark] : [], author, message },
      ...{ authored: clock, committed: clock, files: copy(work), clean },
      ...more,
    };
    clean = true;
    commits.push(made);
    head = made;
    return made;
  };

  const fresh = (): string => {
    const indent = "  ".repeat(random.between(0, 3));
    if (chance(30)) return pick(COMMON) && indent + pick(COMMON);
    const [verb, noun, other] = [pick(VERBS), pick(NOUNS), pick(NOUNS)];
    const name = `${noun}${random.between(1, 40)}`;
    return (
      indent +
      pick([
        `const ${name} = ${verb}(${other}, ${random.between(1, 99)});`,
        `export function ${verb}${noun[0]?.toUpperCase()}${noun.slice(1)}(${other}) {`,
        `if (${name} > ${other}.${verb}) throw new Error('${noun} ${verb} ${random.between(1, 99)}');`,
        `// ${verb} the ${noun} before the ${other} of step ${random.between(1, 99)}`,
        `${name}.${verb}(${other} => ${other}.${pick(NOUNS)});`,
      ])
    );
  };
  const block = (who: number, low = 2, high = 9): Line[] =>
    Array.from({ length: random.between(low, high) }, () => ({ text: fresh(), who, also: [], intact: true }));
  const anyFile = () => (work.size === 0 ? undefined : pick([...work.keys()].sort()));
  const newPath = () => `${pick(["src", "lib", "src/core"])}/${pick(NOUNS)}${serial++}.${pick(["ts", "js"])}`;

  /** A range of lines whose text occurs once in the file. */
  const uniqueRange = (lines: readonly Line[], most: number): [from: number, count: number] | undefined => {
    const whole = text(lines);
    for (let tries = 0; tries < 12; tries++) {
      const from = random.between(0, Math.max(0, lines.length - 1));
      const count = Math.min(random.between(1, most), lines.length - from);
      const part = text(lines.slice(from, from + count));
      if (
        part.trim() !== "" &&
        part.length > 4 &&
        whole.split(part).length === 2 &&
        `\n${whole}`.split(`\n${part}`).length === 2
      )
        return [from, count];
    }
    return undefined;
  };

  /** One call of a session: changes the work tree and the oracle. */
  const change = (who: number): { action: Action; before: string; failed?: boolean } | undefined => {
    const path = chance(18) ? undefined : anyFile();
    if (path === undefined) {
      const made = newPath();
      const lines = block(who, 5, 25);
      work.set(made, lines);
      return { action: { do: "write", path: made, text: text(lines) }, before: "" };
    }
    const lines = work.get(path) ?? [];
    const before = text(lines);
    const range = uniqueRange(lines, 4);
    if (!range || lines.length < 3) return undefined;
    const [from, count] = range;
    const old = lines.slice(from, from + count);
    const kind = random.between(1, 100);
    if (kind <= 8)
      return {
        action: { do: "edit", path, from: `missing ${serial++}`, to: text(block(who)), fails: true },
        before,
        failed: true,
      };
    if (kind <= 18) {
      // A piece of one line.
      const [line] = old;
      const words = /[A-Za-z]{4,}\d*\(?[a-z]+/.exec(line?.text ?? "");
      if (!line || !words || before.split(words[0]).length !== 2) return undefined;
      const to = `${pick(VERBS)}${serial++}Of(${pick(NOUNS)}`;
      lines[from] = { ...line, text: line.text.replace(words[0], () => to), also: [...line.also, who], intact: false };
      return { action: { do: "edit", path, from: words[0], to }, before };
    }
    if (kind <= 26) {
      // The whole file again, some of its lines others.
      const next = lines.map((line) => (chance(25) ? { text: fresh(), who, also: [], intact: true } : line));
      work.set(path, next);
      return { action: { do: "write", path, text: text(next) }, before };
    }
    const added = kind <= 62 ? [...old, ...block(who)] : block(who, 1, 6);
    lines.splice(from, count, ...added);
    return { action: { do: "edit", path, from: text(old), to: text(added) }, before };
  };

  const session = (): void => {
    wait();
    clean = false;
    const who = played.length;
    const tool = pick(TOOLS);
    const turns: Turn[] = [];
    const started = clock;
    let context = random.between(8_000, 14_000);
    const reply = (say: string, calls: Call[]) => {
      const output = random.between(40, 900);
      const tokens = {
        input: random.between(2, 60),
        cacheRead: context,
        cacheWrite: random.between(200, 2_000),
        output,
        reasoning: 0,
      };
      context += output;
      turns.push({ kind: "reply", id: random.uuid(), at: clock * 1_000, endAt: clock * 1_000, say, calls, tokens });
    };
    const call = (action: Action, before: string, failed: boolean): Call => {
      clock += random.between(2, 40);
      return {
        id: random.text(24),
        at: clock * 1_000,
        endAt: clock * 1_000 + 500,
        action,
        before,
        output: failed ? "not found" : "done",
        failed,
      };
    };
    for (let prompts = random.between(1, 3); prompts > 0; prompts--) {
      clock += random.between(5, 600);
      turns.push({
        kind: "ask",
        id: random.uuid(),
        at: clock * 1_000,
        text: `Please ${pick(VERBS)} the ${pick(NOUNS)} (${serial++})`,
      });
      clock += random.between(2, 30);
      const seen = anyFile();
      if (seen) reply("I look first.", [call({ do: "read", path: seen }, text(work.get(seen) ?? []), false)]);
      for (let steps = random.between(0, 4); steps > 0; steps--) {
        const made = change(who);
        clock += random.between(1, 20);
        if (made) reply("Now the change.", [call(made.action, made.before, made.failed === true)]);
      }
      clock += random.between(1, 20);
      reply("That is all.", []);
    }
    const story = {
      name: `w${seed}-${who}`,
      tool,
      project: "world",
      model: MODELS[tool],
      daysAgo: 0,
      minute: 0,
      steps: [],
    };
    played.push({
      id: random.uuid(),
      story,
      cwd: root,
      branch: "main",
      startedAt: started * 1_000,
      endedAt: clock * 1_000,
      turns,
    });
  };

  /** A person changes a file by hand. */
  const byHand = (path = anyFile()): void => {
    wait(20, 900);
    if (path === undefined || chance(15)) {
      work.set(newPath(), block(-1, 4, 18));
      return;
    }
    const lines = work.get(path) ?? [];
    const from = random.between(0, lines.length);
    const kind = random.between(1, 4);
    if (kind === 1) lines.splice(from, random.between(1, 4));
    else if (kind === 2) lines.splice(from, random.between(1, 3), ...block(-1, 1, 4));
    else if (kind === 3 && lines[from]) {
      const line = lines[from] as Line;
      const changed = line.text.replace(/[a-z]{4,}/, () => pick(NOUNS));
      if (changed !== line.text)
        lines[from] = { ...line, text: changed, who: -1, also: [...line.also, line.who], intact: false };
    } else lines.splice(from, 0, ...block(-1));
  };

  const rename = (): string | undefined => {
    const path = anyFile();
    if (path === undefined) return undefined;
    const to = newPath();
    work.set(to, work.get(path) ?? []);
    work.delete(path);
    return to;
  };

  const format = (): void => {
    const path = anyFile();
    const kind = pick(["indent", "quotes", "semicolons"]);
    for (const [i, line] of (work.get(path ?? "") ?? []).entries()) {
      const next =
        kind === "indent"
          ? line.text.replace(/^ +/, (blanks) => blanks.repeat(2))
          : kind === "quotes"
            ? line.text.replaceAll("'", '"')
            : line.text.replace(/;$/, "");
      const list = work.get(path ?? "");
      if (list && next !== line.text) list[i] = { ...line, text: next, intact: false };
    }
  };

  const discardable = () => {
    if (head) work = copy(head.files);
  };

  /** Work on a branch while people commit on main; then it is merged, squashed or rebased. */
  const branch = (): void => {
    if (!head) return;
    const base = head;
    const baseFiles = copy(base.files);
    const own: Commit[] = [];
    for (let n = random.between(1, 3); n > 0; n--) {
      session();
      if (chance(30)) byHand();
      own.push(commit(`Branch work ${serial++}`));
    }
    if (chance(25) && rename()) own.push(commit("Rename on the branch", "Ben"));
    const done = copy(work);
    // Main goes on: files the branch did not change, and new ones.
    head = base;
    work = baseFiles;
    const changedByBranch = (path: string) => text(done.get(path) ?? []) !== text(base.files.get(path) ?? []);
    const mains: Commit[] = [];
    for (let n = random.between(0, 2); n > 0; n--) {
      const free = [...work.keys()].sort().filter((path) => !changedByBranch(path));
      if (chance(50) && free.length > 0) byHand(pick(free));
      else work.set(newPath(), block(-1, 4, 12));
      mains.push(commit(`Main work ${serial++}`));
    }
    const merged = (mine: Files): Files => {
      const result = copy(work);
      for (const path of base.files.keys()) if (!mine.has(path)) result.delete(path);
      for (const [path, lines] of mine)
        if (text(lines) !== text(base.files.get(path) ?? [])) result.set(path, [...lines]);
      return result;
    };
    const kind = pick(["merge", "squash", "rebase"]);
    const tip = head;
    if (kind === "merge") {
      work = merged(done);
      clean = false;
      commit("Merge the branch", "Cleo", { parents: [tip.mark, own.at(-1)?.mark ?? tip.mark] });
    } else if (kind === "squash") {
      work = merged(done);
      if (chance(20)) byHand();
      clean = false;
      commit("Squash the branch", "Cleo");
    } else {
      const states = own.map((one) => merged(one.files));
      for (const [i, one] of own.entries()) {
        work = states[i] ?? work;
        clean = false;
        const { authored, author } = one;
        commit(one.message, author, { authored });
        clock -= 4;
      }
      clock += 60;
    }
  };

  const revert = (): void => {
    const last = head;
    const before = commits.find((one) => one.mark === last?.parents[0]);
    if (!last || !before || last.parents.length !== 1) return;
    const after = copy(last.files);
    work = copy(before.files);
    clean = false;
    commit(`Revert "${last.message}"`);
    if (!chance(40)) return;
    work = after;
    clean = false;
    commit(`Reapply "${last.message}"`);
  };

  for (let n = random.between(1, 3); n > 0; n--) work.set(newPath(), block(-1, 6, 20));
  commit("Begin");
  for (let step = random.between(14, 26); step > 0; step--) {
    const kind = random.between(1, 100);
    if (kind <= 40) {
      session();
      if (chance(25)) byHand();
      if (chance(12)) discardable();
      else if (chance(85)) commit(`Change ${serial++}`);
    } else if (kind <= 60) {
      byHand();
      commit(`By hand ${serial++}`);
    } else if (kind <= 66) {
      discardable();
      work.set("package-lock.txt", block(-1, 10, 30));
      commit(`Bump dependencies ${serial++}`, "update-bot");
    } else if (kind <= 74) {
      const to = rename();
      if (chance(40)) byHand(to);
      commit(`Rename a file ${serial++}`);
    } else if (kind <= 82) {
      format();
      commit(`Format ${serial++}`);
    } else if (kind <= 94) {
      commit(`Before the branch ${serial++}`);
      branch();
    } else {
      commit(`As it is ${serial++}`);
      revert();
    }
  }
  commit("End");
  writeRepository(root, commits);
  await writeLogs(home, played);
  return {
    ...{ root, files: (head as Commit).files, commits: commits.length },
    clean: new Set(commits.flatMap(({ message, clean: isClean }) => (isClean ? [message] : []))),
    sessions: played.map(({ id, story }) => ({
      id: story.tool === "opencode" ? `ses_${createRandom(id).text(26)}` : id,
      tool: story.tool,
    })),
  };
}

export function writeRepository(root: string, commits: readonly Commit[]): void {
  mkdirSync(root, { recursive: true });
  const git = (args: string[], input?: string) =>
    execFileSync("git", args, {
      cwd: root,
      env: testEnv(),
      ...(input !== undefined && { input }),
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      maxBuffer: 1 << 28,
    });
  git(["init", "-q", "-b", "main", "--template="]);
  const data = (body: string) => `data ${Buffer.byteLength(body)}\n${body}\n`;
  const stream = commits.map(({ mark, parents, author, authored, committed, message, files }) => {
    const person = `${author} <${author.toLowerCase()}@example.org>`;
    return [
      `commit refs/heads/main\nmark :${mark}\nauthor ${person} ${authored} +0000\ncommitter ${person} ${committed} +0000\n`,
      data(message),
      ...parents.map((parent, i) => `${i === 0 ? "from" : "merge"} :${parent}\n`),
      "deleteall\n",
      ...[...files].map(
        ([path, lines]) => `M 100644 inline ${path}\n${data(lines.map((line) => `${line.text}\n`).join(""))}`,
      ),
      "\n",
    ].join("");
  });
  git(["fast-import", "--quiet", "--force"], stream.join(""));
  git(["reset", "-q", "--hard"]);
}

async function writeLogs(home: string, played: readonly Played[]): Promise<void> {
  const by = (tool: Tool) => played.filter(({ story }) => story.tool === tool);
  const files = [
    ...claudeCode(by("claude-code")),
    ...codex(by("codex")),
    ...geminiCli(by("gemini-cli")),
    ...copilot(by("copilot")),
    ...openCode(by("opencode")),
    ...(await cursor(by("cursor"), ".config/Cursor/User")),
  ];
  for (const { path, content, at } of files) {
    const full = join(home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    utimesSync(full, at / 1_000, at / 1_000);
  }
}

export { createRandom, type Random };
