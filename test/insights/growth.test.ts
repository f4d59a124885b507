/** Reports over an archive of many sessions look at few of them: those at the edges of their range, and those that changed. */
import { emptyUsage } from "sessarc";
import { expect, it } from "vitest";
import { eachShareIn } from "../../plugins/insights/figures/add.ts";
import { Blocks, TOGETHER } from "../../plugins/insights/figures/blocks.ts";
import { type DayRange, dayName, zoneOf } from "../../plugins/insights/figures/buckets.ts";
import { CubeSession } from "../../plugins/insights/figures/cube-session.ts";
import { Edit } from "../../plugins/insights/figures/edit.ts";
import { inOrder } from "../../plugins/insights/figures/order.ts";
import { packed } from "../../plugins/insights/figures/packed.ts";
import { replace } from "../../plugins/insights/figures/replace.ts";
import { report } from "../../plugins/insights/figures/report.ts";
import { Rollup } from "../../plugins/insights/figures/rollup.ts";
import { DayTraits, traitsOf } from "../../plugins/insights/figures/traits.ts";
import { createPricing } from "../../plugins/insights/prices/pricing.ts";
import { brute, reportFigures, toBrute } from "./brute.ts";

const SESSIONS = 9_000;
const FIRST = Date.UTC(2026, 0, 1) / 900_000;
const DAYS = 300;
const prices = createPricing({ "model-0": { input: 1, output: 3 } }).now;

/** `n` says all about it; one in a hundred went on for a month. */
function session(n: number, outputs = n): CubeSession {
  const first = FIRST + ((n * 7_919) % (DAYS * 96));
  const last = first + (n % 100 === 0 ? 30 * 96 : n % 4);
  const tokens = { ...emptyUsage(), input: n % 50, output: outputs };
  const slots = [...new Set([first, last])].map((quarter) => ({ quarter, m: 1 + (n % 3), a: 60_000, e: 0 }));
  const evidence = { records: 1, requests: 1 + (n % 9), duplicatesFolded: 0, inheritedExcluded: 0 };
  const id = `s${n}`;
  const head = { id, kind: "main", tool: `tool-${n % 2}`, project: `p${n % 20}`, parent: null, label: null } as const;
  return new CubeSession(
    { ...head, endedAt: last * 900_000 },
    packed(slots, [{ quarter: last, model: `model-${n % 3}`, tokens }], evidence, {
      kinds: {},
      tools: { Read: [2, n % 2] },
    }),
    // Some were started by the one before.
    n % 11 === 1 ? `s${n - 1}` : id,
  );
}

/** Sessions whose figures were read meanwhile. */
async function readBy(work: () => Promise<unknown>): Promise<number> {
  const read = new Set<CubeSession>();
  const { prototype } = CubeSession;
  const own = { eachSlot: prototype.eachSlot, eachTokens: prototype.eachTokens, eachTool: prototype.eachTool };
  for (const [name, method] of Object.entries(own))
    Object.assign(prototype, {
      [name](this: CubeSession, use: never) {
        read.add(this);
        return method.call(this, use);
      },
    });
  try {
    await work();
  } finally {
    Object.assign(prototype, own);
  }
  return read.size;
}

it("what lies in a range together is read once, and again where one of it changed", async () => {
  const made = Array.from({ length: SESSIONS }, (_, n) => session((n * 4_001) % SESSIONS));
  let blocks = Blocks.of(await inOrder(made));
  const rollup = new Rollup();
  rollup.change([], made);
  const all = { from: null, to: null };
  const first = FIRST / 96 + 100;
  const month = { from: first, to: first + 29 };
  const ask = async (range: { from: number | null; to: number | null }, zone = "UTC") => {
    for (const by of ["project", "model", "tool", "kind"] as const)
      await report(by, { blocks }, zoneOf(zone), range, new Map(), prices);
    await report("model", { blocks, accept: ({ tool }) => tool === "tool-1" }, zoneOf(zone), range, new Map(), prices);
    await traitsOf({ rollup, blocks }, zoneOf(zone), range, new DayTraits());
  };
  expect(await readBy(() => ask(all))).toBe(SESSIONS);
  expect(await readBy(() => ask(all, "Asia/Tokyo"))).toBe(0);
  // Those of a block at each edge, and those that went on for long, which stand together.
  const few = 2 * TOGETHER + SESSIONS / 100;
  expect(await readBy(() => ask(month))).toBeLessThan(few);
  expect(await readBy(() => ask(month, "America/New_York"))).toBeLessThan(few);

  const edit = new Edit(blocks);
  const before = edit.get(5 * TOGETHER + 7) as CubeSession;
  const after = session(Number(before.id.slice(1)), 1_000_000).under(before.root);
  edit.set(5 * TOGETHER + 7, after);
  rollup.change([before], [after]);
  blocks = edit.done(false);
  expect(await readBy(() => ask(all))).toBe(TOGETHER);
  expect(await readBy(() => ask(all))).toBe(0);

  // Sums of sums as well, which are made as they are asked for.
  for (let again = 0; again < 3; again++) await ask(all);
  const sessions = blocks.sessions.map(toBrute);
  for (const range of [all, month])
    for (const by of ["project", "model", "tool"] as const) {
      const said = {
        from: range.from === null ? undefined : dayName(range.from),
        to: range.to === null ? undefined : dayName(range.to),
      };
      const found = await report(by, { blocks }, zoneOf("UTC"), range, new Map(), prices);
      expect(reportFigures(found)).toEqual(brute(sessions, { by, zone: "UTC", ...said }, prices));
    }
});

