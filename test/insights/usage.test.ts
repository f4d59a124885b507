import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readSettings } from "sessarc/serve";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeEach, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import type { PriceList, ProjectAnalytics, UsageReport } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";

let t: TestKernel;

interface Reply {
  at: string;
  id: string;
  output: number;
  model?: string;
  session?: string;
}
const reply = ({ at, id, output, model = "claude-haiku-4-5", session }: Reply) => ({
  type: "assistant",
  uuid: `u-${id}-${output}`,
  sessionId: session,
  timestamp: at,
  cwd: "/w/app",
  requestId: `r-${id}`,
  message: {
    id: `m-${id}`,
    role: "assistant",
    model,
    content: [{ type: "text", text: "answer" }],
    usage: { input_tokens: 1, output_tokens: output, cache_creation_input_tokens: 7, cache_read_input_tokens: 100 },
  },
});
const uuid = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
const log = (n: number) => `.claude/projects/-w-app/${uuid(n)}.jsonl`;

async function write(path: string, rows: readonly object[]): Promise<void> {
  const file = join(t.home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
const importAll = () => t.send("POST", "/api/import", { all: true });
const usage = (query = "") => t.json<UsageReport>(`/api/usage?tz=UTC${query}`);
const byKey = (report: UsageReport) => Object.fromEntries(report.rows.map((row) => [row.key, row.tokens.output]));

beforeEach(async () => {
  t = await createTestKernel({ plugins: [archive(), insights(), claude(), codex()] });
});

describe("GET /usage", () => {
  it("D1: a reply that is in several records counts once, with its largest output", async () => {
    const at = "2026-11-01T10:00:00.000Z";
    await write(log(1), [
      reply({ at, id: "a", output: 1 }),
      reply({ at, id: "a", output: 1 }),
      reply({ at, id: "a", output: 5 }),
    ]);
    await importAll();
    const { totals, evidence, rows } = await usage();
    expect(totals.tokens).toEqual({ input: 1, output: 5, cacheWrite5m: 7, cacheWrite1h: 0, cacheRead: 100 });
    expect(evidence).toEqual({ records: 3, requests: 1, duplicatesFolded: 2, inheritedExcluded: 0 });
    expect(rows).toHaveLength(1);
    expect(totals.cost.microdollars).toBe(Math.round(1 + 25 + 7 * 1.25 + 10));
  });

  it("D2: tokens of sub-agents are there, and the session is one", async () => {
    await write(log(1), [reply({ at: "2026-11-01T10:00:00.000Z", id: "a", output: 5, session: uuid(1) })]);
    await write(log(1).replace(".jsonl", "/subagents/agent-x.jsonl"), [
      {
        ...reply({ at: "2026-11-01T10:01:00.000Z", id: "b", output: 7, session: uuid(1) }),
        isSidechain: true,
        agentId: "x",
      },
    ]);
    await importAll();
    const { totals } = await usage("&by=project");
    expect(totals.tokens.output).toBe(12);
    expect(totals.sessions).toBe(1);
    const sessions = await usage("&by=session");
    expect(sessions.rows.map((row) => [row.tokens.output, row.sessions])).toEqual([
      [7, 1],
      [5, 1],
    ]);
  });

  it("D21: what a fork copies from its parent is attributed to the parent", async () => {
    const shared = [
      reply({ at: "2026-11-01T10:00:00.000Z", id: "a", output: 5 }),
      reply({ at: "2026-11-01T10:01:00.000Z", id: "b", output: 6 }),
    ];
    await write(log(1), shared);
    await importAll();
    await write(log(2), [...shared, reply({ at: "2026-11-02T10:00:00.000Z", id: "c", output: 7 })]);
    await importAll();
    const report = await usage("&by=session");
    expect(byKey(report)).toEqual({ [`claude-code:${uuid(1)}`]: 11, [`claude-code:${uuid(2)}`]: 7 });
    expect(report.evidence.inheritedExcluded).toBe(2);
    expect(byKey(await usage())).toEqual({ "2026-11-01": 11, "2026-11-02": 7 });
  });

  it("D22: a counter that goes on over resumes is not summed", async () => {
    const count = (at: string, input: number, output: number, last?: object) => ({
      timestamp: at,
      type: "event_msg",
      payload: {
        type: "token_count",
        info: { total_token_usage: { input_tokens: input, cached_input_tokens: 0, output_tokens: output }, ...last },
      },
    });
    const id = "019a4300-0000-7000-8000-000000000009";
    const meta = {
      timestamp: "2026-11-01T10:00:00.000Z",
      type: "session_meta",
      payload: { id, cwd: "/w/app", timestamp: "2026-11-01T10:00:00.000Z" },
    };
    await write(`.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`, [
      meta,
      { timestamp: "2026-11-01T10:00:00.000Z", type: "turn_context", payload: { model: "gpt-5" } },
      count("2026-11-01T10:01:00.000Z", 100, 10),
      count("2026-11-01T10:01:01.000Z", 100, 10),
      meta,
      count("2026-11-03T10:01:00.000Z", 250, 30),
    ]);
    await importAll();
    expect(byKey(await usage())).toEqual({ "2026-11-01": 10, "2026-11-03": 20 });
    expect((await usage()).totals.usage["gpt-5"]).toMatchObject({ input: 250, output: 30 });
  });

  it("D17: a session over days lies on each of them, in the zone asked for", async () => {
    await write(log(1), [
      reply({ at: "2026-11-01T18:00:00.000Z", id: "a", output: 1 }),
      reply({ at: "2026-11-01T18:20:00.000Z", id: "b", output: 2 }),
      reply({ at: "2026-11-03T02:00:00.000Z", id: "c", output: 4 }),
    ]);
    await importAll();
    expect(byKey(await usage())).toEqual({ "2026-11-01": 3, "2026-11-03": 4 });
    const zone = async (tz: string) => byKey(await t.json<UsageReport>(`/api/usage?tz=${tz}`));
    expect(await zone("Asia/Kathmandu")).toEqual({ "2026-11-01": 1, "2026-11-02": 2, "2026-11-03": 4 });
    expect(await zone("America/St_Johns")).toEqual({ "2026-11-01": 3, "2026-11-02": 4 });
    const cut = await usage("&from=2026-11-02&to=2026-11-03");
    expect(cut.totals).toMatchObject({ sessions: 1, messages: 1 });
    expect(byKey(cut)).toEqual({ "2026-11-03": 4 });
    expect(byKey(await usage("&by=week"))).toEqual({ "2026-10-26": 3, "2026-11-02": 4 });
    expect(byKey(await usage("&by=month"))).toEqual({ "2026-11": 7 });
  });

  it("the hour that comes twice belongs to one day of 25 hours", async () => {
    const times = [
      "2026-10-24T22:00:00Z",
      "2026-10-25T00:30:00Z",
      "2026-10-25T01:30:00Z",
      "2026-10-25T22:59:00Z",
      "2026-10-25T23:00:00Z",
    ];
    await write(
      log(1),
      times.map((at, i) => reply({ at, id: String(i), output: 1 })),
    );
    await importAll();
    const report = await t.json<UsageReport>("/api/usage?tz=Europe/Berlin");
    expect(byKey(report)).toEqual({ "2026-10-25": 4, "2026-10-26": 1 });
  });

  it("groups by model, tool and project and filters by them", async () => {
    const at = "2026-11-01T10:00:00.000Z";
    await write(log(1), [reply({ at, id: "a", output: 1 }), reply({ at, id: "b", output: 2, model: "model-x" })]);
    await importAll();
    const models = await usage("&by=model");
    expect(byKey(models)).toEqual({ "claude-haiku-4-5": 1, "model-x": 2 });
    expect(models.unpriced).toEqual(["model-x"]);
    expect(models.rows[0]?.messages).toBeNull();
    expect(byKey(await usage("&by=tool"))).toEqual({ "claude-code": 3 });
    const projects = await usage("&by=project");
    expect(projects.rows).toMatchObject([{ label: "app", sessions: 1, messages: 2 }]);
    expect((await usage("&project=app")).totals.tokens.output).toBe(3);
    expect((await usage("&project=/w/app&tool=codex")).rows).toEqual([]);
    const missing = await t.fetch("/api/usage?project=nope");
    expect(missing.status).toBe(404);
  });

  it("refuses days, ranges and zones that are none", async () => {
    for (const query of [
      "from=2026-02-30",
      "to=yesterday",
      "from=2026-11-02&to=2026-11-01",
      "tz=Mars/Olympus",
      "by=year",
    ]) {
      expect([query, (await t.fetch(`/api/usage?${query}`)).status]).toEqual([query, 400]);
    }
  });

  it("counts that no reply can have are none: every report stays JSON, with and without an archive", async () => {
    const [first, ...others] = ["a", "b", "c"].map((id) => reply({ at: "2026-11-01T10:00:00.000Z", id, output: 3 }));
    for (const row of others) row.message.usage.input_tokens = 1.5e308;
    await write(log(1), [first ?? {}, ...others]);
    await importAll();
    for (const by of ["session", "day", "model"]) {
      const { totals } = await usage(`&by=${by}`);
      expect([by, totals.tokens.input, totals.tokens.output]).toEqual([by, 1, 9]);
      expect(totals.cost.microdollars).toBe(Math.round(1 + 45 + 3 * (7 * 1.25 + 10)));
    }
    const { totals } = await t.kernel.inject("insights").stateless({ by: "day", tz: "UTC" });
    expect(totals.tokens.input).toBe(1);
  });

  it("tokens without a time count on the session's last day", async () => {
    const { timestamp, ...untimed } = reply({ at: "", id: "b", output: 9 });
    await write(log(1), [reply({ at: "2026-11-01T10:00:00.000Z", id: "a", output: 1 }), untimed]);
    await importAll();
    expect(byKey(await usage())).toEqual({ "2026-11-01": 10 });
    expect((await usage()).totals.messages).toBe(2);
  });

  it("says what changed after an import, a rename and a deletion", async () => {
    await write(log(1), [reply({ at: "2026-11-01T10:00:00.000Z", id: "a", output: 1 })]);
    expect((await usage()).rows).toEqual([]);
    await importAll();
    expect(byKey(await usage())).toEqual({ "2026-11-01": 1 });
    await write(log(2), [reply({ at: "2026-11-01T10:00:00.000Z", id: "z", output: 3 })]);
    await importAll();
    expect(byKey(await usage())).toEqual({ "2026-11-01": 4 });
    await t.send("PATCH", `/api/sessions/claude-code:${uuid(1)}`, { name: "Mine" });
    expect((await usage("&by=session")).rows.find((row) => row.key.endsWith(uuid(1)))?.label).toBe("Mine");
    await t.send("DELETE", `/api/sessions/claude-code:${uuid(1)}`);
    expect(byKey(await usage())).toEqual({ "2026-11-01": 3 });
  });
});

describe("GET /prices", () => {
  it("lists models that were seen, and what the user set", async () => {
    await write(log(1), [
      reply({ at: "2026-11-01T10:00:00.000Z", id: "a", output: 1 }),
      reply({ at: "2026-11-01T10:00:00.000Z", id: "b", output: 1, model: "model-x" }),
    ]);
    await importAll();
    expect(await t.json("/api/prices")).toMatchObject({
      models: [
        { model: "claude-haiku-4-5", origin: "table", rates: { input: 1, cacheWrite5m: 1.25, cacheWrite1h: 2 } },
      ],
      unpriced: ["model-x"],
      overrides: {},
    });
  });

  it("takes a price of the user's own, counts with it at once, keeps it over a start, and lets it go again", async () => {
    await write(log(1), [
      reply({ at: "2026-11-01T10:00:00.000Z", id: "a", output: 1_000_000 }),
      reply({ at: "2026-11-01T10:00:00.000Z", id: "b", output: 1_000_000, model: "host/model-x" }),
    ]);
    await importAll();
    const report = () => t.json<UsageReport>("/api/usage?by=model&tz=UTC");
    const before = await report();
    expect(before).toMatchObject({ unpriced: ["host/model-x"], overridden: [] });
    const price = { model: "host/model-x", input: 0, output: 2.5 };
    const set = await t.send<PriceList>("POST", "/api/prices", price);
    expect(set.body.own["host/model-x"]).toEqual({
      input: 0,
      output: 2.5,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheRead: 0,
    });
    expect(set.body.models.map(({ model, origin }) => [model, origin])).toContainEqual(["host/model-x", "override"]);
    const after = await report();
    expect(after).toMatchObject({ unpriced: [], overridden: ["host/model-x"] });
    expect(after.totals.cost.microdollars - before.totals.cost.microdollars).toBe(2_500_000);
    const sessions = await t.json<{ sessions: { cost: { microdollars: number } }[] }>("/api/sessions");
    expect(sessions.sessions[0]?.cost.microdollars).toBe(after.totals.cost.microdollars);
    const { sources, prices } = await readSettings(t.kernel.config.dataDir);
    expect([sources, prices]).toEqual([{}, { "host/model-x": { input: 0, output: 2.5 } }]);
    const gone = await t.send("DELETE", "/api/prices?model=host%2Fmodel-x");
    expect(gone.status).toBe(200);
    expect(await report()).toEqual(before);
    const again = await t.send("DELETE", "/api/prices?model=host%2Fmodel-x");
    expect(again).toMatchObject({ status: 404, body: { code: "PRICE_NOT_SET", fix: expect.any(String) } });
    for (const output of [-1, "2", 1e9, null])
      expect((await t.send("POST", "/api/prices", { ...price, output })).status).toBe(400);
  });
});

describe("GET /projects/:id", () => {
  const today = () => new Date().toISOString().slice(0, 10);
  const ago = (days: number, time = "10:00:00") =>
    `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T${time}.000Z`;

  it("D17: a long session counts with the part that lies in the range", async () => {
    await write(log(1), [
      reply({ at: ago(40), id: "a", output: 1 }),
      reply({ at: ago(6), id: "b", output: 2 }),
      reply({ at: ago(0, "00:00:00"), id: "c", output: 4 }),
    ]);
    await write(log(2), [reply({ at: ago(20), id: "d", output: 8 })]);
    await importAll();
    const [project] = await t.json<{ id: string }[]>("/api/projects");
    const get = (query: string) => t.json<ProjectAnalytics>(`/api/projects/${project?.id}?tz=UTC${query}`);
    const week = await get("&days=7");
    expect(week.range).toEqual({ days: 7, from: ago(6).slice(0, 10), to: today() });
    expect(week.perDay).toHaveLength(7);
    expect(week.totals).toMatchObject({ sessions: 1, messages: 2 });
    expect(week.totals.usage["claude-haiku-4-5"]?.output).toBe(6);
    expect(week.sessions.map((session) => session.id)).toEqual([`claude-code:${uuid(1)}`]);
    expect(week.hours.flat().reduce((a, b) => a + b)).toBe(2);
    const all = await get("");
    expect(all.totals).toMatchObject({ sessions: 2, messages: 4 });
    expect(all.perDay).toHaveLength(4);
    expect(all.project.name).toBe("app");
    expect((await get("&days=1")).perDay.map((day) => day.messages)).toEqual([1]);
  });

  it("answers 404 for an unknown id and 400 for days out of range", async () => {
    expect((await t.fetch("/api/projects/nope")).status).toBe(404);
    for (const days of ["0", "3651", "x", "-1", "1.5"]) {
      expect([days, (await t.fetch(`/api/projects/nope?days=${days}`)).status]).toEqual([days, 400]);
    }
  });
});

describe("GET /insights", () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

  it("compares with the days right before, and reports what is live and what is new", async () => {
    await write(log(1), [reply({ at: ago(8), id: "a", output: 10 })]);
    await write(log(2), [reply({ at: ago(1), id: "b", output: 30 }), reply({ at: ago(0.005), id: "c", output: 10 })]);
    await importAll();
    const report = await t.json<Record<string, never> & import("../../plugins/insights/index.ts").InsightsReport>(
      `/api/insights?days=7&tz=UTC&since=${ago(0.5)}`,
    );
    expect(report.totals.tokens.output).toBe(40);
    expect(report.previous?.tokens.output).toBe(10);
    expect(report.delta?.sessions).toBe(0);
    expect(report.delta?.messages).toBe(1);
    expect(report.perDay).toHaveLength(7);
    expect(report.perDay.flatMap((day) => day.tools.map((tool) => tool.tool))).toContain("claude-code");
    // Both files were just written; the first one's conversation is eight days old.
    expect(report.live.map((session) => session.id)).toEqual([`claude-code:${uuid(2)}`]);
    expect(report.sinceYouLeft).toMatchObject({ sessions: 1, messages: 1 });
    expect(report.sinceYouLeft?.recent.map((session) => session.id)).toEqual([`claude-code:${uuid(2)}`]);
    const cache = report.characteristics.find((trait) => trait.name === "cacheEfficiency");
    expect(cache?.value).toBeCloseTo(100 / 108);
    expect(cache?.basis).toEqual({ read: 200, written: 14, input: 2 });
  });

  it("is whole on an empty archive", async () => {
    const report = await t.json("/api/insights");
    expect(report).toMatchObject({
      totals: { sessions: 0, cacheShare: null },
      previous: null,
      perDay: [],
      live: [],
      sinceYouLeft: null,
      characteristics: [],
    });
    expect((await t.fetch("/api/insights?since=soon")).status).toBe(400);
  });
});
