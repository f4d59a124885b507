/** A machine in a team: what leaves it, when, and what happens on bad lines. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import security from "../../plugins/security/index.ts";
import team, { type PushReport, type TeamStatus, type Withdrawal } from "../../plugins/team/index.ts";
import { makeTempDir } from "../_setup.ts";
import { claudeTurn } from "../claude-turn.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { SESSION, toLog } from "../security/_kernel.ts";
import { plant, readable, rowsWith } from "./secrets.ts";
import { type Trouble, WireServer } from "./wire-server.ts";

const plugins = () => [archive(), claude(), security(), team({ retryMs: 1 })];
const USER = "annamueller";
const NAME = "aaaaaaaa-0000-4000-8000-00000000000a";

interface Machine {
  t: TestKernel;
  home: string;
  server: WireServer;
  projects: { id: string; name: string; sessionCount: number; subagentCount: number }[];
}

/** A machine with the sample sessions of one assistant that has joined. */
async function joined(server?: WireServer): Promise<Machine> {
  const wire = server ?? (await new WireServer().start());
  const home = await makeTempDir();
  await writeDemo({ home });
  const t = await createTestKernel({ home, plugins: plugins(), env: { USER } });
  await t.send("POST", "/api/import", { all: true });
  const { status, body } = await t.send("POST", "/api/team/join", { link: wire.link });
  expect([status, body]).toMatchObject([200, {}]);
  return { t, home, server: wire, projects: await t.json("/api/projects?git=0") };
}

const choose = (t: TestKernel, add: readonly string[], space?: string) =>
  t.send<TeamStatus>("PUT", "/api/team/projects", { add, space });
const push = async (t: TestKernel, body: object = {}) => t.send<PushReport>("POST", "/api/team/push", body);
const all = ({ projects }: Machine) => projects.map(({ id }) => id);
const readIds = async (t: TestKernel) =>
  (await t.kernel.storage.db.all<{ id: string }>("select id from session order by id")).map(({ id }) => id);

describe("joining", () => {
  it("makes a key that only the user may read, and only its public part leaves", async () => {
    const { t, home, server } = await joined();
    const folder = join(home, "data/team/keys");
    const [name = ""] = readdirSync(folder);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const pem = readFileSync(join(folder, name), "utf8");
    expect(pem).toContain("PRIVATE KEY");
    await push(t);
    expect(server.text()).not.toContain(pem.split("\n")[1]);
    const status = await t.json<TeamStatus>("/api/team?ask=1");
    expect(status.servers).toMatchObject([
      { address: server.address, person: { name: "Anna" }, space: 1, projects: [], pushed: 0 },
    ]);
    expect(server.received.filter(({ path }) => path.startsWith("/sessions") || path.startsWith("/blobs"))).toEqual([]);
  });

  it.each([
    ["not a link", "it is not an address"],
    ["http://team.example.com/join#cccccccccccccccccccccc", "https://"],
    ["https://a:b@team.example.com/join#cccccccccccccccccccccc", "password"],
    ["https://team.example.com/join", "no code"],
  ])("%s is refused", async (link, reason) => {
    const t = await createTestKernel({ plugins: plugins() });
    expect((await t.send("POST", "/api/team/join", { link })).body).toMatchObject({
      code: "TEAM_LINK_INVALID",
      message: expect.stringContaining(reason),
    });
  });

  it("a join that fails leaves no key, a second one is refused, leaving forgets the key", async () => {
    const { t, home, server } = await joined();
    expect((await t.send("POST", "/api/team/join", { link: server.link })).body).toMatchObject({ code: "TEAM_JOINED" });
    expect(readdirSync(join(home, "data/team/keys"))).toHaveLength(1);
    expect((await t.send("POST", "/api/team/leave", {})).body).toEqual({ address: server.address, pushed: 0 });
    expect(readdirSync(join(home, "data/team/keys"))).toEqual([]);
    server.trouble = () => ({ status: 403, code: "TEAM_INVITE_INVALID" });
    expect((await t.send("POST", "/api/team/join", { link: server.link })).body).toMatchObject({
      code: "TEAM_REFUSED",
    });
    expect(readdirSync(join(home, "data/team/keys"))).toEqual([]);
    expect((await push(t)).body).toMatchObject({ code: "TEAM_NOT_JOINED" });
  });
});

