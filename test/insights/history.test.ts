/**
 * Usage and insights over an archive with a history: whatever was imported, went on, was forked, deleted, brought back, renamed, priced
 * and started again, in whatever order, each figure is what the rows of the catalogue add up to the slow way.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { InsightsReport, UsageReport } from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { brute, reportFigures, toFigures } from "./brute.ts";
import { readSessions } from "./rows.ts";

const GROUPS = ["day", "week", "month", "session", "model", "project", "tool", "kind", "branch"];
const ZONES = ["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "Europe/Berlin"];
/** Two spellings of one, one that costs less at night, one without a price. */
const MODELS = ["claude-haiku-4-5", "claude-haiku-4-5-20251001", "deepseek-chat", "unheard-of-1"];
const FIRST = Date.UTC(2026, 9, 20);
const DAY = 86_400_000;
const uuid = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

function random(seed: number) {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}
type Dice = ReturnType<typeof random>;

/** Logs of two tools, in which every reply is another one. */
function logs(home: string, dice: Dice) {
  let replies = 0;
  const claude = (n: number, agent?: number) =>
    join(
      home,
      ".claude/projects/-w",
      agent === undefined ? `${uuid(n)}.jsonl` : `${uuid(n)}/subagents/agent-x${agent}.jsonl`,
    );
  const codex = (n: number) => join(home, ".codex/sessions/2026/10/20", `rollout-2026-10-20T10-00-00-${uuid(n)}.jsonl`);
  const add = (path: string, rows: readonly object[]) => {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  };
  const turns = (n: number, agent?: number) =>
    Array.from({ length: 1 + dice.below(3) }).flatMap(() => {
      const at = new Date(FIRST + dice.below(12 * DAY)).toISOString();
      const id = `${++replies}`;
      const content = [
        { type: "text", text: `answer ${id}` },
        { type: "tool_use", id: `t${id}`, name: dice.pick(["Read", "Grep"]), input: { file_path: "/w/a.ts" } },
      ];
      const usage = {
        input_tokens: dice.below(90),
        output_tokens: 1 + dice.below(900),
        cache_read_input_tokens: dice.below(9_000),
      };
      const row = {
        type: "assistant",
        uuid: `u${id}`,
        requestId: `r${id}`,
        timestamp: at,
        cwd: `/w/app${n % 3}`,
        sessionId: uuid(n),
      };
      const side = agent === undefined ? {} : { isSidechain: true, agentId: `x${agent}` };
      const result = { type: "tool_result", tool_use_id: `t${id}`, is_error: dice.below(3) === 0, content: "so it is" };
      const message = { id: `m${id}`, role: "assistant", model: dice.pick(MODELS), content, usage };
      const answer = { type: "user", uuid: `v${id}`, message: { role: "user", content: [result] } };
      return [
        { ...row, ...side, message },
        { ...row, ...side, ...answer },
      ];
    });
  const rows = new Map<number, object[]>();
  return {
    goOn(n: number) {
      const more = turns(n);
      rows.set(n, [...(rows.get(n) ?? []), ...more]);
      add(claude(n), more);
    },
    agent(n: number) {
      if (!existsSync(claude(n))) return;
      const agent = dice.below(2);
      add(claude(n, agent), turns(n, agent));
    },
    fork(n: number, of: number) {
      if (existsSync(claude(n)) || !rows.has(of)) return;
      const copied = (rows.get(of) ?? []).map((row) => ({ ...row, sessionId: uuid(n) }));
      mkdirSync(dirname(claude(n)), { recursive: true });
      writeFileSync(claude(n), "");
      add(claude(n), [...copied, ...turns(n)]);
    },
    codex(n: number) {
      const at = (ms: number) => new Date(FIRST + ms).toISOString();
      const start = dice.below(9 * DAY);
      const total = { input_tokens: 100 + n, cached_input_tokens: 0, output_tokens: 10 };
      const payload = { type: "token_count", info: { total_token_usage: total } };
      add(codex(n), [
        { timestamp: at(start), type: "session_meta", payload: { id: uuid(n), cwd: "/w/app1", timestamp: at(start) } },
        { timestamp: at(start), type: "turn_context", payload: { model: "gpt-5" } },
        { timestamp: at(start + dice.below(3 * DAY)), type: "event_msg", payload },
      ]);
    },
  };
}

