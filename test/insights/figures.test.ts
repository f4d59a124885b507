/** Reports of the archive are what every quarter-hour of every session adds up to, whatever came, changed, moved and went. */

import type { SessionUsage } from "sessarc";
import { emptyUsage } from "sessarc/adapter";
import { expect, it } from "vitest";
import { eraseFigures } from "../../plugins/archive/figures/write.ts";
import { dayName, toZone } from "../../plugins/insights/figures/buckets.ts";
import { readKnown } from "../../plugins/insights/figures/questions.ts";
import { GROUPS, report } from "../../plugins/insights/figures/report.ts";
import { KINDS } from "../../plugins/insights/figures/sql.ts";
import { rounds } from "../rounds.ts";
import { brute, reportFigures } from "./brute.ts";
import { openCatalogue, readSessions, type SlottedSession, storeSession } from "./rows.ts";

/** The second costs less at night, the third cost more once; the last has no price. */
const MODELS = ["claude-haiku-4-5", "deepseek-chat", "o3", "vendor/claude-haiku-4-5", "unheard-of-1"];
const START = Date.parse("2026-03-20T00:00:00Z") / 900_000;
const AUTUMN = Date.parse("2026-10-20T00:00:00Z") / 900_000;
const LONG_AGO = Date.parse("1969-11-03T00:00:00Z") / 900_000;
const ZONES = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "Africa/Casablanca"];

function random(seed: number) {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}
type Dice = ReturnType<typeof random>;

/** Columns of a session that says anything. */
function anySession(dice: Dice): SlottedSession {
  const first = dice.below(40) === 0 ? LONG_AGO : dice.pick([START, AUTUMN]) + dice.below(20 * 96);
  const usage: SessionUsage = {};
  const slots: Record<string, { m: number; a: number; e: number; u?: SessionUsage }> = {};
  let [messages, errors] = [dice.below(3), dice.below(2)];
  for (let i = dice.below(6); i > 0; i--) {
    const quarter = first + dice.below(dice.pick([4, 96, 400]));
    const slot = { m: dice.below(9), a: dice.below(900_000), e: dice.below(2), u: {} as SessionUsage };
    const name = new Date(quarter * 900_000).toISOString().slice(0, 16);
    if (Object.hasOwn(slots, name)) continue;
    slots[name] = slot;
    messages += slot.m;
    errors += slot.e;
    for (let k = dice.below(3); k > 0; k--) {
      const model = dice.pick(MODELS);
      if (Object.hasOwn(slot.u, model)) continue;
      // Some need more than four bytes.
      const tokens = { ...emptyUsage(), input: dice.below(50), output: dice.below(50), cacheRead: dice.below(50) ** 6 };
      slot.u[model] = tokens;
      const sum = usage[model] ?? emptyUsage();
      usage[model] = sum;
      for (const field of ["input", "output", "cacheRead"] as const) sum[field] += tokens[field];
    }
  }
  if (dice.below(3) === 0) {
    const timeless = usage["claude-haiku-4-5"] ?? emptyUsage();
    timeless.output += dice.below(40);
    usage["claude-haiku-4-5"] = timeless;
  }
  const evidence = { records: 3, requests: dice.below(3), duplicatesFolded: 1, inheritedExcluded: 0 };
  const row = {
    tool: dice.pick(["a", "b"]),
    project_id: dice.pick(["p", "q", "r"]),
    parent_id: dice.below(2) ? null : `s${dice.below(40)}`,
    forked_from: dice.below(4) ? null : "s1",
    git_branch: dice.pick([null, "main", "a:b"]),
    cwd: dice.pick([null, "/w/a", "/w/a/b"]),
    title: dice.pick([null, 'a "name"']),
    usage: JSON.stringify(usage),
    evidence: dice.below(2) ? JSON.stringify(evidence) : null,
    message_count: messages,
    error_count: errors,
    sort_at: (first + dice.below(500)) * 900_000,
  };
  return { slots, row };
}