/** All sums, in an order that says nothing of how they came about. */
const allOf = (rollup: Rollup) => {
  const rows = [...rollup.days].flatMap(([day, { groups, shared }]) =>
    [
      ...[...shared].map(([key, cells]) => [`shared ${key}`, cells] as const),
      ...[...groups].flatMap(([key, { slots, roots, tokens }]) => [
        [`slots ${key}`, slots] as const,
        [`roots ${key}`, roots] as const,
        ...[...tokens].map(([model, cells]) => [`tokens ${key} ${model}`, cells] as const),
      ]),
    ].flatMap(([name, { all }]) => {
      const width = all.figures.length / all.keys.length;
      return [...all.keys].map((key, i) => [day, name, key, ...all.figures.slice(i * width, (i + 1) * width)].join());
    }),
  );
  return { rows: rows.sort(), calls: Object.fromEntries(rollup.calls), evidence: rollup.evidence() };
};

it("sessions that changed by the thousand give others their turns, and come to what all of them come to anew", async () => {
  const made = Array.from({ length: SESSIONS }, (_, n) => session(n));
  const rollup = new Rollup();
  rollup.change([], made);
  const places = new Map(made.map(({ id }, place) => [id, place]));
  // A third stays, a third has changed, a third is gone, some are new. None was started by another any more.
  const read = Array.from({ length: SESSIONS }, (_, n) => session(3 * n + 1, 5)).map((one) => one.under(one.id));
  const gone = Array.from({ length: SESSIONS / 3 }, (_, n) => `s${3 * n + 2}`);
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const changed = [...read.map(({ id }) => id), ...gone];
  const blocks = await replace({ blocks: Blocks.of(made), rollup }, places, changed, read);
  isDone = true;
  expect(turns).toBeGreaterThan(1);
  const now = [...made.filter((_, n) => n % 3 === 0).map((one) => one.under(one.id)), ...read];
  expect(blocks.sessions.map(({ id, root }) => [id, root]).sort()).toEqual(now.map(({ id }) => [id, id]).sort());
  for (const { id } of now) expect(blocks.at(places.get(id) ?? -1)?.id).toBe(id);
  const anew = new Rollup();
  anew.change([], now);
  expect(allOf(rollup)).toEqual(allOf(anew));
});

/** What a question is told: how many sums, and what they come to with the sessions told by themselves. */
async function told(blocks: Blocks, range: DayRange) {
  const sum = { shares: 0, sessions: 0, messages: 0, output: 0, calls: 0 };
  const one = (session: CubeSession) => {
    sum.sessions++;
    session.eachSlot((_, messages) => {
      sum.messages += messages;
    });
    session.eachTokens((_, __, tokens) => {
      sum.output += tokens[1] as number;
    });
    session.eachTool((_, calls) => {
      sum.calls += calls;
    });
  };
  await eachShareIn(blocks, zoneOf("UTC"), range, one, (share) => {
    sum.shares++;
    sum.sessions += share.heads.size;
    sum.messages += share.messages;
    for (const { tokens } of share.models.values()) sum.output += tokens[1] as number;
    for (const { calls } of share.calls.values()) sum.calls += calls;
  });
  return sum;
}

it("of blocks of blocks of blocks there is one sum, and it is that of the sessions after each change", async () => {
  const alone = (n: number, outputs = n) => {
    const one = session(n, outputs);
    return one.under(one.id);
  };
  const made = Array.from({ length: 64 * TOGETHER - 3 }, (_, n) => alone((n * 4_001) % 32_000));
  let blocks = Blocks.of(made);
  const all = { from: null, to: null };
  const origins = 20;
  let next = 100_000;
  const check = async () => {
    const sum = { shares: origins, sessions: 0, messages: 0, output: 0, calls: 0 };
    for (const one of blocks.sessions) {
      sum.sessions++;
      one.eachSlot((_, messages) => {
        sum.messages += messages;
      });
      one.eachTokens((_, __, tokens) => {
        sum.output += tokens[1] as number;
      });
      one.eachTool((_, calls) => {
        sum.calls += calls;
      });
    }
    // Each time it is asked sums of a wider kind are made; those of before say the same.
    for (let again = 0; again < 3; again++) expect({ ...(await told(blocks, all)), shares: origins }).toEqual(sum);
    expect(await told(blocks, all)).toEqual(sum);
  };
  await check();
  // One changes, one goes, and so many come that a sixty-fifth block and with it another level is begun.
  const steps: ((edit: Edit) => void)[] = [
    (edit) => edit.set(40 * TOGETHER + 9, alone(next++, 777)),
    (edit) => edit.remove(3 * TOGETHER + 11),
    (edit) => {
      for (let i = 0; i < 10; i++) edit.add(alone(next++));
    },
    (edit) => edit.set(64 * TOGETHER + 1, alone(next++, 888)),
    (edit) => edit.set(2, alone(next++, 999)),
  ];
  for (const step of steps) {
    const edit = new Edit(blocks);
    step(edit);
    blocks = edit.done(false);
    await check();
  }
});
