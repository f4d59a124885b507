/** Sessions that a filter lets through, in each order, page by page: those that a check of each row finds. */
import type { SqlValue } from "sessarc";
import { expect, it } from "vitest";
import { Changes } from "../../plugins/archive/catalogue/changes.ts";
import { createStore } from "../../plugins/archive/catalogue/store.ts";
import { insertSession, openCatalogue } from "../insights/rows.ts";
import { rounds } from "../rounds.ts";

type Asked = Parameters<ReturnType<typeof createStore>["page"]>[0];
type SessionFilter = Omit<Asked, "limit" | "sort">;
type SessionSort = NonNullable<Asked["sort"]>;

const SESSIONS = 2_300;
/** Sessions of an answer that are checked: each takes its time. */
const ENOUGH = 300;
const START = Date.UTC(2026, 0, 1);

interface Made {
  id: string;
  tool: string;
  project: string;
  parent: string | null;
  forked: string | null;
  title: string;
  model: string;
  tokens: number;
  began: number;
  ended: number;
  messages: number;
  active: number;
  errors: number;
  bytes: number;
}

it("filters find what each row says, in every order, whatever changes between two pages", async () => {
  const rates = { "model-0": { input: 1, output: 1 }, "model-1": { input: 3, output: 1 } };
  const { db, pricing } = await openCatalogue(rates);
  let state = 5;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const made = new Map<string, Made>();
  const store = (n: number): [string, SqlValue[]] => {
    const began = START + below(900) * 60_000;
    const one: Made = {
      id: `s${String(n).padStart(5, "0")}`,
      tool: `tool ${below(3)}`,
      project: `p${below(3)}`,
      parent: below(4) === 0 ? "s00000" : null,
      forked: below(4) === 0 ? "s00001" : null,
      title: ["Größe", "plain 100%", "rare_thing", "more"][n % 701 === 0 ? 2 : n % 2 ? 0 : 1] as string,
      model: n % 400 === 0 ? "rare" : `model-${below(2)}`,
      tokens: below(50) * 1_000,
      began,
      ended: began + below(90) * 60_000,
      messages: below(40),
      active: below(30),
      errors: below(3) === 0 ? below(5) : 0,
      bytes: below(100),
    };
    made.set(one.id, one);
    const tokens = { input: one.tokens, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
    return insertSession(one.id, {
      ...{ tool: one.tool, project_id: one.project, parent_id: one.parent, forked_from: one.forked, title: one.title },
      ...{ message_count: one.messages, active_ms: one.active, error_count: one.errors, source_bytes: one.bytes },
      usage: JSON.stringify({ [one.model]: tokens }),
      ...{ started_at: new Date(began).toISOString(), sort_at: one.ended, ended_at: new Date(one.ended).toISOString() },
    });
  };
  await db.batch(Array.from({ length: SESSIONS }, (_, n) => store(n)));
  const changes = new Changes();
  const { page, sessionNamed } = createStore(db, () => pricing, changes);

  const passes = (one: Made, filter: SessionFilter) =>
    (filter.project === undefined || one.project === filter.project) &&
    (filter.tool === undefined || one.tool === filter.tool) &&
    (filter.since === undefined || one.ended >= filter.since) &&
    (filter.until === undefined || one.began < filter.until) &&
    (filter.q === undefined || one.title.toLowerCase().includes(filter.q.toLowerCase())) &&
    (!filter.topLevel || one.parent === null) &&
    (filter.kind === undefined ||
      filter.kind === (one.parent !== null ? "subagent" : one.forked !== null ? "fork" : "main")) &&
    (filter.models === undefined || filter.models.includes(one.model)) &&
    (!filter.errors || one.errors > 0);
  const computeCost = ({ model, tokens }: Made) =>
    model === "rare" ? (tokens > 0 ? -1 : 0) : tokens * (model === "model-0" ? 1 : 3);
  const values: Record<SessionSort, (one: Made) => number> = {
    recent: (one) => -one.ended,
    oldest: (one) => one.ended,
    messages: (one) => -one.messages,
    active: (one) => -one.active,
    errors: (one) => -one.errors,
    size: (one) => -one.bytes,
    cost: (one) => -computeCost(one),
  };
  const ways: (() => SessionFilter)[] = [
    () => ({ project: `p${below(4)}` }),
    () => ({ tool: `tool ${below(4)}` }),
    () => ({ since: START + below(900) * 60_000 }),
    () => ({ until: START + below(900) * 60_000 }),
    () => ({ q: ["RARE_", "größe", "100%", "nowhere"][below(4)] }),
    () => ({ topLevel: true }),
    () => ({ kind: (["main", "subagent", "fork"] as const)[below(3)] }),
    () => ({ models: [["rare"], ["model-0", "rare"], ["gone"]][below(3)] }),
    () => ({ errors: true }),
  ];
  const check = async (sort: SessionSort, filter: SessionFilter) => {
    const wanted = [...made.values()].filter((one) => passes(one, filter));
    wanted.sort((a, b) => values[sort](a) - values[sort](b) || (a.id < b.id ? -1 : 1));
    const found: string[] = [];
    const totals = new Set<number>();
    let cursor: string | undefined;
    do {
      const answer = await page({ ...filter, sort, limit: 50 + below(200) }, cursor);
      found.push(...answer.sessions.map((one) => one.id));
      totals.add(answer.total);
      cursor = answer.nextCursor ?? undefined;
    } while (cursor !== undefined && found.length < ENOUGH);
    const note = `${sort} ${JSON.stringify(filter)}`;
    const ids = wanted.map((one) => one.id);
    expect(found.join(" "), note).toBe(ids.slice(0, cursor === undefined ? undefined : found.length).join(" "));
    expect([...totals], note).toEqual([wanted.length]);
  };
  const sorts = Object.keys(values) as SessionSort[];
  for (const [n, way] of ways.entries()) await check(sorts[n % sorts.length] as SessionSort, way());
  let filter: SessionFilter = { errors: true };
  let sort: SessionSort = "active";
  for (let round = 0; round < rounds(120, 12); round++) {
    if (below(2)) {
      // Some are replaced, some go, one comes.
      const [gone, again] = [2 + below(SESSIONS - 2), below(SESSIONS)];
      made.delete(`s${String(gone).padStart(5, "0")}`);
      const batch = [store(again), store(SESSIONS + round)];
      if (gone !== again) batch.push(["delete from session where id = ?", [`s${String(gone).padStart(5, "0")}`]]);
      await db.batch(batch);
      changes.mark(batch.map(([, params]) => String(params[0])));
    }
    // Often what was asked before, of which an answer is kept.
    if (below(2)) {
      filter = Object.assign({}, ...Array.from({ length: below(4) }, () => ways[below(ways.length)]?.()));
      sort = sorts[below(sorts.length)] as SessionSort;
    }
    if (below(3) === 0) filter = { ...filter, since: START + below(900) * 60_000 };
    await check(sort, filter);
  }

  const newest = Math.max(...[...made.values()].filter((one) => one.parent === null).map((one) => one.ended));
  const last = made.get(await sessionNamed("last"));
  expect(last).toMatchObject({ ended: newest, parent: null });
  expect(await sessionNamed("s00001")).toBe("s00001");
  await expect(sessionNamed("s000")).rejects.toMatchObject({ code: "SESSION_AMBIGUOUS" });
  await expect(sessionNamed("nobody")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});
