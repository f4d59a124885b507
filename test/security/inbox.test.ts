/** The inbox of leaked secrets: found while sessions are imported, by fingerprint, with their places. */
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import gitPlugin from "../../plugins/git/index.ts";
import type { Leak, LeakCommits, LeakGroups, LeakMarks, LeakPage, LeakPlace } from "../../plugins/security/index.ts";
import { builtinRules, rulesVersion } from "../../plugins/security/secrets/engine.ts";
import { LEAKS_VERSION } from "../../plugins/security/secrets/leaks/version.ts";
import { makeTempDir } from "../_setup.ts";
import { plugins, type Row, SESSION, startWith, toLog } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const token = `ghp_${letters(36, 1)}`;
const key = `AKIA${letters(16, 2).toUpperCase()}`;

const rows: Row[] = [
  { role: "user", text: "push it" },
  { role: "call", id: "c1", input: { command: "cat .env" } },
  { role: "result", id: "c1", text: `GITHUB_TOKEN=${token}\nPORT=80` },
  { role: "call", id: "c2", input: { command: `git push https://x:${token}@github.com/a/b` } },
  { role: "result", id: "c2", text: "done" },
  { role: "call", id: "c3", name: "Write", input: { file_path: "ci.yml", content: `token: ${token}` } },
  { role: "assistant", text: "pushed" },
];

type T = Awaited<ReturnType<typeof startWith>>;
const inbox = (t: T, query = "?") => t.json<LeakPage>(`/api/security/leaks${query}&whole=1`);
const only = async (t: T) => {
  const { leaks } = await inbox(t);
  expect(leaks).toHaveLength(1);
  return leaks[0] as Leak;
};

