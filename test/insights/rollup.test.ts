/** Sums of days, and sessions in columns, say what a look at every quarter-hour says, whatever came, changed, moved and went. */
import { emptyUsage } from "sessarc";
import { expect, it } from "vitest";
import { Blocks } from "../../plugins/insights/figures/blocks.ts";
import { dayName, zoneOf } from "../../plugins/insights/figures/buckets.ts";
import { CubeSession, KINDS } from "../../plugins/insights/figures/cube-session.ts";
import { readDays } from "../../plugins/insights/figures/days.ts";
import { Edit } from "../../plugins/insights/figures/edit.ts";
import { inOrder } from "../../plugins/insights/figures/order.ts";
import { packed, type Slot, type TokenSlot } from "../../plugins/insights/figures/packed.ts";
import { GROUPS, isByTime, report, reportOfDays, type UsageReport } from "../../plugins/insights/figures/report.ts";
import { Rollup } from "../../plugins/insights/figures/rollup.ts";
import { sessionRows, writeRows } from "../../plugins/insights/figures/session-rows.ts";
import { PRICED_AT, type Prices } from "../../plugins/insights/prices/pricing.ts";
import { rounds } from "../rounds.ts";
import { brute, reportFigures, toBrute } from "./brute.ts";

/** Some models cost half from eight in the evening on, one has no price. */
const prices: Prices = {
  keyAt: (model, at) => (model.startsWith("night") ? `${model}\0${new Date(at).getUTCHours() >= 20 ? 1 : 0}` : model),
  rates: (key) => (key === "gift" ? undefined : { ...emptyUsage(), output: key.endsWith("\x001") ? 1 : 2 }),
  cost(usage) {
    const all = Object.entries(usage);
    const isGift = ([key, t]: (typeof all)[number]) => key === "gift" && Object.values(t).some((count) => count > 0);
    return {
      microdollars: all.reduce((sum, [key, t]) => sum + t.output * (prices.rates(key)?.output ?? 0), 0),
      pricedAt: PRICED_AT,
      unpriced: all.some(isGift) ? ["gift"] : [],
    };
  },
  price: () => undefined,
};

const START = Date.parse("2026-03-20T00:00:00Z") / 900_000;
const ZONES = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "Pacific/Pago_Pago"];

function random(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    below: (n: number) => Math.floor(next() * n),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
  };
}

function someSession(id: number, dice: ReturnType<typeof random>): CubeSession {
  const first = START + dice.below(20 * 96);
  const slots = new Map<number, Slot>();
  const tokens: TokenSlot[] = [];
  for (let i = dice.below(5); i > 0; i--) {
    const quarter = first + dice.below(dice.pick([4, 96, 400]));
    slots.set(quarter, { quarter, m: dice.below(9), a: dice.below(900_000), e: dice.below(2) });
  }
  for (let i = dice.below(5); i > 0; i--)
    tokens.push({
      quarter: first + dice.below(dice.pick([4, 96, 400])),
      // Two are one model.
      model: dice.pick(["one", "two", "vendor/two", "night-owl", "gift"]),
      // Some need more than four bytes.
      tokens: { ...emptyUsage(), input: dice.below(50), output: dice.below(50), cacheRead: dice.below(50) ** 6 },
    });
  const head = {
    kind: dice.pick(KINDS),
    id: `s${id}`,
    tool: dice.pick(["a", "b"]),
    project: dice.pick(["p", "q", "r"]),
    parent: null,
    label: dice.pick([null, 'a "name"']),
    endedAt: null,
  };
  const evidence = dice.below(2) ? { records: 3, requests: 2, duplicatesFolded: 1, inheritedExcluded: 0 } : null;
  const ordered = [...slots.values()].sort((x, y) => x.quarter - y.quarter);
  return new CubeSession(
    head,
    packed(ordered, tokens, evidence, { kinds: {}, tools: { Read: [dice.below(4), 1] } }),
    head.id,
  );
}

const CHOICES = [undefined, "a", "b"].flatMap((tool) => [undefined, ...KINDS].map((kind) => ({ tool, kind })));

/** All a rollup holds, in an order of its own, as it comes back from a file. */
function contents(rollup: Rollup): string[] {
  const { layout, numbers } = rollup.packed();
  const again = Rollup.of(layout, numbers);
  const out: string[] = [JSON.stringify([...rollup.calls].sort())];
  const steady = { ...prices, keyAt: (model: string) => model };
  for (const of of CHOICES) {
    const note = JSON.stringify(of);
    out.push(`${note} ${JSON.stringify(again.evidence(of))}`);
    readDays(
      again,
      zoneOf("UTC"),
      { from: null, to: null },
      steady,
      {
        onSlot: (...slot) => out.push(`${note} slot ${slot.join(" ")}`),
        onTokens: (day, tool, slot) => out.push(`${note} tokens ${day} ${tool} ${JSON.stringify(slot)}`),
        onSessions: (...roots) => out.push(`${note} roots ${roots.join(" ")}`),
      },
      of,
    );
  }
  return out.sort();
}

