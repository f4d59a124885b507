/** `sessarc team serve` on a socket, and what an operator does with it: start, stop, back up, restore. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import team from "../../plugins/team/index.ts";
import { runCommand, serveHere } from "../command.ts";
import { invite, joinOwner, makeSession, openNode, startServer } from "./node.ts";
import { binaries, engines, startCluster } from "./postgres.ts";

const run = promisify(execFile);

async function folder(name: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `sessarc-${name}-`));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A read token by the command line: shown once, with what an MCP client needs; listed; ended. */
async function readTokens(url: string, laptop: string): Promise<void> {
  const made = await runCommand(["team", "token", "--days", "30", "--name", "my agent"], laptop);
  const token = made.stdout.trim();
  expect([made.code, token]).toEqual([0, expect.stringMatching(/^[\w-]{43}$/)]);
  const address = url.replace(/\/$/, "");
  expect(made.stderr).toContain(
    `claude mcp add --transport http sessarc-team ${address}/mcp --header "Authorization: Bearer ${token}"`,
  );
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(new URL("/api/sessions", url), { headers })).status).toBe(200);
  const id = /--revoke ([0-9a-f]{16})/.exec(made.stderr)?.[1] ?? "";
  expect((await runCommand(["team", "tokens"], laptop)).stdout).toMatch(new RegExp(`${id} +my agent +Olga`));
  expect(await runCommand(["team", "tokens", "--revoke", id], laptop)).toMatchObject({ code: 1 });
  expect(await runCommand(["team", "tokens", "--revoke", id, "--yes"], laptop)).toMatchObject({ code: 0 });
  expect((await fetch(new URL("/api/sessions", url), { headers })).status).toBe(401);
  expect(await runCommand(["team", "token", "--days", "a year"], laptop)).toMatchObject({ code: 2 });
}

describe.each(engines())("sessarc team serve on $name", (engine) => {
  it("prints the owner's link once, serves, and keeps everything over a restart", async () => {
    const { database, stop } = await engine.open();
    onTestFinished(stop);
    const home = await folder("server");
    const laptop = await folder("laptop");
    const args = ["--database", database, "--data-dir", join(home, "data")];
    const first = await serveHere(args, home, {}, ["team", "serve"]);
    const link = /team join (http:\S+#[\w-]+)/.exec(first.stdout())?.[1];
    expect(link).toMatch(new RegExp(`^${first.url.replace(/\/$/, "")}/join#`));
    const joined = await runCommand(["team", "join", link ?? "", "--name", "Olga"], laptop);
    expect([joined.code, joined.stderr]).toEqual([0, expect.not.stringContaining("Error")]);
    await readTokens(first.url, laptop);
    const metrics = await (await fetch(new URL("/metrics", first.url))).text();
    expect(metrics).toContain('sessarc_team_requests_total{status="2xx"}');
    expect(
      (await fetch(new URL("/metrics", first.url), { headers: { "x-forwarded-for": "203.0.113.9" } })).status,
    ).toBe(401);
    const page = await fetch(first.url);
    expect([page.status, await page.text()]).toEqual([401, expect.stringContaining("sessarc team open")]);
    // Both pages that a new colleague sees are styled, by the one style that their policy allows.
    for (const path of ["/", "/join"]) {
      const answer = await fetch(new URL(path, first.url));
      const style = /<style>([\s\S]*)<\/style>/.exec(await answer.text())?.[1] ?? "";
      const hash = createHash("sha256").update(style).digest("base64");
      expect(answer.headers.get("content-security-policy")).toContain(`style-src 'sha256-${hash}'`);
      expect(answer.headers.get("content-security-policy")).not.toContain("script");
    }
    expect((await fetch(new URL("/api/sessions", first.url))).status).toBe(401);
    if (engine.name === "PGlite") {
      const second = serveHere([...args, "--blobs", join(home, "other")], home, {}, ["team", "serve"]);
      await expect(second).rejects.toThrow("The archive is open in another process");
    }
    expect(await first.stop()).toBe(0);
    expect(first.stderr()).toBe("");

    const port = new URL(first.url).port;
    const second = await serveHere([...args, "--port", port], home, {}, ["team", "serve"]);
    expect(second.stdout()).not.toContain("team join");
    const status = await runCommand(["team", "status", "--ask", "--json"], laptop);
    const { servers } = JSON.parse(status.stdout) as { servers: { person: { name: string }; problem: unknown }[] };
    expect(servers.map(({ person, problem }) => [person.name, problem])).toEqual([["Olga", null]]);
    expect(await second.stop()).toBe(0);
  });
});

it.skipIf(!binaries())("names the login that may not create the roles, and the commands a superuser runs", async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const database = await cluster.create();
  const name = new URL(database).pathname.slice(1);
  const commands = ["create role clerk login", `alter database "${name}" owner to clerk`];
  for (const command of commands) await run(join(binaries() ?? "", "psql"), [database, "-c", command]);
  const address = new URL(database);
  address.username = "clerk";
  const home = await folder("server");
  const args = ["--database", String(address), "--data-dir", join(home, "data"), "--port", "0"];
  const { code, stderr } = await runCommand(["team", "serve", ...args], home);
  expect(code).not.toBe(0);
  expect(stderr).toContain("and clerk may not create them");
  expect(stderr).toContain("TO clerk;");
});

