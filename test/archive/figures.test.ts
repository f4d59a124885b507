/** Figures of a session are rows, and nowhere else: what is read back is what was written, whatever the log's names and times are. */

import type { SessionUsage } from "sessarc";
import { addUsage } from "sessarc/adapter";
import { expect, it } from "vitest";
import { readFacts } from "../../plugins/archive/figures/read.ts";
import { eraseFigures, writeFigures } from "../../plugins/archive/figures/write.ts";
import type { SessionFacts } from "../../plugins/archive/index.ts";
import { type Dice, random } from "../daily/history.ts";
import { insertSession, openCatalogue } from "../insights/rows.ts";
import { rounds } from "../rounds.ts";

const NAMES = ["Bash", "__proto__", "constructor", 'a "quoted" name', "ünïcode", ""];
const MODELS = ["claude-haiku-4-5", "toString", "model\u001ffast>200000"];
const START = Date.parse("2026-11-20T00:00:00Z") / 900_000;

const toTokens = (dice: Dice) => ({
  input: dice.below(3) * 100,
  output: 1 + dice.below(9),
  cacheWrite5m: dice.below(2),
  cacheWrite1h: dice.below(2),
  cacheRead: dice.below(2) * 5_000,
});

/** As an import has them; some messages, failures and tokens are without a time. */
function anyFigures(dice: Dice, id: string): Parameters<typeof writeFigures>[0] {
  const some = <T>(value: () => T): Record<string, T> =>
    Object.fromEntries(NAMES.filter(() => dice.below(2) === 0).map((name) => [name, value()]));
  const facts: SessionFacts = {
    kinds: { user: 1 + dice.below(5), note: 1 },
    tools: some(() => [1 + dice.below(5), dice.below(2)]),
    files: some(() => [dice.below(3), dice.below(3)]),
    slots: {},
    last: dice.below(3) === 0 ? null : dice.below(1e6),
  };
  const usage: SessionUsage = {};
  let [messages, errors] = [dice.below(3), dice.below(2)];
  for (let n = dice.below(6); n > 0; n--) {
    const name = new Date((START + dice.below(8)) * 900_000).toISOString().slice(0, 16);
    if (facts.slots[name]) continue;
    const u: SessionUsage = {};
    for (const model of MODELS.filter(() => dice.below(3) === 0)) {
      const tokens = toTokens(dice);
      addUsage(u, model, tokens);
      addUsage(usage, model, tokens);
    }
    const slot = { m: 1 + dice.below(4), a: dice.below(900_000), e: dice.below(2) };
    facts.slots[name] = Object.keys(u).length > 0 ? { ...slot, u } : slot;
    messages += slot.m;
    errors += slot.e;
  }
  if (dice.below(2)) addUsage(usage, dice.pick(MODELS), toTokens(dice));
  if (dice.below(2)) facts.skills = some(() => [1 + dice.below(4), dice.below(2), dice.below(2) ? null : 5]);
  if (Object.keys(facts.skills ?? {}).length === 0) delete facts.skills;
  if (dice.below(2)) facts.context = { model: MODELS[0] ?? "", tokens: 10, most: [[MODELS[0] ?? "", 90]] };
  if (dice.below(2)) facts.loose = { "": { m: toTokens(dice) } };
  if (dice.below(2)) facts.open = some(() => "Bash");
  const sortAt = (START + dice.below(10)) * 900_000 + dice.below(900_000);
  return { id, usage, evidence: null, facts, messages, errors, sortAt };
}

it("reads back what was written, over what was there before", async () => {
  for (let seed = 1; seed <= rounds(200, 12); seed++) {
    const dice = random(seed);
    const { db, close } = await openCatalogue();
    const last = new Map<string, SessionFacts>();
    for (let step = 0; step < 8; step++) {
      const id = `s${dice.below(3)}`;
      const figures = anyFigures(dice, id);
      const parent = dice.below(2) ? `s${dice.below(3)}` : null;
      await db.batch([
        insertSession(id, { parent_id: parent, message_count: figures.messages, sort_at: figures.sortAt }),
        ...writeFigures(figures),
      ]);
      last.set(id, figures.facts);
    }
    for (const [id, facts] of last) {
      const found = await readFacts(db, id);
      expect(JSON.parse(JSON.stringify(found)), `seed ${seed}`).toEqual(JSON.parse(JSON.stringify(facts)));
      await db.batch(eraseFigures([id]));
      expect(await readFacts(db, id)).toBeUndefined();
    }
    for (const table of ["session", "work", "tokens", "total", "call", "kind", "skill", "context", "files", "state"])
      expect(await db.all(`select * from usage_${table}`), table).toEqual([]);
    await close();
  }
});

it("names of a log with zero bytes refuse nothing", async () => {
  const { db, close } = await openCatalogue();
  const figures = anyFigures(random(1), "s");
  figures.facts.tools = { "a\0b": [1, 0], "a\0c": [2, 0], d: [3, 1] };
  await db.batch([insertSession("s"), ...writeFigures(figures)]);
  expect((await readFacts(db, "s"))?.tools).toMatchObject({ d: [3, 1] });
  await close();
});
