/** Copies for another folder of sessions that were resumed or forked: the id is the copy's wherever the assistant reads it. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import pi from "../../plugins/pi/index.ts";
import type { Rescued } from "../../plugins/rescue/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { importAll, plugins, type Said, TOOLS, type Tool, writeLog } from "./_logs.ts";

const KEY = "0199f000-0000-4000-8000-00000000000a";
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();

const piTool: Tool = {
  name: "pi",
  path: (home, { key, cwd }) =>
    join(home, `.pi/agent/sessions/--${cwd.slice(1).replaceAll("/", "-")}--/2026-01-01T00-00-00-000Z_${key}.jsonl`),
  rows: ({ key, cwd }) => [
    { type: "session", version: 3, id: key, timestamp: at(0), cwd },
    { type: "message", id: "m1", timestamp: at(1), message: { role: "user", content: "prompt 0" } },
    {
      type: "message",
      id: "m2",
      timestamp: at(2),
      message: { role: "assistant", model: "m", content: "reply 0", usage: { input: 100, output: 10 } },
    },
  ],
};
const tools = [...TOOLS, piTool];
const toTool = (name: string) => tools.find((tool) => tool.name === name) ?? piTool;

/** What a resume or a fork writes into the log of an assistant, each with the session's id inside. */
const MORE: Record<string, (key: string) => object[]> = {
  "gemini-cli": (key) => [
    { $set: { sessionId: key, projectHash: "old", lastUpdated: at(50), messages: [] } },
    { $set: { sessionId: key } },
    { id: "u9", timestamp: at(51), type: "user", content: [{ text: "again" }] },
  ],
  "claude-code": (key) => [
    { type: "queue-operation", operation: "enqueue", sessionId: key, timestamp: at(50), content: "x" },
    { type: "progress", sessionId: key, uuid: "p1", timestamp: at(51), data: { sessionId: key, type: "hook" } },
    { type: "last-prompt", sessionId: key, nested: [{ session_id: key }] },
  ],
  codex: () => [{ timestamp: at(50), type: "event_msg", payload: { type: "user_message", message: "again" } }],
  copilot: (key) => [
    { type: "session.resume", data: { sessionId: key, resumeTime: at(50) }, id: "r1", timestamp: at(50) },
    { type: "hook.start", data: { input: { sessionId: key } }, id: "h1", timestamp: at(51) },
    { type: "user.message", data: { content: `sessionId ${key}` }, id: "u9", timestamp: at(52) },
  ],
  pi: () => [
    { type: "usage", id: "w1", timestamp: at(50), kind: "cache_warm", model: "m", usage: { cacheRead: 5 } },
    { type: "message", id: "m3", timestamp: at(51), message: { role: "user", content: "again" } },
  ],
};

async function start(): Promise<{ t: TestKernel; home: string; folder: string }> {
  const home = await makeTempDir();
  const t = await createTestKernel({ home, plugins: [...plugins(), pi()] });
  onTestFinished(() => t.close());
  const folder = join(home, "work/moved");
  await mkdir(folder, { recursive: true });
  return { t, home, folder };
}

const toCopy = (t: TestKernel, id: string, folder: string) =>
  t.send<{ rescued: Rescued[]; code?: string; message?: string }>("POST", "/api/rescue/restore", {
    sessions: [id],
    folder,
  });

/** Fields of the copy that hold the original's id, as paths. */
function holding(value: unknown, id: string, path = ""): string[] {
  if (value === id) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    holding(inner, id, Array.isArray(value) ? path : `${path}.${name}`),
  );
}
/** Where the original is named on purpose. */
const ORIGIN =
  /^(\.sessarc\.copyOf|\.\$set\.sessarc\.copyOf|\.data\.sessarc\.copyOf|\.forkedFrom\.sessionId|\.payload\.forked_from_id)$/;

describe.each(tools.map(({ name }) => name))("a copy of a session of %s", (name) => {
  const tool = toTool(name);

  it("has its own id everywhere, whether the session was resumed or not, and counts no token twice", async () => {
    const { t, home, folder } = await start();
    const said: Said = { key: KEY, cwd: "/work/app", turns: 2 };
    const path = tool.path(home, said);
    await writeLog(path, [...tool.rows(said), ...(MORE[name]?.(KEY) ?? [])]);
    if (name === "copilot") await writeFile(join(dirname(path), "workspace.yaml"), `id: ${KEY}\ncwd: /work/app\n`);
    await importAll(t);
    const { status, body } = await toCopy(t, `${name}:${KEY}`, folder);
    expect(status, JSON.stringify(body)).toBe(200);
    const [made] = body.rescued;
    const log = made?.written.find((one) => one.endsWith(".jsonl")) ?? "";
    const rows = (await readFile(log, "utf8"))
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(rows.length).toBeGreaterThan(2);
    expect(rows.flatMap((row) => holding(row, KEY)).filter((one) => !ORIGIN.test(one))).toEqual([]);
    const { session } = await t.json<{ session: object }>(`/api/sessions/${encodeURIComponent(made?.copy ?? "")}`);
    expect(session).toMatchObject({ cwd: folder, forkedFrom: `${name}:${KEY}`, usage: {} });
    // A second rescue finds the first.
    expect((await toCopy(t, `${name}:${KEY}`, folder)).body.rescued[0]?.written).toEqual([]);
  });

  it("is not said to be back where the assistant would not find it", async () => {
    const { t, home, folder } = await start();
    const said: Said = { key: KEY, cwd: "/work/app", turns: 2 };
    await writeLog(tool.path(home, said), tool.rows(said));
    await importAll(t);
    const { body: planned } = await t.send<{ plans: { steps: { path: string }[] }[] }>("POST", "/api/rescue/plan", {
      sessions: [`${name}:${KEY}`],
      folder,
    });
    const path = planned.plans[0]?.steps.find((step) => step.path.endsWith(".jsonl"))?.path ?? "";
    // Its place is taken by a log that says another id.
    await writeLog(path, tool.rows({ ...said, cwd: folder }));
    const { status, body } = await toCopy(t, `${name}:${KEY}`, folder);
    expect([status, body.code]).toEqual([422, "RESCUE_IMPOSSIBLE"]);
    expect(body.message).toContain("would not find the copy");
    expect(await readFile(path, "utf8")).toContain(KEY);
  });
});

it("copies a fork, and a copy of a copy", async () => {
  for (const [name, extra] of [
    ["codex", { forked_from_id: "0199f000-0000-4000-8000-00000000000b" }],
    ["claude-code", { forkedFrom: { sessionId: "0199f000-0000-4000-8000-00000000000b", messageUuid: "u" } }],
    ["pi", {}],
  ] as const) {
    const { t, home, folder } = await start();
    const said: Said = { key: KEY, cwd: "/work/app", turns: 2, extra };
    await writeLog(toTool(name).path(home, said), toTool(name).rows(said));
    await importAll(t);
    const first = await toCopy(t, `${name}:${KEY}`, folder);
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    const next = join(home, "work/next");
    await mkdir(next);
    const again = await toCopy(t, first.body.rescued[0]?.copy ?? "", next);
    expect(again.status, JSON.stringify(again.body)).toBe(200);
    const { session } = await t.json<{ session: object }>(
      `/api/sessions/${encodeURIComponent(again.body.rescued[0]?.copy ?? "")}`,
    );
    expect(session).toMatchObject({ cwd: next, usage: {} });
  }
});