describe("security: the inbox of leaks", () => {
  it("names each secret once, with where it was read and written and by which command", async () => {
    const cwd = await makeTempDir();
    await writeFile(join(cwd, ".env"), `GITHUB_TOKEN=${token}\n`);
    const t = await startWith(rows, { cwd });
    const page = await inbox(t);
    expect(page).toMatchObject({
      pending: 0,
      unchecked: 0,
      nextCursor: null,
      totals: { open: 1, sessions: 1, inFiles: 1 },
    });
    const leak = await only(t);
    expect(leak).toMatchObject({ confidence: "definite", sessions: 1, state: "open", files: [join(cwd, ".env")] });
    const one = await t.json<{ places: LeakPlace[] }>(`/api/security/leaks/${leak.id}`);
    expect(one.places.map(({ kind, tool, path, command }) => [kind, tool, path, command]).sort()).toEqual([
      ["tool_result", "Bash", null, "cat .env"],
      ["tool_use", "Bash", null, expect.stringContaining("git push")],
      ["tool_use", "Write", "ci.yml", null],
    ]);
    expect(JSON.stringify([page, one])).not.toContain(token.slice(4, 20));
  });

  it("names the files that hold it, also when it was asked before the sessions were searched", async () => {
    const cwd = await makeTempDir();
    await writeFile(join(cwd, ".env"), `GITHUB_TOKEN=${token}\n`);
    const t = await startWith(rows, { cwd });
    const page = () => t.json<LeakPage>("/api/security/leaks");
    // Asking has the sessions searched, which may be over before the answer.
    expect((await page()).pending).toBeLessThanOrEqual(1);
    await t.kernel.inject("importer").prepare();
    expect(await page()).toMatchObject({ pending: 0, totals: { open: 1, inFiles: 1 } });
  });

  it("finds what only results and messages hold, which a trial of the rules over calls does not", async () => {
    const t = await startWith([
      { role: "user", text: `my key is aws_access_key_id = ${key}, aws_secret_access_key = "${letters(40, 3)}"` },
      { role: "call", id: "c1", input: { command: "ls" } },
      { role: "result", id: "c1", text: `token ${token}` },
    ]);
    expect((await inbox(t)).totals.open).toBeGreaterThanOrEqual(2);
  });

  it("keeps a mark by fingerprint when the session is deleted and imported again", async () => {
    const t = await startWith(rows);
    const { id } = await only(t);
    expect((await t.send("PATCH", `/api/security/leaks/${id}`, { state: "rotated" })).body).toMatchObject({
      state: "rotated",
    });
    expect((await inbox(t)).totals).toMatchObject({ open: 0, rotated: 1, sessions: 0 });
    await t.send("DELETE", `/api/sessions/${encodeURIComponent(SESSION)}`);
    expect((await inbox(t, "?state=all")).leaks).toEqual([]);
    expect((await t.send("PATCH", `/api/security/leaks/${id}`, { state: "open" })).body).toMatchObject({
      code: "LEAK_NOT_FOUND",
    });
    await t.send("POST", "/api/import", { sessions: [SESSION], all: true });
    expect((await inbox(t, "?state=rotated")).leaks.map((leak) => leak.id)).toEqual([id]);
    expect((await t.send("PATCH", `/api/security/leaks/${id}`, { state: "open" })).body).toMatchObject({
      state: "open",
    });
    expect((await inbox(t)).totals.open).toBe(1);
  });

  it("counts a log that grew once, and finds the call of an output that came later", async () => {
    const t = await startWith(rows.slice(0, 2));
    expect((await inbox(t)).leaks).toEqual([]);
    const file = join(t.home, ".claude/projects/-w-app", `${SESSION.split(":")[1]}.jsonl`);
    const before = await readFile(file, "utf8");
    await appendFile(file, toLog(rows, "/w/app", "main").slice(before.length));
    await t.send("POST", "/api/import", { all: true });
    const leak = await only(t);
    expect(leak.count).toBe(3);
    const { places } = await t.json<{ places: LeakPlace[] }>(`/api/security/leaks/${leak.id}`);
    expect(places.find(({ kind }) => kind === "tool_result")?.command).toBe("cat .env");
  });

  it("names who issued a secret with the page that revokes it, its projects, and the line of each file and place", async () => {
    const cwd = await makeTempDir();
    await writeFile(join(cwd, ".env"), `PORT=80\n\nGITHUB_TOKEN=${token}\nAGAIN=${token}\n`);
    const t = await startWith([{ role: "user", text: `use ${token} for the push` }, ...rows.slice(1)], { cwd });
    const leak = await only(t);
    expect(leak).toMatchObject({
      provider: { name: "GitHub", revokeUrl: "https://github.com/settings/tokens" },
      lines: [{ path: join(cwd, ".env"), line: 3 }],
      projects: [{ id: leak.place.projectId, name: basename(cwd) }],
      place: { title: expect.stringMatching(/^use .*for the push$/) },
    });
    expect(JSON.stringify(leak)).not.toContain(token.slice(4, 20));
  });

  it("knows only https pages, of rules that exist, and one of each", async () => {
    const file = new URL("../../plugins/security/secrets/leaks/providers.json", import.meta.url);
    const providers = JSON.parse(await readFile(file, "utf8")) as { url: string | null; rules: string[] }[];
    const known = new Set(builtinRules().map(({ id }) => id));
    const listed = providers.flatMap(({ rules }) => rules);
    expect(listed.filter((id) => !known.has(id))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
    for (const { url } of providers) expect(url ?? "https://").toMatch(/^https:\/\//);
  });

  it("counts secrets by kind and by project, lists those of one, and marks all of a kind at once", async () => {
    const t = await startWith([
      { role: "user", text: `tokens ghp_${letters(36, 5)} and ghp_${letters(36, 6)}` },
      { role: "user", text: `and glpat-${letters(20, 7)}` },
    ]);
    expect((await inbox(t)).totals.open).toBe(3);
    const grouped = await t.json<LeakGroups>("/api/security/leaks/groups?by=kind");
    expect(grouped.groups).toMatchObject([
      { id: "github-pat", provider: { name: "GitHub" }, secrets: 2, sessions: 1 },
      { id: "gitlab-pat", provider: { name: "GitLab" }, secrets: 1 },
    ]);
    const { groups } = await t.json<LeakGroups>("/api/security/leaks/groups?by=project");
    expect(groups).toMatchObject([{ name: "app", secrets: 3, sessions: 1 }]);
    expect((await inbox(t, `?project=${groups[0]?.id}`)).leaks).toHaveLength(3);
    const [other] = (await inbox(t, "?kind=gitlab-pat")).leaks;

    const mark = (body: unknown) => t.send<LeakMarks>("POST", "/api/security/leaks/mark", body);
    const { body } = await mark({ state: "ignored", kinds: ["github-pat"] });
    expect(body.marked.map(({ from }) => from)).toEqual(["open", "open"]);
    expect((await inbox(t)).totals).toMatchObject({ open: 1, ignored: 2 });
    expect((await mark({ state: "rotated", ids: [other?.id, "none"] })).body).toMatchObject({ code: "LEAK_NOT_FOUND" });
    expect((await inbox(t)).totals).toMatchObject({ open: 1, rotated: 0 });
    await mark({ state: "open", ids: body.marked.map(({ id }) => id) });
    await mark({ state: "harmless", projects: [groups[0]?.id] });
    expect((await inbox(t)).totals).toMatchObject({ open: 0, harmless: 3, ignored: 0 });
  });

  it("lists kinds and secrets that a file holds first, with how many and the projects", async () => {
    const cwd = await makeTempDir();
    const held = `glpat-${letters(20, 7)}`;
    await writeFile(join(cwd, ".env"), `TOKEN=${held}\n`);
    const t = await startWith(
      [
        { role: "user", text: `the one ${held} in the file` },
        { role: "user", text: `tokens ghp_${letters(36, 5)} and ghp_${letters(36, 6)}` },
      ],
      { cwd },
    );
    const [first] = (await inbox(t)).leaks;
    expect(first).toMatchObject({ ruleId: "gitlab-pat", files: [join(cwd, ".env")] });
    const groups = async (by: string) => (await t.json<LeakGroups>(`/api/security/leaks/groups?by=${by}`)).groups;
    expect(await groups("kind")).toMatchObject([
      { id: "gitlab-pat", inFiles: 1, projects: [basename(cwd)] },
      { id: "github-pat", secrets: 2, inFiles: 0, projects: [basename(cwd)] },
    ]);
    expect(await groups("project")).toMatchObject([
      { secrets: 3, inFiles: 1, providers: expect.arrayContaining(["GitHub", "GitLab"]) },
    ]);
  });

  it("counts the open ones without reading a file", async () => {
    const t = await startWith(rows);
    const count = () => t.json("/api/security/leaks/count");
    const { id } = await only(t);
    expect(await count()).toEqual({ open: 1, sessions: 1, pending: 0 });
    await t.send("PATCH", `/api/security/leaks/${id}`, { state: "rotated" });
    expect(await count()).toEqual({ open: 0, sessions: 0, pending: 0 });
  });

  it("finds the commits that added it, on any branch", async () => {
    const cwd = await makeTempDir();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" });
    git("init", "-qb", "main");
    await writeFile(join(cwd, "a.txt"), "plain\n");
    git("add", ".");
    git("commit", "-qm", "first");
    git("checkout", "-qb", "other");
    await writeFile(join(cwd, "ci.yml"), `token: ${token}\n`);
    git("add", ".");
    git("commit", "-qm", "second");
    const hash = git("rev-parse", "HEAD").trim();
    git("checkout", "-q", "main");
    const t = await startWith(rows, { cwd, plugins: [...plugins(), gitPlugin()] });
    const { id } = await only(t);
    const found = await t.json<LeakCommits>(`/api/security/leaks/${id}/commits`);
    expect(found).toMatchObject({ commits: [{ hash, path: "ci.yml" }], partial: false });
    expect(JSON.stringify(found)).not.toContain(token);
  });

  it("leaves out what a disabled rule found", async () => {
    const t = await startWith(rows);
    const { ruleId } = await only(t);
    await t.send("PATCH", `/api/security/rules/${ruleId}`, { enabled: false });
    expect(await inbox(t)).toMatchObject({ leaks: [], totals: { open: 0, sessions: 0 } });
  });

  it("says of a file only what it holds now", async () => {
    const cwd = await makeTempDir();
    await mkdir(join(cwd, ".env"));
    const t = await startWith(rows, { cwd });
    expect((await only(t)).files).toEqual([]);
    await rm(join(cwd, ".env"), { recursive: true });
  });

  it("lists values that may be samples only when asked for", async () => {
    const t = await startWith([{ role: "user", text: "DB_PASSWORD=zMmpxbxvNnzNAEuipisP" }]);
    expect(await inbox(t)).toMatchObject({ leaks: [], totals: { open: 0, possible: 1 } });
    expect((await inbox(t, "?possible=1")).leaks).toMatchObject([{ confidence: "possible" }]);
  });

  it("refuses a cursor and a state that are none", async () => {
    const t = await startWith(rows);
    for (const query of ["?cursor=x", "?state=lost", "?limit=0"])
      expect((await t.send("GET", `/api/security/leaks${query}`)).status).toBe(400);
  });

  it("searches all sessions again when the rules changed", () => {
    // Different here: raise LEAKS_VERSION and write the new value of the rules down.
    expect([LEAKS_VERSION, rulesVersion(builtinRules())]).toEqual([3, "875751d1e999f012"]);
  });
});