it("every grouping, filter and range, in zones of every kind", async () => {
  const names = new Map([["p", "Pea"]]);
  for (let seed = 1; seed <= rounds(40, 4); seed++) {
    const dice = random(seed);
    const { db, prices, close } = await openCatalogue({ "claude-haiku-4-5": { input: 1, output: 3 } });
    for (let step = 0; step < 4; step++) {
      for (let n = 1 + dice.below(30); n > 0; n--)
        await db.batch(storeSession(db, `s${dice.below(40)}`, anySession(dice)));
      const gone = Array.from({ length: dice.below(6) }, () => `s${dice.below(40)}`);
      await db.batch([
        ...gone.map((id) => ["delete from session where id = ?", [id]] as const),
        ...eraseFigures(gone),
        // Figures of a session that only moves are not rewritten.
        ["update session set project_id = ? where id = ?", [dice.pick(["p", "q"]), `s${dice.below(40)}`]],
        ["update session set forked_from = ? where id = ?", [dice.pick([null, "s2"]), `s${dice.below(40)}`]],
      ]);
      const sessions = await readSessions(db);
      const known = await readKnown(db);
      for (const by of GROUPS) {
        const maybe = <T>(value: T) => (dice.below(3) === 0 ? value : undefined);
        const first = Math.floor(dice.pick([START, AUTUMN]) / 96) + dice.below(20);
        const [from, to] = dice.pick([
          [null, null],
          [first, first + dice.below(9)],
          [first, null],
          [null, first],
        ] as const);
        const choice = {
          tool: maybe(dice.pick(["a", "b"])),
          kind: maybe(dice.pick(KINDS)),
          project: maybe(dice.pick(["p", "q"])),
          session: dice.below(6) === 0 ? dice.pick(sessions)?.root : undefined,
        };
        const name = dice.pick(ZONES);
        const question = {
          ...choice,
          by,
          zone: name,
          from: from === null ? undefined : dayName(from),
          to: to === null ? undefined : dayName(to),
        };
        const { project, ...rest } = choice;
        const scope = {
          zone: toZone(name),
          range: { from, to },
          choice: { ...rest, projects: project === undefined ? undefined : [project] },
        };
        const asked = { scope, prices, known };
        const found = await report(db, by, asked, by === "project" || by === "branch" ? names : new Map());
        const right = brute(sessions, question, prices, names);
        expect(
          { ...reportFigures(found), rowCount: found.rowCount },
          `seed ${seed} step ${step} ${JSON.stringify(question)}`,
        ).toEqual({ ...right, rowCount: right.rows.length });
        const limit = 1 + dice.below(5);
        expect(await report(db, by, asked, by === "project" || by === "branch" ? names : new Map(), limit)).toEqual({
          ...found,
          rows: found.rows.slice(0, limit),
        });
      }
    }
    await close();
  }
});

it("each day on which clocks are changed, and its neighbours", async () => {
  // In 2010 St. John's set its clocks back at one minute past midnight: quarter-hours of two days alternate.
  const years = [2010, 2026].map((year) => ({
    first: Date.UTC(year, 0) / 900_000,
    last: Date.UTC(year + 1, 0) / 900_000,
  }));
  for (const name of [...ZONES, "Asia/Beirut", "Australia/Lord_Howe"]) {
    const zone = toZone(name);
    const offset = (quarter: number) => zone.local(quarter) - quarter;
    const { db, prices, close } = await openCatalogue();
    const days = new Set<number>();
    const slots: Record<string, { m: number; a: number; e: number }> = {};
    for (const { first, last } of years)
      for (let quarter = first; quarter < last; quarter++) {
        if (offset(quarter) === offset(quarter + 1)) continue;
        for (let near = quarter - 100; near <= quarter + 100; near++)
          slots[new Date(near * 900_000).toISOString().slice(0, 16)] = { m: 1, a: 0, e: 0 };
        for (const day of [-1, 0, 1]) days.add(zone.day(quarter) + day);
      }
    const count = Object.keys(slots).length;
    await db.batch(storeSession(db, "s", { slots, row: { message_count: count } }));
    const sessions = await readSessions(db);
    const known = await readKnown(db);
    for (const day of days)
      for (const range of [
        { from: day, to: day },
        { from: null, to: day },
        { from: day, to: null },
      ]) {
        const found = await report(db, "day", { scope: { zone, range }, prices, known }, new Map());
        const [from, to] = [range.from, range.to].map((one) => (one === null ? undefined : dayName(one)));
        expect(reportFigures(found), `${name} ${from} ${to}`).toEqual(
          brute(sessions, { by: "day", zone: name, from, to }, prices),
        );
      }
    await close();
  }
});
