/** Receipts and blame on a team's server: as on the machine that pushed, and only of repositories and sessions that the person may read. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Commits, LineOrigins, Origins, Receipt } from "../../plugins/blame/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import type { Manifest } from "../../plugins/team/index.ts";
import { makeWorld, type World } from "../blame/_world.ts";
import { testEnv } from "../git/_repo.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { toDigest } from "./digest.ts";
import {
  invite,
  joinOwner,
  type Machine,
  makeSession,
  readOffers,
  startServer,
  type TestServer,
  type TestSession,
} from "./node.ts";
import { engines } from "./postgres.ts";
import { type Served, serveTeam } from "./served.ts";

const NAMES =
  "claude-code codex cursor opencode gemini-cli copilot archive insights causality health git blame security team".split(
    " ",
  );

async function machine(home: string): Promise<TestKernel> {
  const entries = defaultPlugins().filter(
    ({ specifier, options }) => options === undefined && NAMES.includes(specifier.slice("sessarc/plugins/".length)),
  );
  const loaded = await Promise.all(entries.map(async ({ load }) => (await load?.())?.default));
  return createTestKernel({
    home,
    env: { USER: "annamueller" },
    plugins: loaded.flatMap((make) => (typeof make === "function" ? [make()] : [])),
  });
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, env: testEnv(), stdio: ["ignore", "pipe", "pipe"] })
    .toString()
    .trim();

/** As an operator does. */
function mirror(from: string, to: string): void {
  mkdirSync(join(to, ".."), { recursive: true });
  git("/", "clone", "-q", "--mirror", from, to);
}

const newFolder = async (): Promise<string> => realpath(await mkdtemp(join(tmpdir(), "sessarc-receipts-")));

