/** A team's server that is hostile: whatever it answers, the machine reads, writes, prints and sends nothing that it should not. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import security from "../../plugins/security/index.ts";
import team from "../../plugins/team/index.ts";
import { makeTempDir } from "../_setup.ts";
import { claudeTurn } from "../claude-turn.ts";
import { runCommand } from "../command.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { LONG, rounds } from "../rounds.ts";
import {
  type Answer,
  answers,
  HostileServer,
  OBEYED,
  places,
  REQUESTS,
  send,
  values,
  withValue,
} from "./hostile-server.ts";

/** In files beside the archive, and in no log. */
const CANARY = "CANARY5521";
const NAME = "aaaaaaaa-0000-4000-8000-000000000001";
const SESSION = `claude-code:${NAME}`;

let elsewhere: Server;
/** Address of a server that the machine must not ask. */
let other = "";
const stolen: string[] = [];
beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    stolen.push(request.url ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
});
afterAll(() => void elsewhere?.close());

/** A home with one session, and files that no server may have where hostile paths lead. */
function fill(home: string): void {
  const folder = join(home, ".claude/projects/-w-app");
  mkdirSync(folder, { recursive: true });
  const rows = [1, 2].flatMap((n) => claudeTurn(n));
  writeFileSync(
    join(folder, `${NAME}.jsonl`),
    rows.map((row) => `${JSON.stringify({ sessionId: NAME, ...row })}\n`).join(""),
  );
  for (const place of ["private", "data/private", "data/team/private", "data/team/outbox/private"]) {
    mkdirSync(join(home, place), { recursive: true });
    writeFileSync(join(home, place, "backup.sql"), CANARY);
    writeFileSync(join(home, place, "backup.sql.gz"), gzipSync(CANARY));
  }
}

const PATIENT_MS = 20_000;
/** For answers that never come. */
const HASTY_MS = 20;

interface World {
  t: TestKernel;
  home: string;
  server: HostileServer;
  /** ms that an answer may take. */
  limit: { answerMs: number };
}

async function open(): Promise<World> {
  const server = await new HostileServer().start();
  const home = await makeTempDir();
  fill(home);
  const limit = { retryMs: 1, longestWaitMs: 2, answerMs: PATIENT_MS };
  const t = await createTestKernel({ home, plugins: [archive(), claude(), security(), team(limit)] });
  await t.send("POST", "/api/import", { all: true });
  await t.send("POST", "/api/team/join", { link: server.link, name: "Anna", machine: "laptop" });
  const [project] = await t.json<{ id: string }[]>("/api/projects?git=0");
  await t.send("PUT", "/api/team/projects", { add: [project?.id], space: "Everyone" });
  return { t, home, server, limit };
}

type Sent = { status: number; body: unknown };

/** Forgets what was pushed, here and there. */
async function forget({ t, server }: World): Promise<void> {
  await t.kernel.storage.db.run("delete from team_pushed");
  await t.kernel.storage.db.run("delete from team_withdrawn");
  server.has.clear();
  server.blobs.clear();
}

const push = async (world: World): Promise<Sent> => {
  await forget(world);
  return world.t.send("POST", "/api/team/push", {});
};

/** What makes the machine send each request. */
const ACTIONS: Readonly<Record<string, (world: World) => Promise<Sent>>> = {
  join: async ({ t, server }) => {
    const { hostile } = server;
    server.hostile = "";
    await t.send("POST", "/api/team/leave", {});
    server.hostile = hostile;
    return t.send("POST", "/api/team/join", { link: server.link, name: "Anna", machine: "laptop" });
  },
  token: async ({ t }) => t.send("POST", "/api/team/open", {}),
  me: async ({ t }) => ({ status: 200, body: await t.json("/api/team?ask=1") }),
  open: async ({ t }) => t.send("POST", "/api/team/open", {}),
  invite: async ({ t }) => t.send("POST", "/api/team/invites", {}),
  people: async ({ t }) => get(t, "/api/team/people"),
  devices: async ({ t }) => get(t, "/api/team/people"),
  logs: async ({ t }) => get(t, "/api/team/people"),
  spaces: async ({ t }) => get(t, "/api/team/people"),
  access: async ({ t }) => get(t, "/api/team/access"),
  revoke: async ({ t }) => t.send("POST", "/api/team/revoke", { device: "d".repeat(16) }),
  "remove person": async ({ t }) => t.send("POST", "/api/team/remove", { person: "Anna", delete: true }),
  "create space": async ({ t }) => t.send("POST", "/api/team/spaces", { name: "New", people: ["Anna"] }),
  "add to space": async ({ t }) => t.send("POST", "/api/team/spaces", { name: "Everyone", people: ["Anna"] }),
  "make token": async ({ t }) => t.send("POST", "/api/team/tokens", { name: "agent" }),
  tokens: async ({ t }) => get(t, "/api/team/tokens"),
  "revoke token": async ({ t }) => t.send("POST", "/api/team/tokens/revoke", { token: "2".repeat(16) }),
  have: async (world) => {
    const { hostile, has } = world.server;
    world.server.hostile = "";
    if (has.size === 0) await push(world);
    world.server.hostile = hostile;
    return world.t.send("POST", "/api/team/push", {});
  },
  "missing chunks": push,
  "send a chunk": push,
  "push a session": push,
  withdraw: async ({ t }) => t.send("POST", "/api/team/withdraw", { sessions: [SESSION] }),
};

