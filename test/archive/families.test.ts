/** The figures of logs that repeat each other are those of the logs, whatever happened on the way. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { SessionUsage } from "sessarc";
import { expect, it } from "vitest";
import { salvageCatalogue } from "../../core/storage/salvage.ts";
import type { UsageReport } from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import type { TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { openBooked } from "./booked.ts";
import {
  create,
  family,
  type Log,
  type Step,
  type Truth,
  toHistory,
  toId,
  toMessages,
  toPath,
  toTokens,
  write,
} from "./families.ts";

const toOutput = (usage: SessionUsage) => Object.values(usage).reduce((sum, tokens) => sum + tokens.output, 0);

/** All that is counted of each session. */
async function counted(t: TestKernel) {
  const rows = await t.kernel.storage.db.all<Record<string, string | number | null>>(
    `select id, parent_id, forked_from, copied, message_count, error_count, active_ms, usage, inherited, evidence, started_at,
       ended_at, lineage >= 8 as open from session order by id`,
  );
  const reports = [];
  for (const by of ["tool", "project", "model", "day", "kind", "session"])
    reports.push(await t.json(`/api/usage?tz=UTC&by=${by}`));
  const parsed = (row: (typeof rows)[number], name: string) => JSON.parse(String(row[name] ?? "null"));
  return {
    rows: await Promise.all(
      rows.map(async (row) => ({
        ...row,
        facts: await t.kernel.inject("archive").facts(String(row.id)),
        ...Object.fromEntries(["usage", "inherited", "evidence"].map((name) => [name, parsed(row, name)])),
      })),
    ),
    reports,
  };
}

/** The figures of tokens, as the oracle has them. */
async function tokens(t: TestKernel): Promise<Truth> {
  const report = (by: string) => t.json<UsageReport>(`/api/usage?tz=UTC&by=${by}`);
  const sums = ({ rows }: UsageReport, name: (row: UsageReport["rows"][number]) => string = (row) => row.key) =>
    Object.fromEntries(rows.map((row) => [name(row), toOutput(row.usage)]).filter(([, sum]) => sum !== 0));
  const models = await report("model");
  const { sessions } = await t.json<{ sessions: { id: string; usage: SessionUsage }[] }>("/api/sessions");
  const projects = await t.json<{ id: string; path: string }[]>("/api/projects?git=0");
  const paths = new Map(projects.map(({ id, path }) => [id, path]));
  return {
    models: sums(models),
    days: sums(await report("day")),
    projects: sums(await report("project"), (row) => paths.get(row.key) ?? row.key),
    logs: Object.fromEntries(sessions.map(({ id, usage }) => [id, toOutput(usage)]).filter(([, sum]) => sum !== 0)),
    requests: models.evidence.requests,
  };
}

/** An archive of logs that grow, are removed, deleted and brought back. */
class History {
  readonly lengths: number[];
  /** Rows of each log that were imported. */
  readonly taken: number[];
  readonly removed = new Set<number>();
  /** Deleted, and those asked for. */
  readonly deleted = new Map<number, number>();
  t: TestKernel;

  readonly home: string;
  readonly logs: readonly Log[];

  constructor(home: string, logs: readonly Log[], t: TestKernel) {
    this.home = home;
    this.logs = logs;
    this.t = t;
    this.lengths = logs.map(() => 0);
    this.taken = logs.map(() => 0);
  }

  async take(step: Step): Promise<void> {
    const { t, home, logs } = this;
    switch (step.do) {
      case "grow":
        write(home, logs, step.log, ++(this.lengths[step.log] as number));
        return;
      case "sync":
        expect((await t.send("POST", "/api/sync?wait=1")).body).toMatchObject({ failed: [] });
        return this.#took(logs.keys());
      case "import":
        return this.#import(step.log);
      case "live": {
        if (this.removed.has(step.log)) return;
        const log = logs[step.log] as Log;
        const { importer } = t.kernel.inject("archive/open");
        await importer.runPaths([toPath(home, log)], (found) => found.filter(({ id }) => id === toId(log)));
        return this.#took([step.log]);
      }
      case "remove":
        return this.#remove(step.log);
      case "delete":
        return this.#delete(step.log);
      case "undo":
        return this.undo();
      case "compact":
        return void (await t.kernel.storage.db.compact());
      default:
        await t.close();
        if (step.do === "rebuild") await salvageCatalogue(join(home, "pieces"));
        this.t = await openBooked(home, "pieces");
    }
  }

