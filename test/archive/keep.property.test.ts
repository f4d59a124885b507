/** Whatever happens to a log, nothing archived is lost and no total falls. */
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { SessionUsage } from "sessarc";
import { expect, it } from "vitest";
import type { Session } from "../../plugins/archive/index.ts";
import { claudeTurn } from "../claude-turn.ts";
import type { TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { answered, at, type Detail, geminiId, head, type Page, read, said, start, sync, write } from "./keep-logs.ts";

interface Source {
  id: string;
  path: string;
  head: object[];
  /** Records of one turn. */
  turn(n: number): object[];
}

const SOURCES: readonly Source[] = [
  {
    id: "claude-code:aaaaaaaa-0000-4000-8000-000000000001",
    path: ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
    head: [],
    turn: (n: number) => claudeTurn(n),
  },
  {
    id: "codex:bbbbbbbb-0000-4000-8000-000000000001",
    path: ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-bbbbbbbb-0000-4000-8000-000000000001.jsonl",
    head: [
      {
        timestamp: at(0),
        type: "session_meta",
        payload: { id: "bbbbbbbb-0000-4000-8000-000000000001", timestamp: at(0), cwd: "/w/app" },
      },
    ],
    turn: (n: number) => [
      {
        timestamp: at(n),
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: `word${n}` }] },
      },
      {
        timestamp: at(n),
        type: "token_usage_record",
        payload: { response_id: `r${n}`, usage: { input_tokens: 10, output_tokens: n } },
      },
    ],
  },
  {
    id: geminiId,
    path: ".gemini/tmp/app/chats/session-2026-11-20T10-00-0f9e1d2c.jsonl",
    head: [head],
    turn: (n: number) => [said(n, `word${n}`), answered(n, `answer ${n}`, [read(n)])],
  },
];

const source = fc.nat(SOURCES.length - 1);
const turns = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 6 });
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("append" as const), source, turns }),
    fc.record({ do: fc.constant("rewrite" as const), source, turns }),
    fc.record({
      do: fc.constantFrom("vanish" as const, "return" as const, "stub" as const, "empty" as const),
      source,
      turns: fc.constant([]),
    }),
  ),
  { minLength: 2, maxLength: 12 },
);

/** Two messages that say the same, and a later text that says it at the place of the second one. */
const DOUBLED = [
  { do: "append" as const, source: 1, turns: [2, 5] },
  { do: "rewrite" as const, source: 1, turns: [7, 9, 4, 8] },
  { do: "rewrite" as const, source: 1, turns: [4, 9, 2] },
];

it("whatever shrinks, vanishes, is replaced by a stub or comes back, nothing archived is lost and no total falls", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const t = await start();
      const logs = SOURCES.map(({ head, turn }) => [...head, ...turn(1), ...turn(2)]);
      const words = SOURCES.map(() => new Set<number>([1, 2]));
      const toPath = (n: number) => join(t.home, SOURCES[n]?.path ?? "");
      const save = (n: number) => write(toPath(n), logs[n] ?? []);
      SOURCES.forEach((_, n) => {
        save(n);
      });
      await sync(t);
      let totals = await readTotals(t);
      for (const step of list) {
        const { id, head, turn } = SOURCES[step.source] as Source;
        const rows = step.turns.flatMap(turn);
        const hidden = `${toPath(step.source)}.away`;
        if (step.do === "vanish") {
          if (existsSync(toPath(step.source))) renameSync(toPath(step.source), hidden);
        } else if (step.do === "return") {
          if (existsSync(hidden)) renameSync(hidden, toPath(step.source));
        } else {
          const log = logs[step.source] ?? [];
          if (step.do === "append") log.push(...(log.length > 0 ? [] : head), ...rows);
          else logs[step.source] = step.do === "empty" ? [] : [...head, ...(step.do === "rewrite" ? rows : [])];
          save(step.source);
          if (step.do === "append" || (step.do === "rewrite" && rows.length > 0))
            for (const n of step.turns) words[step.source]?.add(n);
        }
        await sync(t);
        const now = await readTotals(t);
        for (const [name, value] of Object.entries(totals))
          expect(`${name} ${now[name]}`).toBe(`${name} ${Math.max(value, now[name] ?? 0)}`);
        totals = now;
        const said = words[step.source] ?? new Set();
        expect([...(await readWords(t, id))].filter((word) => said.has(word)).sort()).toEqual([...said].sort());
        for (const n of said) {
          const found = await t.json<{ results: { session: { id: string } }[] }>(`/api/search?q=word${n}`);
          expect(found.results.map((one) => one.session.id)).toContain(id);
        }
        // Each message once, in however many texts it stands.
        const turnsOf = (await t.json<Detail>(`/api/sessions/${id}`)).session;
        expect(turnsOf.usage[Object.keys(turnsOf.usage)[0] ?? ""]?.output).toBe(toOutput(step.source, said));
      }
      await t.close();
    }),
    { numRuns: rounds(25, 6), endOnFailure: true, examples: [[DOUBLED]] },
  );
});

const toOutput = (n: number, said: ReadonlySet<number>) =>
  [...said].reduce((sum, turn) => sum + (SOURCES[n]?.id === geminiId ? 21 : turn), 0);

const addUp = (usage: SessionUsage) =>
  Object.values(usage).reduce((sum, tokens) => sum + Object.values(tokens).reduce((a, b) => a + b, 0), 0);

/** All figures of the archive that may only grow. */
async function readTotals(t: TestKernel): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  const { sessions } = await t.json<{ sessions: Session[] }>("/api/sessions");
  for (const { id, messageCount, errorCount, activeMs, usage, evidence } of sessions) {
    Object.assign(totals, {
      [`messages ${id}`]: messageCount,
      [`errors ${id}`]: errorCount,
      [`active ${id}`]: activeMs,
      [`tokens ${id}`]: addUp(usage),
      [`requests ${id}`]: evidence?.requests ?? 0,
    });
    const facts = await t.kernel.inject("archive").facts(id);
    for (const group of ["tools", "files"] as const)
      for (const [name, [a, b]] of Object.entries(facts[group])) totals[`${group} ${name} ${id}`] = a * 1000 + b;
  }
  totals.sessions = sessions.length;
  return totals;
}

async function readWords(t: TestKernel, id: string): Promise<Set<number>> {
  const { earlier } = await t.json<Detail>(`/api/sessions/${id}`);
  const words = new Set<number>();
  for (const version of [undefined, ...earlier.map((text) => text.version)]) {
    const query = version === undefined ? "" : `?version=${version}`;
    const { messages } = await t.json<Page>(`/api/sessions/${id}/messages${query}`);
    for (const { text } of messages) {
      const word = /^word(\d)$/.exec(text);
      if (word) words.add(Number(word[1]));
    }
  }
  return words;
}