it.skipIf(!binaries())(
  "is restored from pg_dump and the folder of bodies, on another cluster; machines bring what it lacks",
  async () => {
    const bin = binaries() ?? "";
    const one = await startCluster();
    const other = await startCluster();
    onTestFinished(async () => {
      await one.stop();
      await other.stop();
    });
    const server = await startServer({
      name: "one",
      open: async () => ({ database: await one.create(), stop: async () => {} }),
    });
    onTestFinished(() => server.close());
    const owner = await joinOwner(server);
    const mika = await invite(owner, "Mika");
    await owner.push(makeSession({ id: "codex:before", texts: ["written before the backup"], replies: [[1, 10]] }));
    await mika.push(makeSession({ id: "codex:own", texts: ["a private ocelot"], replies: [[2, 7]] }), mika.mine);

    // As docs/guides/team.md has it.
    const copy = await folder("backup");
    await run(join(bin, "pg_dump"), ["--format=custom", "--file", join(copy, "team.dump"), server.database]);
    await cp(join(server.folder, "blobs"), join(copy, "blobs"), { recursive: true });
    const late = makeSession({ id: "codex:late", texts: ["written after the backup"], replies: [[3, 5]] });
    await owner.push(late);

    const database = await other.create();
    for (const role of ["sessarc_member", "sessarc_writer"])
      await run(join(bin, "psql"), [database, "-v", "ON_ERROR_STOP=1", "-c", `create role ${role} nologin`]);
    await run(join(bin, "pg_restore"), [
      "--exit-on-error",
      "--no-owner",
      "--dbname",
      database,
      join(copy, "team.dump"),
    ]);
    const log: string[] = [];
    const restored = await openNode(database, copy, log);
    onTestFinished(() => restored.close());
    expect(await restored.ownerLink()).toBeUndefined();
    for (const machine of [owner, mika]) {
      machine.node = restored;
      await machine.renew();
    }
    const ids = async (machine: typeof owner) => {
      const { body } = await machine.ask<{ sessions: { id: string }[] }>("GET", "/api/sessions");
      return body.sessions.map(({ id }) => id.replace(/.*~/, "")).sort();
    };
    expect(await ids(owner)).toEqual(["before"]);
    expect(await ids(mika)).toEqual(["before", "own"]);
    expect(JSON.stringify((await owner.ask("GET", "/api/search?q=written")).body)).toContain("before the backup");
    expect(JSON.stringify((await owner.ask("GET", "/api/search?q=ocelot")).body)).not.toContain("private ocelot");
    const have = { sessions: [{ id: "codex:late", digest: late.digest }] };
    expect((await owner.ask("POST", "/team/api/have", have)).body.missing).toEqual(["codex:late"]);
    expect((await owner.push(late)).body).toMatchObject({ outcome: "imported" });
    expect(await ids(owner)).toEqual(["before", "late"]);
    expect([...log, ...server.log]).toEqual([]);
  },
);

describe("docs of the team server", () => {
  const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");

  it.each(["guides/team.md", "team/compose.yaml", "team/sessarc-team.service"])(
    "%s names options that there are",
    (path) => {
      const [command] = team().commands ?? [];
      expect(command?.options).toHaveProperty("host");
      const known = new Set([...Object.keys(command?.options ?? {}), "data-dir", "help"]);
      const lines = read(path)
        .replace(/\n +--/g, " --")
        .split("\n");
      const given = lines
        .filter((line) => /sessarc team serve/.test(line))
        .flatMap((line) => [...line.matchAll(/ --([a-z-]+)/g)].map(([, name]) => name));
      expect(given.length).toBeGreaterThan(0);
      expect(
        given.filter((name) => name !== undefined && !known.has(name) && !["help", "dry-run"].includes(name)),
      ).toEqual([]);
    },
  );

  it("lists every option of the server", () => {
    for (const option of ["database", "blobs", "address", "host", "port"])
      expect(read("guides/team.md")).toContain(`\`--${option}\``);
  });
});
