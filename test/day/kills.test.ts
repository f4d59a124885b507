/**
 * The service is killed at random moments (a seed chooses them: before a call that changes something on the disk) while sessions are written. The
 * next command works, and nothing that was written is missing or counted twice. Ten moments in each place in the long run, one by default.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { builtPackage, CLI } from "../built.ts";
import { LONG } from "../rounds.ts";
import { type Machine, machine } from "./_machine.ts";

beforeAll(builtPackage);

const PRELOAD = fileURLToPath(new URL("_kill.mjs", import.meta.url));
const TURNS = 3;
/** Of one turn. */
const MESSAGES = 3;

/** The first calls are a start over an empty archive, the later ones imports of what is written. */
const PLACES = [
  [1, 12],
  [12, 30],
  [30, 60],
  [60, 110],
  [110, 200],
] as const;

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Starts the service, writes a session once it answers, and again, until it was killed before its nth call or has followed both. */
async function serveUntilKilled(t: Machine, nth: number, session: number): Promise<"killed" | "followed"> {
  const env = { ...t.env, NODE_OPTIONS: `--import=${PRELOAD}`, SESSARC_KILL_AT: String(nth) };
  const child = spawn(process.execPath, [CLI, "serve", "--no-open", "--port", "0", "--data-dir", t.data], {
    env,
    cwd: t.home,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const closed = once(child, "close").then(() => "killed" as const);
  const ready = new Promise<string>((resolve) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const url = /ready at (\S+)/.exec(text)?.[1];
      if (url) resolve(url);
    });
  });
  const url = await Promise.race([ready, closed]);
  const messages = async () => {
    const answer = await fetch(new URL("/api/sessions?limit=200", url)).then(
      (response) => response.json() as Promise<{ sessions: { id: string; messageCount: number }[] }>,
      () => undefined,
    );
    return answer?.sessions.reduce((sum, { messageCount }) => sum + messageCount, 0) ?? -1;
  };
  const before = url === "killed" ? 0 : await messages();
  await t.write(session, session * 10, TURNS);
  await t.write(session - 1, session * 10 + 5);
  if (url === "killed") return "killed";
  const followed = expect
    .poll(async () => child.exitCode !== null || child.signalCode !== null || (await messages()) > before)
    .toBe(true);
  await followed;
  if (child.signalCode === null) child.kill("SIGKILL");
  await closed;
  return nth > 0 ? "killed" : "followed";
}

describe.skipIf(process.platform !== "linux")("a kill of the service", () => {
  it.each(PLACES)("before one of its calls %i to %i: the next command works, and nothing is lost", async (from, to) => {
    const t = await machine(CLI, { SESSARC_NO_OPEN: "1" });
    const next = random(from);
    await t.write(1, 1);
    let turns = 1;
    for (let n = 2; n < (LONG ? 12 : 3); n++) {
      const nth = from + Math.floor(next() * (to - from));
      await serveUntilKilled(t, nth, n);
      turns += TURNS + 1;
      if (!(await t.json<{ total?: number }>("sessions")).total) await t.run("import");
      const { sessions, behind } = await t.json<{ sessions: { messageCount: number }[]; behind: number }>("sessions");
      const counted = sessions.reduce((sum, { messageCount }) => sum + messageCount, 0);
      expect([nth, sessions.length, counted, behind]).toEqual([nth, n, turns * MESSAGES, 0]);
      const { stdout } = await t.run("doctor", "--all");
      expect(stdout).toMatch(/^ok +catalogue .*intact$/m);
    }
    const usage = await t.json<{ totals: { tokens?: unknown } }>("usage");
    expect(usage).toMatchObject({ behind: 0 });
  });
});
