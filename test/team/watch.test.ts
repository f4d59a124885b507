/** `sessarc push --watch`, and the push of the service in the background: what they do while a server is gone, and when it is back. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import timers from "node:timers/promises";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import security from "../../plugins/security/index.ts";
import team, { type TeamStatus } from "../../plugins/team/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { claudeTurn } from "../claude-turn.ts";
import { runCommand, type Started, serveHere, startCommand } from "../command.ts";
import { WireServer } from "./wire-server.ts";

/** Pauses of a minute and longer end when the test ends them; the short ones, between two tries of a request, are shorter. */
const pauses: number[] = [];
let waiting: (() => void) | undefined;

beforeAll(() => {
  const real = timers.setTimeout;
  const pause = (ms?: number, value?: unknown, options?: { signal?: AbortSignal }) => {
    if (ms === undefined || ms < 60_000) return real(Math.min(ms ?? 0, 5), value, options);
    return new Promise((resolve, reject) => {
      pauses.push(ms);
      waiting = () => resolve(value);
      options?.signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  };
  vi.spyOn(timers, "setTimeout").mockImplementation(pause as typeof timers.setTimeout);
  syncBuiltinESMExports();
});
afterAll(() => {
  vi.mocked(timers.setTimeout).mockRestore();
  syncBuiltinESMExports();
});

/** The watch waits until its next round. */
const resting = () => expect.poll(() => waiting !== undefined).toBe(true);
async function nextRound(): Promise<void> {
  await resting();
  const go = waiting;
  waiting = undefined;
  go?.();
  await resting();
}
function watching(home: string, ...args: string[]): Started {
  pauses.length = 0;
  waiting = undefined;
  const watch = startCommand(["push", "--watch", ...args], home);
  onTestFinished(async () => void (await watch.stop()));
  return watch;
}
const count = (text: string, what: string) => text.split(what).length - 1;

/** Appends turns to a session of the project `app`. */
function write(home: string, name: string, from: number, to = from): void {
  const folder = join(home, ".claude/projects/-w-app");
  mkdirSync(folder, { recursive: true });
  for (let n = from; n <= to; n++)
    appendFileSync(
      join(folder, `${name}.jsonl`),
      claudeTurn(n)
        .map((row) => `${JSON.stringify({ sessionId: name, ...row })}\n`)
        .join(""),
    );
}
const ONE = "aaaaaaaa-0000-4000-8000-000000000001";
const TWO = "aaaaaaaa-0000-4000-8000-000000000002";
const THREE = "aaaaaaaa-0000-4000-8000-000000000003";
const toId = (name: string) => `claude-code:${name}`;

/** A machine with one session that has joined and chosen its project. */
async function ready(): Promise<{ home: string; server: WireServer }> {
  const server = await new WireServer().start();
  const home = await makeTempDir();
  write(home, ONE, 1);
  await runCommand(["import", "--tool", "claude-code"], home);
  await runCommand(["team", "join", server.link], home);
  expect(await runCommand(["team", "projects", "app"], home)).toMatchObject({ code: 0 });
  return { home, server };
}

it("a server that is gone is reported once, asked after longer and longer pauses, and gets what changed when it is back", async () => {
  const { home, server } = await ready();
  const watch = watching(home);
  await resting();
  expect([...server.sessions.keys()]).toEqual([toId(ONE)]);
  expect(watch.stdout()).toContain("1 session pushed");
  await nextRound();
  expect(count(watch.stdout(), " pushed to "), "nothing changed: nothing is said").toBe(1);

  await server.stop();
  write(home, TWO, 2);
  for (let round = 0; round < 7; round++) await nextRound();
  expect(pauses.map((ms) => ms / 60_000)).toEqual([1, 1, 1, 2, 4, 8, 15, 15, 15]);
  expect(count(watch.stderr(), "does not answer")).toBe(1);

  await server.start(Number(new URL(server.address).port));
  await nextRound();
  expect([...server.sessions.keys()].sort()).toEqual([toId(ONE), toId(TWO)]);
  expect(count(watch.stderr(), "Pushing works again")).toBe(1);
  expect(pauses.at(-1)).toBe(60_000);
  expect(await watch.stop()).toBe(130);
});

it("an import that fails is reported once and does not end the watch", async () => {
  const { home, server } = await ready();
  const broken = join(home, "broken");
  mkdirSync(join(home, ".config/sessarc"), { recursive: true });
  writeFileSync(
    join(home, ".config/sessarc/sessarc.config.mjs"),
    `import { existsSync } from "node:fs";
    export default { plugins: [{ name: "breaks", hooks: { "session:write"() { if (existsSync(${JSON.stringify(broken)})) throw new Error("no"); } } }] };`,
  );
  const watch = watching(home);
  await resting();
  writeFileSync(broken, "");
  write(home, TWO, 2);
  for (let round = 0; round < 3; round++) await nextRound();
  expect(count(watch.stderr(), "It is tried again")).toBe(1);
  await rm(broken);
  await nextRound();
  expect([...server.sessions.keys()].sort()).toEqual([toId(ONE), toId(TWO)]);
  expect(await watch.stop()).toBe(130);
});

it("the service may end and start during a watch, and other commands use the archive between two rounds", async () => {
  const { home, server } = await ready();
  const first = await serveHere(["--no-open"], home);
  const watch = watching(home);
  await resting();
  await first.stop();
  write(home, TWO, 2);
  await nextRound();
  expect(server.sessions.has(toId(TWO))).toBe(true);
  expect(await runCommand(["sessions", "--json"], home)).toMatchObject({ code: 0 });
  const second = await serveHere(["--no-open"], home);
  write(home, THREE, 3);
  await nextRound();
  expect(server.sessions.has(toId(THREE))).toBe(true);
  expect(count(watch.stderr(), "It is tried again")).toBe(0);
  await second.stop();
  expect(await watch.stop()).toBe(130);
});

it("a watch that is ended in the middle of a session goes on there when it is started again", async () => {
  const { home, server } = await ready();
  write(home, TWO, 2, 40);
  let held: (() => void) | undefined;
  server.hold = ({ method }) =>
    method === "PUT" && server.blobs.size > 0 ? new Promise((resolve) => (held = resolve)) : undefined;
  const watch = watching(home);
  await expect.poll(() => held !== undefined).toBe(true);
  expect(await watch.stop()).toBe(130);
  server.hold = undefined;
  held?.();
  const there = new Set(server.blobs.keys());
  const from = server.received.length;
  const again = watching(home);
  await resting();
  expect([...server.sessions.keys()].sort()).toEqual([toId(ONE), toId(TWO)]);
  expect([...server.imports.values()].every((times) => times === 1)).toBe(true);
  const twice = server.received.slice(from).filter(({ method, path }) => method === "PUT" && there.has(path.slice(7)));
  expect(twice).toEqual([]);
  expect(await again.stop()).toBe(130);
});

it("a machine whose access was ended stops watching, with the reason and the remedy", async () => {
  const { home, server } = await ready();
  const watch = watching(home);
  await resting();
  server.revoke();
  waiting?.();
  expect(await watch.ended).toBe(1);
  expect(watch.stderr()).toContain("TEAM_MACHINE_REVOKED");
  expect(watch.stderr()).toContain("sessarc team join <link>");
});

it("in the background a server that is gone, or a session that is refused, is reported once; without access nothing is sent any more", async () => {
  const server = await new WireServer().start();
  const home = await makeTempDir();
  write(home, ONE, 1);
  mkdirSync(join(home, ".config/sessarc"), { recursive: true });
  const lines: string[] = [];
  const served = await serveTest({
    home,
    flags: {},
    plugins: [archive(), claude(), security(), team({ retryMs: 1, settleMs: 1 })],
    log: (line) => lines.push(line),
  });
  const { kernel } = served;
  const send = async <T>(method: string, path: string, body: object): Promise<T> => {
    const answer = await kernel.fetch(`/api${path}`, { method, body: JSON.stringify(body) });
    return (await answer.json()) as T;
  };
  await send("POST", "/import", { all: true });
  await send("POST", "/team/join", { link: server.link });
  const [project] = (await (await kernel.fetch("/api/projects")).json()) as { id: string }[];
  await send("PUT", "/team/projects", { add: [project?.id] });
  const about = (what: string) => lines.filter((line) => line.includes(what)).length;
  const status = async () => (await (await kernel.fetch("/api/team")).json()) as TeamStatus;
  const change = async (n: number) => {
    write(home, ONE, n);
    await send("POST", "/sync?wait=1", {});
  };

  await send("PATCH", "/settings", { "team.push": "background" });
  await expect.poll(() => server.sessions.has(toId(ONE))).toBe(true);

  // Refused for one session.
  server.trouble = ({ path }) => (path === "/sessions" ? { status: 422, code: "TEAM_MANIFEST_INVALID" } : undefined);
  await change(2);
  await expect.poll(() => server.received.filter(({ path }) => path === "/sessions").length).toBeGreaterThan(3);
  expect(about("TEAM_MANIFEST_INVALID")).toBe(1);
  server.trouble = () => undefined;
  await expect.poll(() => server.imports.get(toId(ONE))).toBe(2);

  await server.stop();
  await change(3);
  await expect.poll(async () => (await status()).servers[0]?.problem?.code).toBe("TEAM_UNREACHABLE");
  await change(4);
  await server.start(Number(new URL(server.address).port));
  await expect.poll(() => server.imports.get(toId(ONE))).toBe(3);
  await expect.poll(async () => (await status()).servers[0]?.problem).toBe(null);
  expect(about("does not answer")).toBe(1);

  server.revoke();
  await change(5);
  await expect.poll(() => about("TEAM_MACHINE_REVOKED")).toBe(1);
  expect(lines.find((line) => line.includes("TEAM_MACHINE_REVOKED"))).toContain("sessarc team join <link>");
  expect((await status()).servers[0]?.problem?.code).toBe("TEAM_NO_ACCESS");
  const asked = server.received.length;
  await change(6);
  await served.close();
  expect(server.received.length).toBe(asked);
});
