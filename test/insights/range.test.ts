import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import type { Activity, InsightsReport, Ledger, ProjectAnalytics } from "../../plugins/insights/index.ts";

const ZONE = "Asia/Kathmandu";
const DAY_MS = 86_400_000;
const toDay = (ms: number) =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: ZONE, year: "numeric", month: "2-digit", day: "2-digit" }).format(ms);

interface Listed {
  id: string;
  projectId: string;
  parentId: string | null;
  startedAt: string | null;
  endedAt: string | null;
  copiedMessages: number;
}

// Only the last test changes anything.
let t: TestKernel;
beforeAll(async () => {
  t = await createTestKernel({ plugins: defaultPlugins().filter((entry) => !/dashboard|demo/.test(entry.specifier)) });
  await writeDemo({ home: t.home });
  await t.send("POST", "/api/import", { all: true });
});
afterAll(() => t.close());

const readSessions = async () => (await t.json<{ sessions: Listed[] }>("/api/sessions?limit=1000")).sessions;

describe("a range of days", () => {
  it("answers the same for the last days and for the same days by name", async () => {
    const [project] = await t.json<{ id: string }[]>("/api/projects?git=0");
    for (const path of ["/api/insights", `/api/projects/${project?.id}`]) {
      const last = await t.json<ProjectAnalytics & InsightsReport>(`${path}?days=9&tz=${ZONE}`);
      const { from, to } = last.range;
      const named = await t.json<ProjectAnalytics & InsightsReport>(`${path}?from=${from}&to=${to}&tz=${ZONE}`);
      expect(named).toEqual(last);
      expect(await t.json(`${path}?from=${from}&tz=${ZONE}`)).toEqual(named);
    }
  });

  it("holds what the days of it hold, and compares with as many days before", async () => {
    const all = await t.json<InsightsReport>(`/api/insights?days=60&tz=${ZONE}`);
    expect(all.perDay.filter((one) => one.messages > 0).length).toBeGreaterThan(3);
    for (const one of all.perDay.slice(-20)) {
      const day = await t.json<InsightsReport>(`/api/insights?from=${one.day}&to=${one.day}&tz=${ZONE}`);
      expect(day.perDay).toEqual([one]);
      expect(day.totals).toMatchObject({ sessions: one.sessions, messages: one.messages, cost: one.cost });
      const before = all.perDay[all.perDay.indexOf(one) - 1];
      expect(day.previous).toMatchObject({ sessions: before?.sessions, messages: before?.messages });
    }
  });

  it.each([
    ["days=7&from=2026-01-01", "days"],
    ["from=2026-02-30", "query.from"],
    ["from=2026-02-02&to=2026-02-01", "to"],
    ["from=1990-01-01", "from"],
  ])("refuses %s", async (query, path) => {
    const response = await t.fetch(`/api/insights?${query}`);
    expect(response.status).toBe(400);
    const { code, issues } = (await response.json()) as { code: string; issues: { path: string }[] };
    expect([code, issues[0]?.path]).toEqual(["INVALID_INPUT", path]);
  });

  it("lists exactly the sessions that count, on each day and over all", async () => {
    const all = new Map((await readSessions()).map((one) => [one.id, one]));
    const report = await t.json<InsightsReport>(`/api/insights?tz=${ZONE}`);
    const ranges = ["", ...report.perDay.map((one) => `&from=${one.day}&to=${one.day}`)];
    const counts = [report.totals.sessions, ...report.perDay.map((one) => one.sessions)];
    for (const [i, range] of ranges.entries()) {
      const { sessions, total } = await t.json<Ledger>(`/api/insights/sessions?tz=${ZONE}${range}`);
      expect(total).toBe(counts[i]);
      expect(sessions).toHaveLength(total);
      expect(sessions.filter((one) => one.parentId !== null && all.has(one.parentId))).toEqual([]);
      const ends = sessions.map((one) => one.endedAt ?? "");
      expect(ends).toEqual([...ends].sort().reverse());
    }
    const first = await t.json<Ledger>(`/api/insights/sessions?tz=${ZONE}&limit=2`);
    expect([first.sessions.length, first.total]).toEqual([2, report.totals.sessions]);
  });

  it("lists the sessions that overlap a time", async () => {
    const all = await readSessions();
    const [first] = all.filter((one) => one.startedAt && one.endedAt);
    const after = new Date(Date.parse(first?.startedAt ?? "") - 1).toISOString();
    const before = new Date(Date.parse(first?.endedAt ?? "") + 1).toISOString();
    const { sessions } = await t.json<{ sessions: Listed[] }>(
      `/api/sessions?limit=1000&after=${after}&before=${before}`,
    );
    const expected = all.filter((one) => (one.endedAt ?? "") >= after && (one.startedAt ?? "") < before);
    expect(sessions.map((one) => one.id).sort()).toEqual(expected.map((one) => one.id).sort());
    expect(sessions.length).toBeLessThan(all.length);
    expect((await t.fetch("/api/sessions?after=yesterday")).status).toBe(400);
  });
});

describe("GET /projects/activity", () => {
  it("equals a count over every message", async () => {
    const { range, projects } = await t.json<Activity>(`/api/projects/activity?tz=${ZONE}`);
    expect(range.days).toBe(30);
    const days = Array.from({ length: 30 }, (_, i) =>
      new Date(Date.parse(`${range.from}T00:00Z`) + i * DAY_MS).toISOString().slice(0, 10),
    );
    expect(days.at(-1)).toBe(toDay(Date.now()));
    const all = await readSessions();
    const byId = new Map(all.map((one) => [one.id, one]));
    const toRoot = (one: Listed): string => {
      const parent = one.parentId === null ? undefined : byId.get(one.parentId);
      return parent ? toRoot(parent) : one.id;
    };
    const slow = new Map<string, { messages: number[]; roots: Set<string>[] }>();
    for (const session of all) {
      const { messages } = await t.json<{ messages: { at: string | null }[] }>(
        `/api/sessions/${encodeURIComponent(session.id)}/messages`,
      );
      for (const { at } of messages.slice(session.copiedMessages)) {
        // Without a time it counts when the session ended.
        const index = days.indexOf(toDay(Date.parse(at ?? session.endedAt ?? "")));
        if (index < 0) continue;
        const project = slow.get(session.projectId) ?? {
          messages: days.map(() => 0),
          roots: days.map(() => new Set<string>()),
        };
        slow.set(session.projectId, project);
        project.messages[index] = (project.messages[index] ?? 0) + 1;
        project.roots[index]?.add(toRoot(session));
      }
    }
    expect(slow.size).toBeGreaterThan(1);
    expect(Object.fromEntries(projects.map((one) => [one.id, [one.messages, one.sessions]]))).toEqual(
      Object.fromEntries([...slow].map(([id, one]) => [id, [one.messages, one.roots.map((set) => set.size)]])),
    );
  });

  it("changes when a project goes", async () => {
    const { projects } = await t.json<Activity>("/api/projects/activity?days=3650");
    const [first] = projects;
    await t.send("DELETE", `/api/projects/${first?.id}`);
    const after = await t.json<Activity>("/api/projects/activity?days=3650");
    expect(after.projects.map((one) => one.id).sort()).toEqual(
      projects
        .slice(1)
        .map((one) => one.id)
        .sort(),
    );
  });
});