describe.each(engines())("receipts on $name", (engine) => {
  /** One of this seed has squashes, rebases, merges, reverts and renames. */
  const SEED = 5;
  let folder: string;
  let world: World;
  let t: TestKernel;
  let served: Served;
  let here: string;
  let there: string;
  let machineId: string;
  let cookie: string;

  beforeAll(async () => {
    folder = await newFolder();
    const root = join(folder, "work", "project");
    world = await makeWorld(SEED, join(folder, "home"), root);
    const subjects = git(root, "log", "--format=%s");
    expect(subjects).toMatch(/^Squash the branch$/m);
    mirror(root, join(folder, "repositories", "Team", "project.git"));
    served = await serveTeam(engine, { repositories: join(folder, "repositories") });
    t = await machine(join(folder, "home"));
    const send = async (method: string, path: string, body: object) => {
      const answer = await t.send<Record<string, unknown>>(method, path, body);
      expect([path, answer.status, answer.body]).toEqual([path, 200, answer.body]);
      return answer.body;
    };
    await send("POST", "/api/import", { all: true });
    await send("POST", "/api/team/join", { link: served.ownerLink, name: "Anna", machine: "laptop" });
    here = (await t.json<{ id: string }[]>("/api/projects?git=0"))[0]?.id ?? "";
    await send("PUT", "/api/team/projects", { add: [here], space: "Team" });
    const pushed = await send("POST", "/api/team/push", {});
    expect(pushed).toMatchObject({ failed: [] });
    const status = await t.json<{ servers: { machine: string }[] }>("/api/team");
    machineId = status.servers[0]?.machine ?? "";
    const page = await fetch(String((await send("POST", "/api/team/open", {})).url));
    cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
    there = (await askThere<{ id: string }[]>("/api/projects?git=0"))[0]?.id ?? "";
  });
  afterAll(async () => {
    await t?.close();
    await served?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The server's answer, with ids as the machine has them. */
  async function askThere<T>(path: string): Promise<T> {
    const answer = await fetch(`${served.url}${path}`, { headers: { cookie } });
    const text = await answer.text();
    expect([path, answer.status, answer.status === 200 ? "" : text]).toEqual([path, 200, ""]);
    return JSON.parse(text.replaceAll(`${machineId}~`, "")) as T;
  }
  const both = async <T>(path: (project: string) => string): Promise<[there: T, here: T]> => [
    await askThere<T>(path(there)),
    await t.json<T>(path(here)),
  ];

  /** The price of one prompt is in the log, which stays on the machine. */
  const withoutPrice = ({ writers, ...answer }: LineOrigins) => ({
    ...answer,
    project: null,
    writers: writers.map((one) => ({ ...one, cost: null })),
  });

  it("list the same commits with the same costs, sessions and fates", async () => {
    const [answer, expected] = await both<Commits>((id) => `/api/projects/${id}/commits?limit=1000`);
    expect(answer).toEqual(expected);
    expect(answer.commits.filter(({ microdollars }) => microdollars > 0).length).toBeGreaterThan(5);
    expect(answer.commits.some(({ sessions }) => sessions.length > 0)).toBe(true);
  });

  it("are the same for a squashed branch, a rebased one, a range, and HEAD's branch", async () => {
    const { commits } = await t.json<Commits>(`/api/projects/${here}/commits?limit=1000`);
    const squash = commits.find(({ subject }) => subject === "Squash the branch")?.hash ?? "";
    let sessions = 0;
    for (const range of ["last", squash, "main", `${squash}~3..main`, ...commits.slice(0, 8).map(({ hash }) => hash)]) {
      const query = new URLSearchParams({ range });
      const [answer, expected] = await both<Receipt>((id) => `/api/projects/${id}/receipt?${query}`);
      expect(answer).toEqual(expected);
      sessions += answer.sessions.length;
    }
    expect(sessions).toBeGreaterThan(3);
  });

  it("name the same writer of each line of each file, with prompt, price and reads", async () => {
    let written = 0;
    for (const path of world.files.keys()) {
      const query = (project: string) => `/api/git/blame?${new URLSearchParams({ project, path })}`;
      const [answer, expected] = await both<Origins>(query);
      expect(answer).toEqual(expected);
      written += answer.lines?.filter(({ writer }) => writer !== null).length ?? 0;
      const [details, wanted] = await both<LineOrigins>((project) => query(project).replace("blame", "writers"));
      expect(withoutPrice(details)).toEqual(withoutPrice(wanted));
    }
    expect(written).toBeGreaterThan(20);
  });
});

let replies = 1;

/** A session that writes a file at the commit's time, in a project that claims this first commit. */
function writing(id: string, rootCommit: string, path: string, content: string): TestSession {
  const session = makeSession({
    id,
    texts: [`write ${path}`, "done"],
    title: `${id} title`,
    replies: [[replies++, 1_000]],
  });
  const at = "2026-11-20T10:00:00.000Z";
  const call = {
    seq: 2,
    kind: "tool_use",
    text: "",
    at,
    tool_name: "Write",
    tool_use_id: "w1",
    tool_input: { file_path: path, content },
  };
  const bytes = Buffer.from(`${JSON.stringify(call)}\n`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const manifest: Manifest = {
    ...session.manifest,
    project: { kind: "repository", name: "app", key: `commit:${rootCommit}`, root: "/w/app", cwd: "/w/app" },
    events: [...session.manifest.events, sha256],
  };
  return { manifest, digest: toDigest(manifest), chunks: new Map([...session.chunks, [sha256, bytes]]) };
}

describe.each(engines())("repositories of a team's server on $name", (engine) => {
  const MARK = "walrus7731";
  let folder: string;
  let server: TestServer;
  let owner: Machine;
  let mika: Machine;
  let eve: Machine;
  let secret: number;
  let app: string;
  let vault: string;

  /** A repository with one file; its only commit. */
  function repository(name: string, content: string): string {
    const root = join(folder, "work", name);
    mkdirSync(root, { recursive: true });
    git(root, "init", "-q", "-b", "main");
    writeFileSync(join(root, "code.ts"), content);
    git(root, "add", "-A");
    const seconds = Date.parse("2026-11-20T10:05:00Z") / 1_000;
    execFileSync("git", ["commit", "-q", "-m", `Begin ${name}`], { cwd: root, env: testEnv(seconds) });
    return git(root, "rev-parse", "HEAD");
  }
  const CODE = "export const harbourGate = openTheGateOf(harbour);\nexport const tideTable = readTideTable(harbour);\n";

  beforeAll(async () => {
    folder = await newFolder();
    const repositories = join(folder, "repositories");
    app = repository("app", CODE);
    vault = repository("vault", `${MARK} is the code of the vault\n`);
    mirror(join(folder, "work/app"), join(repositories, "Team/app.git"));
    mirror(join(folder, "work/vault"), join(repositories, "Secret/vault.git"));
    // Bound to no space.
    mirror(join(folder, "work/vault"), join(repositories, "vault.git"));
    // Links, and a folder whose only repository is the one around it.
    symlinkSync(join(repositories, "Secret/vault.git"), join(repositories, "Team/link.git"));
    mkdirSync(join(repositories, "Team/inside.git"));
    mirror(join(folder, "work/vault"), join(repositories, "Team/parts.git"));
    await rename(join(repositories, "Team/parts.git/objects"), join(folder, "objects"));
    symlinkSync(join(folder, "objects"), join(repositories, "Team/parts.git/objects"));
    git(repositories, "init", "-q", "-b", "main");
    git(repositories, "fetch", "-q", join(folder, "work/vault"), "main");
    git(repositories, "reset", "-q", "FETCH_HEAD");
    server = await startServer(engine, { repositories });
    owner = await joinOwner(server);
    mika = await invite(owner, "Mika");
    eve = await invite(owner, "Eve");
    const made = await owner.ask<{ id: number }>("POST", "/team/api/spaces", {
      name: "Secret",
      kind: "project",
      people: [mika.person],
    });
    secret = made.body.id;
    const ok = async (answer: Promise<{ status: number; body: unknown }>) => {
      const { status, body } = await answer;
      expect([status, body]).toEqual([200, body]);
    };
    await ok(mika.push(writing("claude-code:private", app, "/w/app/code.ts", CODE.split("\n")[0] ?? ""), mika.mine));
    await ok(eve.push(writing("claude-code:eves", app, "/w/app/code.ts", CODE.split("\n")[1] ?? "")));
    // Another file of that name, in a folder of the repository.
    await ok(eve.push(writing("claude-code:lib", app, "/w/app/lib/code.ts", CODE.split("\n")[0] ?? "")));
    await ok(mika.push(writing("claude-code:vault", vault, "/w/app/code.ts", MARK), secret));
    await ok(eve.push(writing("claude-code:claim", vault, "/w/app/code.ts", "nothing"), eve.mine));
    await ok(eve.push(writing("claude-code:claimed", vault, "/w/app/code.ts", "nothing"), eve.team));
    await ok(owner.push(writing("claude-code:unknown", "0".repeat(40), "/w/app/code.ts", "nothing")));
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const readProject = async (commit: string) =>
    (await server.rows<{ id: string }>("select id from project where key = ?", [`shared:commit:${commit}`]))[0]?.id ??
    "";
  const questions = (id: string) => [
    `/api/projects/${id}/commits`,
    `/api/projects/${id}/receipt?range=main`,
    `/api/git/at?project=${id}&ts=2026-11-21`,
    `/api/git/tree?project=${id}&commit=${vault}`,
    `/api/git/file?project=${id}&commit=${vault}&path=code.ts`,
    `/api/git/blame?project=${id}&path=code.ts`,
    `/api/git/writers?project=${id}&path=code.ts`,
    `/api/git/line?project=${id}&path=code.ts&line=1`,
  ];

  it("are read by the people of their space, not by those who claim their first commit", async () => {
    const id = await readProject(vault);
    for (const path of questions(id)) expect([path, (await mika.ask("GET", path)).status]).toEqual([path, 200]);
    for (const thief of [eve, owner])
      for (const path of questions(id)) {
        const { status, body } = await thief.ask("GET", path);
        expect([path, status, body.code]).toEqual([path, 422, "TEAM_NO_REPOSITORY"]);
        expect(JSON.stringify(body)).not.toContain(MARK);
      }
  });

  it("answer a project without one with its own code and a remedy, and the page of a server without any leaves their routes out", async () => {
    const id = await readProject("0".repeat(40));
    const { status, body } = await owner.ask("GET", `/api/projects/${id}/commits`);
    expect([status, body]).toMatchObject([
      422,
      { code: "TEAM_NO_REPOSITORY", fix: expect.stringContaining("--repositories") },
    ]);
    const offers = await readOffers();
    expect(offers.named(true)).toContain("GET /git/blame");
    expect(offers.named(false)).not.toContain("GET /git/blame");
  });

  it("name no session that the person may not read: its lines have no writer and no cost", async () => {
    const id = await readProject(app);
    const writers = async (machine: Machine) => {
      const { body } = await machine.ask<Origins>("GET", `/api/git/blame?project=${id}&path=code.ts`);
      return body.lines?.map(({ writer }) => body.writers[writer ?? -1]?.title ?? null);
    };
    expect(await writers(eve)).toEqual([null, "claude-code:eves title"]);
    expect(await writers(mika)).toEqual(["claude-code:private title", "claude-code:eves title"]);
    const receipt = await eve.ask<Receipt>("GET", `/api/projects/${id}/receipt?range=last`);
    expect(receipt.body.sessions.map(({ title }) => title)).toEqual(["claude-code:eves title"]);
    expect(JSON.stringify(receipt.body)).not.toContain("private");
    expect((await mika.ask<Receipt>("GET", `/api/projects/${id}/receipt?range=last`)).body.sessions).toHaveLength(2);
  });

  it("refuse options, paths of the server's disk, and other repositories in every parameter", async () => {
    const id = await readProject(app);
    const out = join(folder, "written");
    const path = encodeURIComponent(join(folder, "repositories/Secret/vault.git/HEAD"));
    for (const [question, code] of [
      [`/api/git/writers?path=${path}`, "INVALID_INPUT"],
      [`/api/git/writers?project=${id}&path=${path}`, "INVALID_INPUT"],
      [`/api/git/line?project=${id}&path=${path}&line=1`, "INVALID_INPUT"],
      [`/api/git/blame?project=${id}&path=${path}`, "FILE_NOT_FOUND"],
      [`/api/git/blame?project=${id}&path=code.ts&commit=--output=${out}`, "INVALID_INPUT"],
      [`/api/git/writers?project=${id}&path=code.ts&at=--output=${out}`, "COMMIT_NOT_FOUND"],
      [`/api/projects/${id}/receipt?range=--output=${out}`, "COMMIT_NOT_FOUND"],
      [`/api/projects/${id}/receipt?range=${vault}`, "COMMIT_NOT_FOUND"],
      [`/api/projects/${id}/commits?branch=--output=${out}`, "COMMIT_NOT_FOUND"],
      [`/api/git/tree?project=${id}&commit=${vault}`, "COMMIT_NOT_FOUND"],
      [`/api/git/file?project=${id}&commit=${app}&path=${path}`, "FILE_NOT_FOUND"],
      [`/api/git/file?project=${id}&commit=${vault}&path=code.ts`, "COMMIT_NOT_FOUND"],
      [`/api/git/blame?project=${encodeURIComponent(join(folder, "work/vault"))}&path=code.ts`, "PROJECT_NOT_FOUND"],
    ] as const) {
      const { status, body } = await eve.ask("GET", question);
      expect([question, status < 500, body.code]).toEqual([question, true, code]);
    }
    expect((await eve.ask("POST", `/api/projects/${id}/git-notes`, { range: "main" })).status).toBe(422);
    expect(existsSync(out)).toBe(false);
  });

  it("are closed to a person at once who leaves the space", async () => {
    const path = `/api/git/blame?project=${await readProject(vault)}&path=code.ts`;
    expect((await mika.ask("GET", path)).status).toBe(200);
    await owner.ask("DELETE", `/team/api/spaces/${secret}/people`, { people: [mika.person] });
    expect((await mika.ask("GET", path)).status).toBeGreaterThanOrEqual(400);
    expect(server.log).toEqual([]);
  });
});

it("a server does not start with a folder of repositories that is not there", async () => {
  const [engine] = engines();
  if (!engine) throw new Error("no engine");
  await expect(startServer(engine, { repositories: "/nonexistent/repositories" })).rejects.toMatchObject({
    code: "TEAM_REPOSITORIES_MISSING",
  });
});
