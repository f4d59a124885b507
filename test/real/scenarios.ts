/** What the tools are made to do. A scenario says what the model answers and what has to be found afterwards. */
import { setTimeout as delay } from "node:timers/promises";
import type { Ran } from "./drive.ts";
import type { Reply } from "./model/script.ts";
import type { Stage } from "./stage.ts";
import { inTerminal } from "./terminal.ts";
import type { Ask } from "./tools/types.ts";

export interface Expected {
  /** Sessions in all, sub-agents and forks included. */
  sessions: number;
  /** Prompts a person typed, in any order. */
  prompts: readonly string[];
  /** Files of the project that an edit names. */
  changed: readonly string[];
  /** Calls that fail. */
  failures: number;
  /** Results that may be missing, because the tool was killed before it wrote them. */
  unwritten?: number;
}

export interface Scenario {
  name: string;
  run(stage: Stage): Promise<Expected>;
}

const NOTHING = { changed: [], failures: 0 } as const;

/** Runs to the end and fails with the tool's own words when it did not work. */
async function good(running: Promise<Ran>): Promise<Ran> {
  const ran = await running;
  if (ran.code !== 0)
    throw new Error(`ended with ${ran.code ?? ran.signal}: ${ran.stderr.slice(-600) || ran.stdout.slice(-600)}`);
  return ran;
}

/** By a run, or on the tool's screen until that shows `answer`. */
async function goOn({ tool }: Stage, ask: Ask & { resume: string }, answer: string): Promise<void> {
  const { screen: way } = tool.driver;
  if (!way) return void (await good(tool.run(ask)));
  const screen = await inTerminal(tool, way.args(ask.resume));
  try {
    await way.goOn(screen, ask, answer);
  } finally {
    await screen.close();
    await good(tool.command(way.stop).ended);
  }
}

async function begun({ model, tool }: Stage, prompt: string, replies: readonly Reply[]): Promise<string> {
  model.play({ main: replies });
  const id = await tool.driver.sessionId(await good(tool.run({ prompt })), tool);
  if (id === undefined) throw new Error("the tool did not say which session it was");
  return id;
}

const plain: Scenario = {
  name: "plain",
  async run(stage) {
    await begun(stage, "Say hello", [{ thinking: "A greeting.", text: "Hello." }]);
    return { ...NOTHING, sessions: 1, prompts: ["Say hello"] };
  },
};

const tools: Scenario = {
  name: "tools",
  async run(stage) {
    const { words } = stage.tool.driver;
    await begun(stage, "Change things", [
      { text: "First a look.", calls: [words.shell("ls")] },
      { calls: [words.write(stage.tool, "new.txt", "one\ntwo\n")] },
      { calls: [words.shell("cat README.md"), words.shell("cat new.txt")] },
      ...(words.read ? [{ calls: [words.read(stage.tool, "README.md")] }] : []),
      { calls: [words.edit(stage.tool, "README.md", "# App", "# Application")] },
      { text: "Done." },
    ]);
    return { sessions: 1, prompts: ["Change things"], changed: ["README.md", "new.txt"], failures: 0 };
  },
};

const failing: Scenario = {
  name: "failing tools",
  async run(stage) {
    const { words } = stage.tool.driver;
    await begun(stage, "Try things", [
      { calls: [words.shell("cat missing.txt; exit 3")] },
      { calls: [words.edit(stage.tool, "README.md", "nothing like that", "x")] },
      { text: "That did not work." },
    ]);
    return { sessions: 1, prompts: ["Try things"], changed: [], failures: 2 };
  },
};

const agents: Scenario = {
  name: "sub-agents",
  async run(stage) {
    const { model, tool } = stage;
    const { words, agentsInside } = tool.driver;
    const sent = words.agent("[[child]] Look around").map((calls) => ({ calls }));
    const child = [{ calls: [words.shell("echo child")] }, { text: "Nothing there." }];
    model.play({ main: [...sent, { text: "The agent is back." }], child });
    await good(tool.run({ prompt: "Send an agent" }));
    return { ...NOTHING, sessions: agentsInside ? 1 : 2, prompts: ["Send an agent"] };
  },
};

/** `later`: when the minute is over, for a tool that names its log by it. */
const resumed = (name: string, later = false): Scenario => ({
  name,
  async run(stage) {
    const { model, tool } = stage;
    const id = await begun(stage, "Begin here", [{ calls: [tool.driver.words.shell("ls")] }, { text: "Begun." }]);
    if (later) await delay(60_500 - (Date.now() % 60_000));
    model.play({ main: [{ calls: [tool.driver.words.shell("pwd")] }, { text: "Gone on." }] });
    await goOn(stage, { prompt: "Go on", resume: id }, "Gone on.");
    return { ...NOTHING, sessions: 1, prompts: ["Begin here", "Go on"] };
  },
});

const fork: Scenario = {
  name: "fork",
  async run(stage) {
    const { model, tool } = stage;
    const id = await begun(stage, "Begin here", [{ calls: [tool.driver.words.shell("ls")] }, { text: "Begun." }]);
    model.play({ main: [{ text: "Another way." }] });
    await goOn(stage, { prompt: "Try another way", resume: id, fork: true }, "Another way.");
    return { ...NOTHING, sessions: 2, prompts: ["Begin here", "Try another way"] };
  },
};

/** The tool is ended in the middle of a reply. */
const ended = (name: string, signal: NodeJS.Signals): Scenario => ({
  name,
  async run({ model, tool }) {
    let asked = () => {};
    const reached = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { words } = tool.driver;
    model.play({
      main: [{ calls: [words.shell("ls")] }, { text: "This will take", hang: true, asked: () => asked() }],
    });
    const running = tool.start({ prompt: "Wait for it" });
    const early = running.ended.then((ran) => {
      throw new Error(`ended before it was asked: ${ran.stderr.slice(-600)}`);
    });
    await Promise.race([reached, early]);
    const { hasWritten } = tool.driver; // fails while its folder is not there yet
    while (hasWritten && !(await hasWritten(tool).catch(() => false))) await Promise.race([delay(50), early]);
    running.kill(signal);
    await running.ended;
    early.catch(() => {}); // it was to end
    return { ...NOTHING, sessions: 1, prompts: ["Wait for it"], unwritten: signal === "SIGKILL" ? 1 : 0 };
  },
});

const compaction: Scenario = {
  name: "compaction",
  async run(stage) {
    const { model, tool } = stage;
    const { compaction: ask, compact, words } = tool.driver;
    const id = await begun(stage, "Begin here", [{ calls: [words.shell("ls")] }, { text: "Begun." }]);
    const summary = { text: "<state_snapshot>What was said so far.</state_snapshot>" };
    model.play({ main: [summary], side: [summary] });
    if (compact) {
      await compact(tool, id);
      return { ...NOTHING, sessions: 1, prompts: ["Begin here"] };
    }
    if (!ask) throw new Error("no way to ask for a compaction");
    const { isCommand, shows = "", ...rest } = ask;
    await goOn(stage, { ...rest, resume: id }, shows);
    const typed = isCommand ? [] : [ask.prompt];
    return { ...NOTHING, sessions: 1, prompts: ["Begin here", ...typed] };
  },
};

export const LATER = "resume, a minute later";

export const SCENARIOS: readonly Scenario[] = [
  ...[plain, tools, failing, agents, resumed("resume"), resumed(LATER, true), fork],
  ...[ended("cancel", "SIGINT"), ended("kill", "SIGKILL"), compaction],
];
