/** A kernel over PostgreSQL answers as the same kernel over SQLite. */
import type { Kernel } from "sessarc";
import { writeDemo } from "sessarc/plugins/demo";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { TestKernel } from "../kernel.ts";
import { LONG } from "../rounds.ts";
import { createWorld, fixtures, TENANT, type World } from "./_world.ts";
import { engines } from "./postgres.ts";

const fill = async (home: string) => {
  await writeDemo({ home, now: new Date("2026-11-20T12:00:00Z") });
  await fixtures(home, new URL("../fixtures/", import.meta.url));
};

describe.each(engines())("over $name", (engine) => {
  let world: World;
  let member: Kernel;
  beforeAll(async () => {
    world = await createWorld(engine, fill);
    member = await world.kernel(world.team.member({ tenant: TENANT, person: "ada", spaces: [1] }), true);
  });
  afterAll(() => world?.close());

  it("answers every route equally", async () => {
    expect(`${await differences(world.local, member)}${world.lines.join("\n")}`).toBe("");
  });
});

/** Each assistant's sessions are in one space, so that no reply of a space is also one of another. */
const toSpace = (id: string) => (id.startsWith("claude-code:") ? 1 : id.startsWith("codex:") ? 2 : 3);

describe.each(engines())("a person of some spaces over $name", (engine) => {
  it("is answered as by a local archive that has exactly the sessions of these spaces", async () => {
    const world = await createWorld(engine, fill, toSpace);
    onTestFinished(() => world.close());
    const ids = await world.local.kernel.storage.db.all<{ id: string }>("select id from session order by id");
    expect(new Set(ids.map(({ id }) => toSpace(id)))).toEqual(new Set([1, 2, 3]));
    for (const spaces of LONG ? [[1], [2], [3], [1, 3], [2, 3]] : [[2], [1, 3]]) {
      const own = ids.filter(({ id }) => spaces.includes(toSpace(id))).map(({ id }) => id);
      const local = await world.localOf(own);
      expect(await local.kernel.storage.db.all("select id from session order by id")).toEqual(
        own.map((id) => ({ id })),
      );
      expect(own.length).toBeGreaterThan(0);
      const person = await world.kernel(world.team.member({ tenant: TENANT, person: "bea", spaces }), true);
      expect(`${await differences(local, person)}${world.lines.join("\n")}`, `spaces ${spaces.join()}`).toBe("");
      // Ids of the other spaces are as unknown as ids that never were.
      for (const { id } of ids.filter((one) => !own.includes(one.id)))
        expect((await ask(person, `/api/sessions/${encodeURIComponent(id)}/messages`)).status, id).toBe(404);
    }
  });
});

/** Where the two answer differently; empty: nowhere. */
async function differences(local: TestKernel, member: Kernel): Promise<string> {
  const failures: string[] = [];
  for (const path of await paths(local)) {
    const [here, there] = await Promise.all([ask(local.kernel, path), ask(member, path)]);
    try {
      expect(here.status, path).toBeLessThan(500);
      expect(there, path).toEqual(here);
    } catch (error) {
      failures.push(`${path}\n${String(error).slice(0, 1_500)}`);
    }
  }
  return failures.join("\n\n");
}

describe.each(engines())("the search index over $name", (engine) => {
  it("names the sessions that have a word, of the spaces that a member may read", async () => {
    const world = await createWorld(engine, fill, (id) => (id.startsWith("codex:") ? 2 : 1));
    onTestFinished(() => world.close());
    const ofSpaces = async (spaces: readonly number[]) => {
      const kernel = await world.kernel(world.team.member({ tenant: TENANT, person: "ada", spaces }), true);
      const candidates = kernel.inject("candidates");
      const all = await kernel.storage.db.all<{ id: string }>("select id from session");
      return {
        ids: new Set(all.map(({ id }) => id)),
        of: async (text: string) => (await candidates([text])) ?? new Set(),
      };
    };
    const [one, both] = [await ofSpaces([1]), await ofSpaces([1, 2])];
    expect(await both.of("zyzzogeton")).toEqual(new Set());
    const named = await both.of("tide");
    expect(named.size).toBeGreaterThan(0);
    expect(named.size).toBeLessThan(both.ids.size);
    expect([...named].some((id) => !one.ids.has(id))).toBe(true);
    expect(await one.of("tide")).toEqual(new Set([...named].filter((id) => one.ids.has(id))));
  });
});

