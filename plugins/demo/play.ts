/** Plays the stories in time order: gives every step a time, an id and its tokens, and every change its effect. */
import { createRandom, type Random } from "./random.ts";
import type { Action, SampleProject, Step, Story } from "./script.ts";

interface Tokens {
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
}
export interface Call {
  id: string;
  at: number;
  endAt: number;
  action: Action;
  /** Text of the file before a read, edit or write. */
  before: string;
  output: string;
  failed: boolean;
  child?: Played;
}
export interface Reply {
  kind: "reply";
  id: string;
  at: number;
  endAt: number;
  think?: string;
  say?: string;
  calls: Call[];
  tokens: Tokens;
  /** Copied from the session this one was forked from. */
  inherited?: boolean;
}
export type Turn =
  | { kind: "ask"; id: string; at: number; text: string; inherited?: boolean }
  | { kind: "compact"; id: string; at: number; text: string }
  | { kind: "resume"; id: string; at: number }
  | Reply;

/** One session as it happened. Times are ms since the epoch. */
export interface Played {
  id: string;
  story: Story;
  cwd: string;
  branch: string | undefined;
  startedAt: number;
  endedAt: number;
  turns: Turn[];
  forkedFrom?: Played;
}
export interface Commit {
  at: number;
  message: string;
  files: Record<string, string>;
}
export interface PlayedProject {
  project: SampleProject;
  path: string;
  commits: Commit[];
  /** The files as the last session left them. */
  files: Record<string, string>;
  sessions: Played[];
}

const DAY = 86_400_000;

/** `now` in ms decides every time; the rest follows from the stories' names. */
export function playProject(project: SampleProject, path: string, now: number): PlayedProject {
  const files = { ...project.files };
  const midnight = Math.floor(now / DAY) * DAY;
  const startOf = (story: Story) =>
    story.daysAgo === 0 ? now - story.minute * 60_000 : midnight - story.daysAgo * DAY + story.minute * 60_000;
  const stories = [...project.stories].sort((a, b) => startOf(a) - startOf(b));
  const first = stories[0];
  const commits: Commit[] = first
    ? [{ at: startOf(first) - 2 * DAY, message: "Initial commit", files: { ...files } }]
    : [];
  const sessions: Played[] = [];
  for (const story of stories) {
    const parent = sessions.find((other) => other.story.name === story.forkOf?.name);
    const scene = createScene(
      story,
      path,
      project.repository ? "main" : undefined,
      story.forkOf ? { ...files } : files,
    );
    const played = scene.play(startOf(story), parent);
    sessions.push(played);
    if (story.commit) commits.push({ at: played.endedAt + 60_000, message: story.commit, files: { ...files } });
  }
  return { project, path, commits, files, sessions };
}

function createScene(story: Story, cwd: string, branch: string | undefined, files: Record<string, string>) {
  const random = createRandom(story.name);
  let clock = 0;
  let context = 0;

  function play(startedAt: number, parent: Played | undefined): Played {
    clock = startedAt;
    context = random.between(9_000, 14_000);
    const copied = parent ? copyTurns(parent, story.forkOf?.steps ?? 0) : [];
    const half = Math.ceil(story.steps.length / 2);
    const turns: Turn[] = [...copied];
    story.steps.forEach((step, i) => {
      if (story.resumedAfter && i === half) {
        clock += story.resumedAfter * 3_600_000;
        turns.push({ kind: "resume", id: random.uuid(), at: clock });
      }
      turns.push(take(step));
    });
    const id = random.uuid();
    return { id, story, cwd, branch, startedAt, endedAt: clock, turns, ...(parent && { forkedFrom: parent }) };
  }

  function take(step: Step): Turn {
    const id = random.uuid();
    if ("ask" in step) {
      clock += random.between(20, 240) * 1000;
      context += Math.ceil(step.ask.length / 4);
      return { kind: "ask", id, at: clock, text: step.ask };
    }
    if ("compact" in step) {
      clock += 30_000;
      context = 9_000 + Math.ceil(step.compact.length / 4);
      return { kind: "compact", id, at: clock, text: step.compact };
    }
    const at = tick(random, 3, 15);
    const said = (step.say?.length ?? 0) + (step.think?.length ?? 0) + JSON.stringify(step.calls).length;
    const reasoning = Math.ceil((step.think?.length ?? 0) / 3);
    const output = Math.ceil(said / 4) + reasoning;
    const fresh = random.between(300, 2_000);
    const tokens: Tokens = { input: random.between(2, 40), cacheRead: context, cacheWrite: fresh, output, reasoning };
    const calls = step.calls.map((action) => call(action));
    context += fresh + output + Math.ceil(calls.reduce((sum, c) => sum + c.output.length, 0) / 4);
    return { kind: "reply", id, at, endAt: clock, calls, tokens, ...pickText(step) };
  }

  function call(action: Action): Call {
    const at = tick(random, 1, 4);
    const id = random.text(24);
    const before = "path" in action ? (files[action.path] ?? "") : "";
    const child = action.do === "agent" ? playChild(action.steps) : undefined;
    const outcome = apply(action, files);
    return { id, at, endAt: tick(random, 0, 6), action, before, ...outcome, ...(child && { child }) };
  }

  /** A sub-agent works in the same files and the same time. */
  function playChild(steps: Step[]): Played {
    const outer = context;
    context = random.between(4_000, 6_000);
    const startedAt = clock;
    const turns = steps.map((step) => take(step));
    context = outer;
    return { id: random.hex(17), story, cwd, branch, startedAt, endedAt: clock, turns };
  }

  function tick(source: Random, low: number, high: number): number {
    clock += source.between(low, high) * 1000 + source.between(0, 999);
    return clock;
  }

  return { play };
}

function pickText(step: { think?: string; say?: string }) {
  return { ...(step.think && { think: step.think }), ...(step.say && { say: step.say }) };
}

function copyTurns(parent: Played, steps: number): Turn[] {
  return parent.turns
    .slice(0, steps)
    .filter((turn) => turn.kind === "ask" || turn.kind === "reply")
    .map((turn) => ({ ...turn, inherited: true }));
}

function apply(action: Action, files: Record<string, string>): { output: string; failed: boolean } {
  switch (action.do) {
    case "read": {
      const text = files[action.path];
      return { output: text ?? `File does not exist: ${action.path}`, failed: text === undefined };
    }
    case "write":
      files[action.path] = action.text;
      return { output: `Wrote ${action.path}`, failed: false };
    case "edit": {
      const text = files[action.path] ?? "";
      const places = text.split(action.from).length - 1;
      if (action.fails) return { output: `String to replace not found in ${action.path}`, failed: true };
      if (places !== 1) throw new Error(`Sample edit of ${action.path} matches ${places} places: ${action.from}`);
      files[action.path] = text.replace(action.from, () => action.to);
      return { output: `Updated ${action.path}`, failed: false };
    }
    case "run":
      return { output: action.output, failed: (action.exit ?? 0) !== 0 };
    case "search":
      return { output: action.output, failed: false };
    case "agent":
      return { output: action.answer, failed: false };
  }
}
