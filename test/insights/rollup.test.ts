/** Sums of days are what a look at every session gives, whatever came, changed, moved and went. */
import { emptyUsage } from "sessarc";
import { expect, it } from "vitest";
import { zoneOf } from "../../plugins/insights/figures/buckets.ts";
import { CubeSession, packed, type Slot, type TokenSlot } from "../../plugins/insights/figures/cube-session.ts";
import { readDays } from "../../plugins/insights/figures/days.ts";
import { GROUPS, isByDays, report, reportOfAll } from "../../plugins/insights/figures/report.ts";
import { Rollup } from "../../plugins/insights/figures/rollup.ts";
import type { Prices } from "../../plugins/insights/figures/tally.ts";
import { rounds } from "../rounds.ts";

/** Some models cost half from eight in the evening on. */
const prices: Prices = {
  keyAt: (model, at) => (model.startsWith("night") ? `${model}\0${new Date(at).getUTCHours() >= 20 ? 1 : 0}` : model),
  cost: (usage) => ({
    microdollars: Object.entries(usage).reduce((sum, [key, t]) => sum + t.output * (key.endsWith("\x001") ? 1 : 2), 0),
    pricedAt: "2026-01-01",
    unpriced: [],
  }),
  price: () => undefined,
};

const START = Date.parse("2026-03-20T00:00:00Z") / 900_000;
const ZONES = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"];

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
      model: dice.pick(["one", "two", "night-owl"]),
      tokens: { ...emptyUsage(), input: dice.below(50), output: dice.below(50), cacheRead: dice.below(50) },
    });
  const head = {
    kind: "main" as const,
    id: `s${id}`,
    tool: dice.pick(["a", "b"]),
    project: "p",
    parent: null,
    label: null,
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

/** All a rollup holds, in an order of its own. */
function contents(rollup: Rollup): string[] {
  const out: string[] = [`${JSON.stringify(rollup.evidence)} ${JSON.stringify([...rollup.calls].sort())}`];
  const steady = { ...prices, keyAt: (model: string) => model };
  readDays(rollup, zoneOf("UTC"), { from: null, to: null }, steady, {
    onSlot: (...slot) => out.push(`slot ${slot.join(" ")}`),
    onTokens: (day, tool, slot) => out.push(`tokens ${day} ${tool} ${JSON.stringify(slot)}`),
    onSessions: (...roots) => out.push(`roots ${roots.join(" ")}`),
  });
  for (const [day, { sessions }] of rollup.days) out.push(`${day}: ${[...sessions].map(({ id }) => id).sort()}`);
  return out.sort();
}

it("sums of days equal a sum made anew, after any changes, in all zones and ranges", async () => {
  for (let seed = 1; seed <= rounds(160, 20); seed++) {
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

    const first = Math.floor(START / 96) + dice.below(20);
    const range = dice.pick([
      { from: null, to: null },
      { from: first, to: first + dice.below(9) },
      { from: first, to: null },
      { from: null, to: first },
    ]);
    const zone = zoneOf(dice.pick(ZONES));
    for (const by of GROUPS.filter(isByDays)) {
      const slow = await report(by, sessions, zone, range, new Map(), prices);
      const figures = { generation: 0, sessions, rollup, get: () => undefined };
      expect(await reportOfAll(by, figures, zone, range, prices), `seed ${seed}, ${by}`).toEqual(slow);
    }
  }
});