describe("choosing and pushing", () => {
  it("nothing leaves before a project is chosen, and then only its sessions, to its space", async () => {
    const machine = await joined();
    const { t, server, projects } = machine;
    expect((await push(t)).body).toMatchObject({ code: "TEAM_NO_PROJECTS" });
    const [one] = projects;
    expect((await choose(t, [one?.id ?? ""], "everyone")).body.servers[0]?.projects).toMatchObject([
      { id: one?.id, space: 2 },
    ]);
    expect((await choose(t, ["no such"])).body).toMatchObject({ code: "PROJECT_NOT_FOUND" });
    expect((await choose(t, [one?.id ?? ""], "nowhere")).body).toMatchObject({ code: "TEAM_SPACE_UNKNOWN" });
    const { status, body } = await push(t);
    expect([status, body.failed]).toEqual([200, []]);
    expect(body.pushed).toBe((one?.sessionCount ?? 0) + (one?.subagentCount ?? 0));
    expect(
      [...server.sessions.values()].every(({ space, manifest }) => space === 2 && manifest.project.name === one?.name),
    ).toBe(true);
    // Nothing changed: nothing but questions.
    const before = server.received.length;
    expect((await push(t)).body).toMatchObject({ pushed: 0, unchanged: body.pushed, bytes: 0 });
    expect(server.received.slice(before).map(({ path }) => path)).toEqual(["/token", "/have"]);
  });

  it("a preview sends nothing and says exactly what would leave", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    const before = server.received.length;
    const { body: preview } = await push(t, { dryRun: true });
    const asked = server.received.slice(before);
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set(["/token", "/blobs/have"]));
    const { body: real } = await push(t);
    const { dryRun: _, ...would } = preview;
    expect({ ...would, doubtful: would.doubtful.length }).toEqual({
      ...real,
      dryRun: undefined,
      doubtful: real.doubtful.length,
    });
    const sent = server.received.filter(({ method }) => method === "PUT");
    expect(sent.reduce((sum, { body }) => sum + body.length, 0)).toBe(preview.bytes);
    expect((await push(t, { dryRun: true })).body).toMatchObject({ pushed: 0, bytes: 0, unchanged: real.pushed });
  });

  it("one project, one session, and sessions since a day", async () => {
    const machine = await joined();
    const { t, server, projects } = machine;
    await choose(t, all(machine));
    const [id = ""] = await readIds(t);
    expect((await push(t, { sessions: [id] })).body).toMatchObject({ pushed: 1 });
    expect([...server.sessions.keys()]).toEqual([id]);
    expect((await push(t, { since: "2100-01-01T00:00:00Z" })).body).toMatchObject({ pushed: 0 });
    const [project] = projects;
    await push(t, { projects: [project?.name] });
    expect(
      new Set([...server.sessions.values()].map(({ manifest }) => manifest.project.name)).has(project?.name ?? ""),
    ).toBe(true);
  });

  it("sessions that move to a project from which nothing is pushed are named, by a push and by the status", async () => {
    const server = await new WireServer().start();
    const home = await makeTempDir();
    const folder = join(home, ".claude/projects/-w");
    mkdirSync(folder, { recursive: true });
    // Without a working directory its project is that of the assistant.
    const rows = claudeTurn(1).map((row) => ({ sessionId: NAME, ...row, cwd: undefined }));
    writeFileSync(join(folder, `${NAME}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const t = await createTestKernel({ home, plugins: plugins(), env: { USER } });
    await t.send("POST", "/api/import", { all: true });
    await t.send("POST", "/api/team/join", { link: server.link });
    const [project] = await t.json<{ id: string }[]>("/api/projects?git=0");
    await choose(t, [project?.id ?? ""]);
    expect((await push(t)).body).toMatchObject({ pushed: 1, moved: [] });

    mkdirSync(join(home, "work/vault"), { recursive: true });
    const moved = await t.send("POST", `/api/projects/${project?.id}/associate`, { path: join(home, "work/vault") });
    expect(moved.status).toBe(200);
    expect((await push(t)).body).toMatchObject({
      pushed: 0,
      moved: [{ id: `claude-code:${NAME}`, project: "vault" }],
    });
    expect((await t.json<TeamStatus>("/api/team")).servers).toMatchObject([{ pushed: 1, moved: 1 }]);
    await choose(t, ["vault"]);
    expect((await push(t)).body).toMatchObject({ pushed: 1, moved: [] });
  });

  it("a rename is pushed, with the name redacted; chunks that are there are not sent again", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    await push(t);
    const [id = ""] = await readIds(t);
    const [secret] = plant(4).filter(({ rule }) => rule === "github-pat");
    await t.send("PATCH", `/api/sessions/${id}`, { name: `with ${secret?.text}` });
    const puts = () => server.received.filter(({ method }) => method === "PUT").length;
    const before = puts();
    expect((await push(t)).body).toMatchObject({ pushed: 1, bytes: 0 });
    expect(puts()).toBe(before);
    expect(server.sessions.get(id)?.manifest.name).toContain("[REDACTED:");
  });
});

it("no secret of any rule, no home and no user name are in any byte that leaves", async () => {
  const server = await new WireServer().start();
  const planted = plant(11);
  const home = await makeTempDir();
  const { mkdirSync, writeFileSync } = await import("node:fs");
  const folder = join(home, ".claude/projects/-w-app");
  mkdirSync(folder, { recursive: true });
  const branch = `fix/${planted.find(({ rule }) => rule === "github-pat")?.value}`;
  const rows = [{ role: "user" as const, text: `in ${home}/work of ${USER}` }, ...rowsWith(planted)];
  writeFileSync(join(folder, `${SESSION.split(":")[1]}.jsonl`), toLog(rows, `${home}/work/app`, branch));
  const t = await createTestKernel({ home, plugins: plugins(), env: { USER } });
  await t.send("POST", "/api/import", { all: true });
  const short = planted.find(({ rule }) => rule === "github-pat")?.text;
  await t.send("PATCH", `/api/sessions/${SESSION}`, { name: `with ${short}` });
  await t.send("POST", "/api/team/join", { link: server.link });
  const projects = await t.json<{ id: string }[]>("/api/projects?git=0");
  for (const { id } of projects) await t.send("PATCH", `/api/projects/${id}`, { name: `app ${short}` });
  await choose(
    t,
    projects.map(({ id }) => id),
  );
  const { body } = await push(t);
  expect(body).toMatchObject({ pushed: 1, failed: [] });
  const text = server.text();
  const leaks = planted.flatMap((one) =>
    readable(one, text) === undefined ? [] : [`${one.rule}: ${readable(one, text)}`],
  );
  expect(leaks).toEqual([]);
  // The join names the user, who chose it.
  const pushed = server.received
    .filter(({ path }) => path !== "/join")
    .map(({ headers, path }) => headers + path)
    .join();
  expect(pushed).not.toContain(USER);
  const blobs = [...server.blobs.values()].join("\n") + JSON.stringify([...server.sessions.values()]);
  expect(blobs).not.toContain(home);
  expect(blobs).not.toContain(USER);
  expect(body.doubtful.length).toBeGreaterThan(0);
});

describe("bad lines", () => {
  /** What is there when all went well. */
  async function whole(): Promise<Map<string, string>> {
    const machine = await joined();
    await choose(machine.t, all(machine));
    await push(machine.t);
    return new Map([...machine.server.sessions].map(([id, { manifest }]) => [id, JSON.stringify(manifest.events)]));
  }
  const stored = ({ server }: Machine) =>
    new Map([...server.sessions].map(([id, { manifest }]) => [id, JSON.stringify(manifest.events)]));
  const once = ({ server }: Machine) => [...server.imports.values()].every((count) => count === 1);

  const every =
    (n: number, what: Exclude<ReturnType<Trouble>, undefined>): Trouble =>
    ({ count }) =>
      count % n === 0 ? what : undefined;
  it.each<[string, Trouble]>([
    ["answers 503 with retry-after", every(3, { status: 503, headers: { "retry-after": "0" } })],
    ["answers 502 from a proxy", every(4, { status: 502 })],
    ["limits requests", every(5, { status: 429, headers: { "retry-after": "0" } })],
    ["cuts connections before it acts", every(3, "cut")],
    ["cuts connections after it acted", every(4, "cut-after")],
  ])("a server that %s gets everything once", async (_, trouble) => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    server.trouble = trouble;
    const { body } = await push(t);
    expect(body.failed).toEqual([]);
    expect(stored(machine).size).toBe((await readIds(t)).length);
    expect(once(machine)).toBe(true);
  });

  it("a token that is revoked in the middle is renewed", async () => {
    const machine = await joined();
    await choose(machine.t, all(machine));
    let asked = 0;
    machine.server.trouble = ({ path }) => {
      if (path === "/sessions" && ++asked % 3 === 0) machine.server.tokens.clear();
      return undefined;
    };
    expect((await push(machine.t)).body).toMatchObject({ failed: [] });
    expect(stored(machine).size).toBe((await readIds(machine.t)).length);
    expect(once(machine)).toBe(true);
  });

  it("offline in the middle of a session: the next push sends the rest of it alone", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    let puts = 0;
    server.trouble = ({ method }) => (method === "PUT" && ++puts > 4 ? "cut" : undefined);
    expect((await push(t)).body).toMatchObject({ code: "TEAM_UNREACHABLE" });
    t.errors.splice(0);
    const there = new Set(server.blobs.keys());
    expect(there.size).toBeGreaterThan(0);
    server.trouble = () => undefined;
    const before = server.received.length;
    expect((await push(t)).body).toMatchObject({ failed: [] });
    const again = server.received
      .slice(before)
      .filter(({ method, path }) => method === "PUT" && there.has(path.slice(7)));
    expect(again).toEqual([]);
    expect(stored(machine).size).toBe((await readIds(t)).length);
  });

  it("a server that is full ends the push, which says what is full and what to do, at its first session", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    let asked = 0;
    server.trouble = ({ path }) => {
      if (path !== "/sessions") return undefined;
      asked++;
      return { status: 507, code: "TEAM_FULL" };
    };
    const { status, body } = await push(t);
    expect([status, body]).toMatchObject([
      422,
      { code: "TEAM_REFUSED", message: expect.stringContaining("TEAM_FULL") },
    ]);
    t.errors.splice(0);
    expect(asked).toBeLessThanOrEqual(3);
    server.trouble = () => undefined;
    expect((await push(t)).body).toMatchObject({ failed: [] });
    expect(stored(machine).size).toBe((await readIds(t)).length);
  });

  it("a server that was restored from an older backup gets back what it lost, and nothing else", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    await push(t);
    const ids = [...server.sessions.keys()];
    const lost = ids.slice(0, 3);
    const kept = new Map(server.sessions);
    for (const id of lost) {
      for (const sha256 of server.sessions.get(id)?.manifest.events ?? []) server.blobs.delete(sha256);
      server.sessions.delete(id);
    }
    expect((await push(t)).body).toMatchObject({ pushed: 3, unchanged: ids.length - 3, failed: [] });
    expect(server.sessions).toEqual(kept);
  });

  it("a chunk that the server loses between two questions is sent again", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    let done = false;
    server.trouble = ({ path }) => {
      if (path === "/sessions" && !done) {
        done = true;
        server.blobs.clear();
      }
      return undefined;
    };
    expect((await push(t)).body).toMatchObject({ failed: [] });
    expect(stored(machine).size).toBe((await readIds(t)).length);
  });

  it("equal sessions of two machines are equal chunks", async () => {
    const [a, b] = [await whole(), await whole()];
    expect([...a.values()].length).toBeGreaterThan(3);
    expect([...a.keys()].sort()).toEqual([...b.keys()].sort());
  });
});

describe("withdrawing", () => {
  it("removes a session there, keeps the receipt, and no push brings it back unless it is asked to", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    await push(t);
    const [id = ""] = await readIds(t);
    const { body } = await t.send<Withdrawal>("POST", "/api/team/withdraw", { sessions: [id] });
    expect(body.removed.map((one) => one.id)).toEqual([id]);
    expect(server.sessions.has(id)).toBe(false);
    expect((await push(t)).body).toMatchObject({ pushed: 0 });
    expect(server.sessions.has(id)).toBe(false);
    expect((await push(t, { again: true })).body).toMatchObject({ pushed: 1 });
    expect(server.sessions.has(id)).toBe(true);
  });

  it("of a project removes all of it, also what was deleted here, and takes the project back", async () => {
    const machine = await joined();
    const { t, server, projects } = machine;
    await choose(t, all(machine));
    await push(t);
    const [project] = projects;
    const { sessions } = await t.json<{ sessions: { id: string }[] }>(`/api/sessions?project=${project?.id}`);
    const [one] = sessions;
    expect((await t.send("DELETE", `/api/sessions/${one?.id}`)).body).toMatchObject({ pushedTo: [server.address] });
    await t.send("POST", "/api/team/withdraw", { project: project?.id });
    expect([...server.sessions.values()].filter(({ manifest }) => manifest.project.name === project?.name)).toEqual([]);
    const status = await t.json<TeamStatus>("/api/team");
    expect(status.servers[0]?.projects.map(({ id }) => id)).not.toContain(project?.id);
  });

  describe("when something is deleted here", () => {
    const readPushed = async (t: TestKernel, body: object) =>
      (await t.send<{ servers: { address: string; sessions: number }[] }>("POST", "/api/team/pushed", body)).body
        .servers;
    const readParent = async (t: TestKernel) => {
      const row = await t.kernel.storage.db.get<{ id: string; parent: string }>(
        "select id, parent_id as parent from session where parent_id is not null order by id",
      );
      return [row?.parent ?? "", row?.id ?? ""] as const;
    };

    it("what is on a server is counted first, sub-agents and all, and stays there without a word", async () => {
      const machine = await joined();
      const { t, server, projects } = machine;
      const [parent, child] = await readParent(t);
      expect(await readPushed(t, { sessions: [parent] })).toEqual([]);
      await choose(t, all(machine));
      await push(t);
      expect(await readPushed(t, { sessions: [parent] })).toMatchObject([{ address: server.address }]);
      expect((await readPushed(t, { sessions: [parent] }))[0]?.sessions).toBeGreaterThan(1);
      const project = projects.find(({ sessionCount }) => sessionCount > 1);
      const inProject = (project?.sessionCount ?? 0) + (project?.subagentCount ?? 0);
      expect(await readPushed(t, { project: project?.id })).toEqual([{ address: server.address, sessions: inProject }]);
      expect((await t.send("POST", "/api/team/pushed", {})).status).toBe(400);

      const there = server.sessions.size;
      expect((await t.send("DELETE", `/api/sessions/${parent}`)).body).toMatchObject({ pushedTo: [server.address] });
      expect((await t.send("DELETE", `/api/projects/${project?.id}`)).body).toMatchObject({
        pushedTo: [server.address],
      });
      expect(server.sessions.size).toBe(there);
      expect(server.sessions.has(child)).toBe(true);
    });

    it("it is withdrawn there on request, sub-agents and all, before it is deleted here", async () => {
      const machine = await joined();
      const { t, server } = machine;
      await choose(t, all(machine));
      await push(t);
      const [parent, child] = await readParent(t);
      expect((await t.send("DELETE", `/api/sessions/${parent}?withdraw=1`)).body).toMatchObject({
        deleted: true,
        pushedTo: [],
      });
      expect([server.sessions.has(parent), server.sessions.has(child)]).toEqual([false, false]);
      expect(server.sessions.size).toBeGreaterThan(0);
      for (const id of all(machine))
        expect((await t.send("DELETE", `/api/projects/${id}?withdraw=1`)).body).toMatchObject({ pushedTo: [] });
      expect([...server.sessions.keys()]).toEqual([]);
      expect((await push(t)).body).toMatchObject({ pushed: 0 });
    });

    it("nothing is deleted here while the server cannot be asked", async () => {
      const machine = await joined();
      const { t, server, projects } = machine;
      await choose(t, all(machine));
      await push(t);
      const before = await readIds(t);
      await server.stop();
      const [parent] = await readParent(t);
      expect((await t.send("DELETE", `/api/sessions/${parent}?withdraw=1`)).body).toMatchObject({
        code: "TEAM_UNREACHABLE",
      });
      expect((await t.send("DELETE", `/api/projects/${projects[0]?.id}?withdraw=1`)).body).toMatchObject({
        code: "TEAM_UNREACHABLE",
      });
      expect(await readIds(t)).toEqual(before);
      t.errors.splice(0);
    });
  });

  it("what another machine of the person withdrew is left out of the next push", async () => {
    const machine = await joined();
    const { t, server } = machine;
    await choose(t, all(machine));
    await push(t);
    const [id = ""] = await readIds(t);
    server.sessions.delete(id);
    server.withdrawn.add(id);
    expect((await push(t)).body).toMatchObject({ pushed: 0, withdrawn: 1, failed: [] });
  });
});