async function ask(kernel: Kernel, path: string): Promise<{ status: number; body: unknown }> {
  const answer = await kernel.fetch(path);
  const text = await answer.text();
  const body: unknown = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text;
  return { status: answer.status, body: plain(body) };
}

/** Without what differs from answer to answer: times that were measured, and ids of errors. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (VARY.has(key) ? [] : [[key, plain(one)]])));
}
// `stats` counts what was read, which is less with an index.
const VARY = new Set(["stats", "tookMs", "errorId", "createdAt", "importedAt", "dataDir", "madeAt", "now"]);

/** Questions of every kind, with ids of the sessions that there are. */
async function paths(local: TestKernel): Promise<string[]> {
  const { sessions } = await local.json<{ sessions: { id: string; project: { id: string } | null; tool: string }[] }>(
    "/api/sessions?limit=200",
  );
  const projects = [...new Set((await local.json<{ id: string }[]>("/api/projects?git=0")).map(({ id }) => id))];
  const all = ["/api/projects?git=0", "/api/sessions?limit=200"];
  for (const sort of ["recent", "oldest", "messages", "active", "errors", "size", "cost"]) {
    let cursor: string | null = null;
    do {
      const path: string = `/api/sessions?sort=${sort}&limit=7${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`;
      all.push(path);
      cursor = (await local.json<{ nextCursor: string | null }>(path)).nextCursor;
    } while (cursor);
  }
  for (const filter of [
    "kind=main",
    "kind=subagent",
    "kind=fork",
    "errors=1",
    "tool=codex",
    "tool=claude-code",
    "q=TIDE",
    "q=tide",
    "q=%C3%BC",
    "q=100%25",
    "q=_",
    "after=2026-11-10T00:00:00Z",
    "before=2026-11-15T00:00:00Z",
    "after=2026-11-01T00:00:00Z&before=2026-11-19T00:00:00Z",
    ...projects.map((id) => `project=${encodeURIComponent(id)}`),
  ])
    all.push(`/api/sessions?limit=200&${filter}`);
  for (const by of ["day", "week", "month", "model", "project", "tool", "session", "block"])
    for (const range of ["", "&from=2026-11-05&to=2026-11-15", "&tz=Asia%2FKathmandu&from=2026-11-10", "&tool=codex"])
      all.push(`/api/usage?by=${by}${range}`, `/api/usage?by=${by}&limit=3${range}`);
  all.push(
    "/api/usage?by=none",
    "/api/insights",
    "/api/insights?tz=Europe%2FBerlin",
    "/api/insights/sessions",
    "/api/insights/calls",
    "/api/insights/calls?errors=1",
    "/api/projects/activity",
    "/api/prices",
    "/api/tags",
    "/api/notes",
    "/api/searches",
    "/metrics",
    "/api/health",
    "/api/report",
    "/api/skills/usage",
    "/api/skills",
    // The list has a local archive search what it has not searched yet; the count before it starts nothing.
    "/api/security/leaks/count",
    "/api/security/leaks",
    "/api/security/rules",
    "/api/security/interceptions",
    "/api/budgets",
    "/api/shares",
    "/api/mcp/log",
    "/api/mcp/calls",
    "/api/mcp/services",
    "/api/sessions/find?name=last",
  );
  for (const id of projects) {
    const project = encodeURIComponent(id);
    all.push(
      `/api/projects/${project}`,
      `/api/usage?by=day&project=${project}`,
      `/api/insights?project=${project}`,
      `/api/projects/${project}/commits`,
      `/api/projects/${project}/receipt?since=2026-11-01`,
    );
  }
  for (const { id } of sessions) {
    const session = `/api/sessions/${encodeURIComponent(id)}`;
    all.push(
      session,
      `${session}/messages`,
      `${session}/figures`,
      `${session}/prompts`,
      `${session}/notes`,
      `/api/sessions/find?name=${encodeURIComponent(id.slice(0, -2))}`,
      `${session}/causality`,
      `${session}/health`,
    );
  }
  for (const q of SEARCHES) {
    all.push(`/api/search?q=${encodeURIComponent(q)}`, `/api/search/total?q=${encodeURIComponent(q)}`);
  }
  return all;
}

/** Words of one letter, parts of words, phrases, signs and several scripts. */
const SEARCHES = [
  "tide",
  "TIDE",
  "ide",
  "the",
  "zyzzogeton",
  "error tool:codex",
  "is:error",
  "ü",
  "Straße",
  "приве",
  "ПРИВЕТ",
  "日本",
  "潮",
  "a",
  "100%",
  "under_score",
  '"const x"',
  "-tide export",
  "kind:tool_use",
];