async function get(t: TestKernel, path: string): Promise<Sent> {
  const answer = await t.fetch(path);
  return { status: answer.status, body: await answer.json() };
}

/** Files of a home, without those of the catalogue. */
const toFiles = (home: string): string[] =>
  readdirSync(home, { recursive: true, encoding: "utf8" })
    .filter((path) => !/^data\/(catalog|transcripts|index|team\/keys)/.test(path))
    .sort();

function toTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...toTexts(part)]);
}

/** What a browser or a person would follow; a name may be any text. */
function toLinks(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    typeof part === "string" ? (["url", "link", "address"].includes(key) ? [part] : []) : toLinks(part),
  );
}

/** What of an answer of the machine's own API is wrong. */
function wrongIn({ status, body }: Sent, error: unknown): string[] {
  const texts = toTexts(body);
  const text = texts.join("\n");
  const wrong = [...OBEYED, "\r", CANARY]
    .filter((mark) => text.includes(mark))
    .map((mark) => `says ${JSON.stringify(mark)}`);
  if (/\n\s+at /.test(text)) wrong.push("has a stack");
  if (text.length > 20_000) wrong.push(`is ${text.length} characters long`);
  for (const one of toLinks(body))
    if (!/^http:\/\/127\.0\.0\.1:/.test(one) || one.includes(other)) wrong.push(`links to ${one}`);
  const problems = [...(status === 200 ? [] : [body as Record<string, unknown>]), ...toProblems(body)];
  for (const { code, message, fix } of problems) {
    if (typeof code !== "string" || !/^[A-Z][A-Z_]+$/.test(code)) wrong.push(`has the code ${String(code)}`);
    if (code === "INTERNAL")
      wrong.push(`is an internal error: ${error instanceof Error ? error.stack : String(error)}`);
    if (typeof message !== "string" || message === "") wrong.push("has no message");
    if (typeof fix !== "string" || fix.trim() === "") wrong.push(`has no remedy: ${String(message)}`);
  }
  return wrong;
}

/** Problems in an answer that was successful itself. */
function toProblems(body: unknown): Record<string, unknown>[] {
  const { servers = [], failed = [] } = (body ?? {}) as {
    servers?: { problem: Record<string, unknown> | null }[];
    failed?: Record<string, unknown>[];
  };
  return [...servers.flatMap(({ problem }) => (problem ? [problem] : [])), ...failed];
}

it("knows how to make the machine send each request", () => {
  expect(Object.keys(ACTIONS).sort()).toEqual([...REQUESTS].sort());
});

describe.each(REQUESTS)("the answer to `%s`", (name) => {
  it("may be anything", async () => {
    const world = await open();
    const { t, home, server } = world;
    const act = ACTIONS[name];
    if (!act) throw new Error(`no action for ${name}`);
    // What it is without an attack: the request is made, and answered well.
    let valid: unknown;
    server.hostile = name;
    server.answer = (response, answer) => {
      valid = answer;
      send(response, 200, answer);
    };
    const usual = await act(world);
    expect([usual.status, toProblems(usual.body), typeof valid]).toEqual([200, [], "object"]);

    const where = places(valid);
    const all = values(other);
    const kinds: [kind: string, answer: Answer][] = [
      ...answers(other).map(([kind, answer]): [string, Answer] => [kind, answer]),
      [
        "everything that is hostile at once",
        (response, answer) =>
          send(
            response,
            200,
            where.reduce(
              (now, place, i) =>
                typeof all[i % all.length]?.[1] === "string" ? withValue(now, place, all[i % all.length]?.[1]) : now,
              answer,
            ),
          ),
      ],
      ...all.flatMap(([kind, value], i) =>
        where
          .filter((_, k) => LONG || k === i % where.length)
          .map((place): [string, Answer] => [
            `${kind} at ${place.join(".")}`,
            (response, answer) => send(response, 200, withValue(answer, place, value)),
          ]),
      ),
    ];
    expect(kinds.length).toBeGreaterThan(75);
    // By default a part of them, other ones for each request: all kinds are given to some request.
    const step = Math.floor(kinds.length / rounds(kinds.length));
    const given = kinds.filter((_, i) => i % step === REQUESTS.indexOf(name) % step);
    const before = toFiles(home);
    const found: string[] = [];
    for (const [kind, answer] of given) {
      server.hostile = name;
      server.answer = answer;
      server.asked.length = 0;
      stolen.length = 0;
      world.limit.answerMs = kind.startsWith("silence") ? HASTY_MS : PATIENT_MS;
      const done = await act(world);
      const wrong = [
        ...wrongIn(done, t.errors.at(-1)),
        ...server.wrong([CANARY, "backup.sql", "passwd"]),
        ...stolen.map((path) => `asked another server for ${path}`),
        ...(server.asked.length > 60 ? [`asked ${server.asked.length} times`] : []),
        ...toFiles(home)
          .filter((path) => !before.includes(path))
          .map((path) => `wrote ${path}`),
        ...before
          .filter((path) => !toFiles(home).includes(path) && !path.startsWith("data/team/outbox"))
          .map((path) => `removed ${path}`),
      ];
      found.push(...wrong.map((one) => `${kind}: ${one}`));
      // What was expected of a failure is not what the kernel's own check is for.
      t.errors.length = 0;
      // What a hostile answer left is not the next one's.
      server.hostile = "";
      if ((await t.json<{ servers: unknown[] }>("/api/team")).servers.length === 0) {
        await t.send("POST", "/api/team/join", { link: server.link, name: "Anna", machine: "laptop" });
        const [project] = await t.json<{ id: string }[]>("/api/projects?git=0");
        await t.send("PUT", "/api/team/projects", { add: [project?.id], space: "Everyone" });
      }
    }
    expect(found).toEqual([]);
    expect(readFileSync(join(home, "private/backup.sql"), "utf8")).toBe(CANARY);
    await server.stop();
  });
});