/** Asks some questions, and each of them twice: the second answer is one that was kept. */
async function check(t: TestKernel, dice: Dice, note: string): Promise<void> {
  const sessions = await readSessions(t.kernel.storage.db);
  const prices = t.kernel.inject("pricing");
  const names = new Map(
    (await t.json<{ id: string; name: string }[]>("/api/projects?git=0")).map((one) => [one.id, one.name]),
  );
  const maybe = <T>(value: T) => (dice.below(3) === 0 ? value : undefined);
  const day = (n: number) => new Date(FIRST + n * DAY).toISOString().slice(0, 10);
  for (const by of GROUPS) {
    const one = sessions.length > 0 ? dice.pick(sessions) : undefined;
    const first = dice.below(12);
    const filter = {
      from: maybe(day(first)),
      to: maybe(day(first + dice.below(6))),
      tool: maybe(dice.pick(["claude-code", "codex"])),
      kind: maybe(dice.pick(["main", "subagent", "fork"])),
      project: maybe(one?.project),
      session: dice.below(6) === 0 ? one?.root : undefined,
    };
    const zone = dice.pick(ZONES);
    const query = new URLSearchParams({ by, tz: zone });
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, value);
    const right = brute(sessions, { ...filter, by, zone }, prices, names);
    for (const time of ["first", "again"])
      expect(reportFigures(await t.json<UsageReport>(`/api/usage?${query}`)), `${note}, ${query}, ${time}`).toEqual(
        right,
      );
  }
  const zone = dice.pick(ZONES);
  const [from, to] = [day(dice.below(6)), day(6 + dice.below(6))];
  const report = await t.json<InsightsReport>(`/api/insights?tz=${zone}&from=${from}&to=${to}`);
  const { totals, rows } = brute(sessions, { by: "day", zone, from, to }, prices);
  const asked = { ...report.totals, models: [] };
  expect({ ...toFigures({ ...asked, models: [] }), models: null }, `${note}, insights ${zone} ${from} ${to}`).toEqual({
    ...totals,
    models: null,
  });
  const busy = report.perDay
    .filter((one) => one.sessions > 0)
    .map((one) => [one.day, one.sessions, one.messages, one.cost.microdollars]);
  expect(busy).toEqual(rows.map((row) => [row.key, row.sessions, row.messages, row.microdollars]));
}

/** What a service that was asked all along answers is what another one answers over a copy. */
async function likeAnew(t: TestKernel, dice: Dice, note: string): Promise<void> {
  const copy = join(t.home, `copy-${randomUUID()}`);
  cpSync(join(t.home, "data"), copy, { recursive: true });
  const anew = await createTestKernel({
    home: t.home,
    plugins: defaultPlugins(),
    config: { sync: false, dataDir: copy },
  });
  const day = (n: number) => new Date(FIRST + n * DAY).toISOString().slice(0, 10);
  const projects = await t.json<{ id: string }[]>("/api/projects?git=0");
  for (const zone of [dice.pick(ZONES), "UTC"]) {
    const from = dice.below(9);
    const range = dice.pick(["", `&from=${day(from)}`, `&from=${day(from)}&to=${day(from + dice.below(5))}`]);
    for (const path of [
      `/api/insights?tz=${zone}${range}`,
      `/api/insights?tz=${zone}&since=${day(from)}`,
      `/api/insights/sessions?tz=${zone}${range}`,
      `/api/insights/calls?tz=${zone}${range}`,
      `/api/projects/activity?tz=${zone}&days=${dice.pick([30, 400])}`,
      ...projects.slice(0, 1).map(({ id }) => `/api/projects/${id}?git=0&tz=${zone}${range}`),
    ])
      expect(await t.json(path), `${note}, ${path}`).toEqual(await anew.json(path));
  }
  await anew.close();
  rmSync(copy, { recursive: true });
}

const STEPS = 9;

it("all reports are what the catalogue adds up to, after any history", async () => {
  for (let seed = 1; seed <= rounds(24, 2); seed++) {
    const dice = random(seed);
    const home = await makeTempDir();
    const start = () => createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
    let t = await start();
    const log = logs(home, dice);
    const deleted: string[] = [];
    const done: string[] = [];
    const acts: Record<string, () => unknown> = {
      "a session": () => log.goOn(dice.below(8)),
      "a sub-agent": () => log.agent(dice.below(8)),
      "a fork": () => log.fork(20 + dice.below(3), dice.below(8)),
      "another tool": () => log.codex(40 + dice.below(3)),
      "a session deleted": async () => {
        const [one] = (await readSessions(t.kernel.storage.db)).filter((_, i, all) => i === dice.below(all.length));
        if (!one) return;
        await t.send("DELETE", `/api/sessions/${encodeURIComponent(one.id)}`);
        deleted.push(one.id);
      },
      "one brought back": async () => {
        const id = deleted.pop();
        if (id === undefined) return;
        await t.json("/api/scan");
        await t.send("POST", "/api/import", { sessions: [id] });
      },
      "a name": async () => {
        const [one] = await readSessions(t.kernel.storage.db);
        if (one) await t.send("PATCH", `/api/sessions/${encodeURIComponent(one.id)}`, { name: `named ${done.length}` });
      },
      "a price": () => t.send("POST", "/api/prices", { model: dice.pick(MODELS), input: 1 + dice.below(9), output: 2 }),
      "a price taken back": () => t.send("DELETE", `/api/prices?model=${dice.pick(MODELS)}`),
      "a start": async () => {
        await t.close();
        t = await start();
      },
    };
    for (let n = 0; n < 4; n++) log.goOn(n);
    for (let step = 0; step < STEPS; step++) {
      const act = dice.pick(Object.keys(acts));
      done.push(act);
      await acts[act]?.();
      if (dice.below(4) > 0) await t.send("POST", "/api/import", { all: true });
      const note = `seed ${seed}: ${done.join(", ")}`;
      await check(t, dice, note);
      if (step === STEPS - 1 || (rounds(1, 0) && step % 3 === 2)) await likeAnew(t, dice, note);
    }
    await t.close();
  }
});