  #took(numbers: Iterable<number>): void {
    for (const n of numbers)
      if (!this.removed.has(n) && !this.deleted.has(n)) this.taken[n] = this.lengths[n] as number;
  }

  async #import(n: number): Promise<void> {
    if (this.removed.has(n)) return;
    const back = new Set([n]);
    for (const [one, asked] of this.deleted) if (asked === n) back.add(one);
    for (const one of back) this.deleted.delete(one);
    await this.t.json("/api/scan");
    const { status, body } = await this.t.send("POST", "/api/import", { sessions: [toId(this.logs[n] as Log)] });
    expect([status, body]).toMatchObject([200, { failed: [] }]);
    this.#took(back);
  }

  /** Only once it is whole: what is not imported by then is gone. */
  async #remove(n: number): Promise<void> {
    const log = this.logs[n] as Log;
    if (this.removed.has(n) || this.deleted.has(n) || this.lengths[n] !== log.rows.length) return;
    await this.#import(n);
    this.removed.add(n);
    renameSync(toPath(this.home, log), `${toPath(this.home, log)}.gone`);
  }

  async #delete(n: number): Promise<void> {
    const family = [...this.logs.keys()].filter((one) => one === n || this.logs[one]?.parent === n);
    if (this.deleted.has(n) || family.some((one) => this.removed.has(one))) return;
    // Of a log without a row as well.
    const stored = await this.t.kernel.storage.db.all<{ id: string }>("select id from session");
    const { status } = await this.t.send("DELETE", `/api/sessions/${toId(this.logs[n] as Log)}`);
    if (status === 404) return;
    expect(status).toBe(200);
    for (const one of family)
      if (!this.deleted.has(one) && stored.some(({ id }) => id === toId(this.logs[one] as Log)))
        this.deleted.set(one, n);
  }

  async undo(): Promise<void> {
    for (const asked of new Set(this.deleted.values())) await this.#import(asked);
  }

  putBack(): void {
    for (const n of this.removed) {
      const path = toPath(this.home, this.logs[n] as Log);
      renameSync(`${path}.gone`, path);
    }
  }

  /** The tokens of what was imported, less what counts in sessions that were deleted. */
  async check(): Promise<void> {
    const rows = await this.t.kernel.storage.db.all<{ id: string; copied: number; message_count: number }>(
      "select id, copied, message_count from session",
    );
    for (const { id, copied, message_count } of rows) {
      const n = this.logs.findIndex((log) => toId(log) === id);
      expect([id, message_count + Math.max(0, copied)]).toEqual([id, this.taken[n]]);
    }
    if (this.deleted.size === 0) expect(await tokens(this.t)).toEqual(toTokens(this.logs, this.taken));
  }
}

const history = family.chain((logs) => fc.record({ logs: fc.constant(logs), steps: toHistory(logs) }));

it("any family of forks and sub-agents, whatever happens to logs and archive on the way, counts what the logs say", async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ logs, steps }) => {
      const home = await makeTempDir();
      create(home, logs);
      const pieces = new History(home, logs, await openBooked(home, "pieces"));
      for (const step of steps) {
        await pieces.take(step);
        if (step.do !== "grow") await pieces.check();
      }
      await pieces.undo();
      await pieces.take({ do: "sync" });
      await pieces.check();
      const found = await counted(pieces.t);
      await pieces.t.close();
      pieces.putBack();
      const whole = logs.map((log) => log.rows.length);
      const fresh = await openBooked(home, "whole");
      await fresh.send("POST", "/api/import", { all: true });
      expect(await tokens(fresh)).toEqual(toTokens(logs, whole));
      const rows = await fresh.kernel.storage.db.all<{ id: string; n: number; e: number; c: number }>(
        "select id, message_count as n, error_count as e, copied as c from session",
      );
      expect(Object.fromEntries(rows.map(({ id, n, e, c }) => [id, [n, e, c]]))).toEqual(toMessages(logs));
      const all = await counted(fresh);
      const stateless = await fresh.kernel.inject("insights").stateless({ by: "day", tz: "UTC" });
      // A day with messages alone has a row without tokens.
      const spent = stateless.rows
        .map((row) => [row.key, toOutput(row.usage)] as const)
        .filter(([, tokens]) => tokens > 0);
      expect(Object.fromEntries(spent)).toEqual(toTokens(logs, whole).days);
      await fresh.close();
      expect(found).toEqual(all);
      const backwards = await openBooked(home, "backwards");
      await backwards.json("/api/scan");
      for (const log of [...logs].reverse()) await backwards.send("POST", "/api/import", { sessions: [toId(log)] });
      expect(await counted(backwards)).toEqual(all);
      await backwards.close();
      rmSync(home, { recursive: true, force: true });
    }),
    { numRuns: rounds(48, 5), endOnFailure: true },
  );
});