/** Commands, each with the request whose answer is hostile. */
const COMMANDS: readonly (readonly [request: string, ...words: string[]])[] = [
  ["me", "team", "status", "--ask"],
  ["token", "team", "status", "--ask"],
  ["open", "team", "open"],
  ["invite", "team", "invite"],
  ["people", "team", "people"],
  ["devices", "team", "people"],
  ["logs", "team", "people"],
  ["spaces", "team", "people"],
  ["spaces", "team", "spaces"],
  ["access", "team", "access"],
  ["devices", "team", "access"],
  ["revoke", "team", "revoke", "laptop", "--yes"],
  ["remove person", "team", "remove", "Anna", "--delete-private", "--yes"],
  ["create space", "team", "spaces", "New", "Anna"],
  ["make token", "team", "token"],
  ["tokens", "team", "tokens"],
  ["revoke token", "team", "tokens", "--revoke", "2222222222222222", "--yes"],
  ["missing chunks", "push", "--dry-run"],
  ["send a chunk", "push"],
  ["push a session", "push"],
  ["withdraw", "team", "withdraw", SESSION, "--yes"],
];

it.each(COMMANDS)(
  "with a hostile answer to `%s` the terminal obeys nothing of it: sessarc %s %s",
  async (request, ...words) => {
    const server = await new HostileServer().start();
    const home = await makeTempDir();
    fill(home);
    const run = (...args: readonly string[]) => runCommand(args, home);
    await run("import", "--tool", "claude-code");
    expect(await run("team", "join", server.link, "--name", "Anna")).toMatchObject({ code: 0 });
    expect(await run("team", "projects", "app", "--space", "Everyone")).toMatchObject({ code: 0 });
    const bad = "\u001b]0;owned\u0007\u001b[2J\u202egnp\u2066\u009b1m\rx";
    const spoiled = (value: unknown): unknown => {
      if (typeof value === "string") return `${value}${bad}`;
      if (Array.isArray(value)) return value.map(spoiled);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, spoiled(part)]));
    };
    const names = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(names);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, part]) => [
          key,
          (key === "name" || key === "path" || key === "remote") && typeof part === "string"
            ? `${part}${bad}`
            : names(part),
        ]),
      );
    };
    server.hostile = request;
    let spoiling = true;
    const found: string[] = [];
    const kinds: [string, Answer][] = [
      [
        "every text",
        (response, valid) => {
          spoiling = JSON.stringify(spoiled(valid)) !== JSON.stringify(valid);
          send(response, 200, spoiled(valid));
        },
      ],
      ["names", (response, valid) => send(response, 200, names(valid))],
      ["refusal", (response) => send(response, 422, { code: "TEAM_X", message: `no${bad}`, fix: `do${bad}` })],
      ["no list", (response) => send(response, 200, "\u001b[31m")],
    ];
    const step = LONG ? 1 : 2;
    const first = COMMANDS.findIndex((command) => command[0] === request && command.at(-1) === words.at(-1)) % step;
    for (const [kind, answer] of kinds.filter((_, i) => i % step === first)) {
      server.answer = answer;
      spoiling = true;
      const { code, stdout, stderr } = await run(...words);
      const text = stdout + stderr;
      for (const mark of OBEYED) if (text.includes(mark)) found.push(`${kind}: prints ${JSON.stringify(mark)}`);
      if (/\n\s+at /.test(text)) found.push(`${kind}: prints a stack: ${text}`);
      if (text.length > 5_000) found.push(`${kind}: prints ${text.length} characters`);
      // Names are any text; a push that was answered well once has nothing to send.
      if (spoiling && kind !== "names" && code === 0 && words[0] !== "push") found.push(`${kind}: answers 0`);
    }
    expect(found).toEqual([]);
    await server.stop();
  },
);