it("sums of days equal a sum made anew, after any changes, in all zones and ranges", async () => {
  for (let seed = 1; seed <= rounds(96, 6); seed++) {
    const dice = random(seed);
    const rollup = new Rollup();
    let sessions: CubeSession[] = [];
    for (let step = 0; step < 12; step++) {
      const gone: CubeSession[] = [];
      const come: CubeSession[] = [];
      for (const session of sessions) {
        const fate = dice.below(8);
        if (fate < 2) gone.push(session);
        if (fate === 1) come.push(someSession(Number(session.id.slice(1)), dice).under(session.root));
        // One that counts with another from now on, or alone again.
        if (fate === 2) {
          gone.push(session);
          come.push(session.under(dice.pick([session.id, "s0", "s5"])));
        }
      }
      for (let n = dice.below(5); n > 0; n--) come.push(someSession(step * 10 + n, dice));
      rollup.change(gone, come);
      sessions = [...sessions.filter((session) => !gone.includes(session)), ...come];
    }
    const anew = new Rollup();
    anew.change([], sessions);
    expect(contents(rollup), `seed ${seed}`).toEqual(contents(anew));

    // More than a block of sessions, of which the first are those that came and went.
    const before = await inOrder([...sessions, ...more]);
    const there = new Set(before);
    let blocks = Blocks.of(before);
    await report("model", { blocks }, zoneOf("UTC"), { from: null, to: null }, new Map(), prices);
    const edit = new Edit(blocks);
    for (let n = dice.below(9); n > 0; n--) {
      const place = dice.below(before.length);
      const old = edit.get(place);
      const one = someSession(5_000 + n, dice);
      const now = dice.below(2) ? one : one.under(dice.pick(before).root);
      const [goes, comes] = [dice.below(3) > 0, dice.below(3) > 0];
      if (old && goes) there.delete(old);
      if (comes) there.add(now);
      if (old && goes && comes) edit.set(place, now);
      else if (comes) edit.add(now);
      else if (old && goes) edit.remove(place);
      else if (old) edit.set(place, old);
    }
    blocks = edit.done(true);
    expect(blocks.sessions.length).toBe(there.size);
    expect(blocks.sessions.every((session) => there.has(session))).toBe(true);
    const many = [...there];

    const first = Math.floor(START / 96) + dice.below(20);
    const [from, to] = dice.pick([
      [null, null],
      [first, first + dice.below(9)],
      [first, null],
      [null, first],
    ] as const);
    const name = dice.pick(ZONES);
    const maybe = <T>(value: T) => (dice.below(3) === 0 ? value : undefined);
    const tool = maybe(dice.pick(["a", "b"]));
    const asked = { kind: maybe(dice.pick(KINDS)), project: maybe(dice.pick(["p", "q"])) };
    for (const by of GROUPS) {
      const question = {
        by,
        zone: name,
        from: from === null ? undefined : dayName(from),
        to: to === null ? undefined : dayName(to),
        tool,
      };
      const ask = [zoneOf(name), { from, to }] as const;
      const note = `seed ${seed} ${JSON.stringify({ ...question, ...asked })}`;
      if (isByTime(by)) {
        const of = { tool, kind: asked.kind };
        const found = await reportOfDays(by, { rollup, blocks: Blocks.of(sessions) }, ...ask, prices, of);
        expect(reportFigures(found), `days, ${note}`).toEqual(
          brute(sessions.map(toBrute), { ...question, ...of }, prices),
        );
      }
      const accept = (origin: { tool: string; kind: string; project: string }) =>
        (tool ?? origin.tool) === origin.tool &&
        (asked.kind ?? origin.kind) === origin.kind &&
        (asked.project ?? origin.project) === origin.project;
      const right = brute(many.map(toBrute), { ...question, ...asked }, prices, new Map([["p", "Pea"]]));
      const bySession = async (limit?: number) =>
        read(writeRows(await sessionRows({ blocks, accept }, ...ask, prices, limit)));
      const found =
        by === "session"
          ? await bySession()
          : await report(by, { blocks, accept }, ...ask, new Map([["p", "Pea"]]), prices);
      expect({ ...reportFigures(found), rowCount: found.rowCount }, note).toEqual({
        ...right,
        rowCount: right.rows.length,
      });
      if (by !== "session") continue;
      const limit = 1 + dice.below(dice.pick([5, 900]));
      expect(await bySession(limit), `${limit}, ${note}`).toEqual({ ...found, rows: found.rows.slice(0, limit) });
    }
  }
});

const dice = random(99);
const more = Array.from({ length: 600 }, (_, i) => someSession(1_000 + i, dice)).map((session, i) =>
  i % 7 === 0 ? session.under(`s${1_000 + (i >> 1)}`) : session,
);

async function read(pieces: AsyncGenerator<string>): Promise<UsageReport> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return JSON.parse(text) as UsageReport;
}
