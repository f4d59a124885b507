/** Totals, told by signatures or counted by looking, are those of a plain look at everything that was ever said. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { createTestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { indexByJobs } from "./by-jobs.ts";

interface Said {
  kind: "user" | "assistant" | "tool_use";
  /** Of a call the words of its input, one a line. */
  text: string;
}

/** The last one is Codex's. */
const LOGS = 4;
const isCodex = (n: number) => n === LOGS - 1;
const keyOf = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Only of chunks as long something is told. */
const LONG = "1 ".repeat(4_096);
const PARTS = ["the", "THE", "Th", "e", "h", "eth", "ski", "SkI", "and", "_the", "9the", "ä", "検索", " ", " "];
/** Letters that are found by one of ASCII, and others that only look like it: where the first stand, little is told. */
const STRANGE = ["ſki", "\u212aing", "ıng", "İng", "tHĖ", "s\u0327ki"];
const said = (parts: readonly string[]) =>
  fc.record({
    kind: fc.constantFrom<Said["kind"]>("user", "assistant", "tool_use"),
    text: fc
      .array(fc.constantFrom(...parts), { maxLength: 12 })
      .chain((all) => fc.constantFrom("", " ").map((between) => all.join(between))),
  });
/** What a log says next, and whether only every other message of before is there still: what is gone stands in an earlier text. */
const next = fc.record({
  says: fc
    .constantFrom(PARTS, PARTS, [...PARTS, ...STRANGE])
    .chain((parts) => fc.array(said(parts), { minLength: 1, maxLength: 8 })),
  lost: fc.boolean(),
});
const term = fc.constantFrom(
  "the",
  "HET",
  "eth",
  "ski",
  "king",
  "ing",
  "and",
  "th",
  "検索",
  '"the the"',
  '"e t"',
  "path",
);
/** How a question goes on, and what of what was said it lets through. */
const FILTERS: [q: string, lets: (one: Said, n: number) => boolean][] = [
  ["", () => true],
  ["tool:codex", (_, n) => isCodex(n)],
  ["-tool:codex", (_, n) => !isCodex(n)],
  ["kind:tool_use", ({ kind }) => kind === "tool_use"],
  ["-kind:user", ({ kind }) => kind !== "user"],
  ["after:2020-01-01", () => true],
];

/** As a search folds letters: one by one, where one stays one. */
const FOLDS: Readonly<Record<string, string>> = { ſ: "s", "\u212a": "k" };
const lower = (c: string) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c);
const fold = (text: string) => [...text].map((c) => FOLDS[c] ?? lower(c)).join("");

it("property: folded letters, calls, earlier texts, filters, phrases, several words and exclusion", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude(), codex()], config: { sync: false } });
  const all: Said[][] = Array.from({ length: LOGS }, () => []);
  const rows: object[][] = Array.from({ length: LOGS }, () => []);
  const began = Date.UTC(2026, 8, 1);
  let clock = 0;

  const write = (n: number) => {
    const name = isCodex(n)
      ? `.codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-${keyOf(n)}`
      : `.claude/projects/-w-app/${keyOf(n)}`;
    const path = join(t.home, `${name}.jsonl`);
    const timestamp = new Date(began).toISOString();
    const head = isCodex(n) ? [{ timestamp, type: "session_meta", payload: { id: keyOf(n), timestamp } }] : [];
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, [...head, ...(rows[n] ?? [])].map((row) => `${JSON.stringify(row)}\n`).join(""));
    const time = began / 1000 + ++clock;
    utimesSync(path, time, time);
  };
  const say = (n: number, one: Said) => {
    const i = all[n]?.length ?? 0;
    // Each is another message: one that is said again would be found in the later text.
    const text = `${one.text} ${i}.`;
    const isCall = one.kind === "tool_use" && !isCodex(n);
    const kind = one.kind === "tool_use" && !isCall ? "assistant" : one.kind;
    all[n]?.push({ kind, text: isCall ? `path\n${text}\n` : text });
    const timestamp = new Date(began + i * 1000).toISOString();
    const role = kind === "user" ? "user" : "assistant";
    if (isCodex(n)) {
      const content = [{ type: kind === "user" ? "input_text" : "output_text", text }];
      rows[n]?.push({ timestamp, type: "response_item", payload: { type: "message", role, content } });
      return;
    }
    const id = `m${n}-${i}`;
    const block = isCall
      ? { type: "tool_use", id: `c${n}-${i}`, name: "Look", input: { path: text } }
      : { type: "text", text };
    rows[n]?.push({
      type: role,
      uuid: id,
      timestamp,
      cwd: "/w/app",
      message: { id, role, model: "m", content: [block] },
    });
  };

  let told = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(next, { minLength: LOGS, maxLength: LOGS }),
      fc.array(term, { minLength: 2, maxLength: 6 }),
      async (logs, terms) => {
        for (const [n, { says, lost }] of logs.entries()) {
          // What Codex says has no id, and is compared by its place.
          if (lost && !isCodex(n)) rows[n] = (rows[n] ?? []).filter((_, i) => i % 2 === 0);
          for (const one of [...says, { kind: "user" as const, text: LONG }]) say(n, one);
          write(n);
        }
        expect(await t.send("POST", "/api/import", { all: true })).toMatchObject({ status: 200 });
        const index = indexByJobs(t.kernel, 0.5, { folder: undefined, readOnly: true });
        for (const [i, one] of terms.entries()) {
          const other = terms[i - 1] ?? "and";
          for (const asked of [one, `${one} ${other}`, `${one} -${other}`]) {
            for (const [filter, lets] of FILTERS) {
              const query = parseQuery(`${asked} ${filter}`);
              const counts = all.map(
                (says, n) =>
                  says.filter(
                    (some) =>
                      lets(some, n) &&
                      query.terms.every(({ text, negated }) => fold(some.text).includes(fold(text)) !== negated),
                  ).length,
              );
              const expected = {
                sessions: counts.filter((count) => count > 0).length,
                messages: counts.reduce((sum, count) => sum + count, 0),
                relation: "eq",
                damaged: 0,
              };
              const { stats, ...total } = await index.total({ query, projects: null });
              expect(total, `${asked} ${filter}`).toMatchObject(expected);
              if (asked !== one) continue;
              told += stats.candidates - stats.inflated;
              const q = encodeURIComponent(`${asked} ${filter}`);
              expect(await t.json(`/api/search/total?q=${q}`), `${asked} ${filter}`).toMatchObject(expected);
            }
          }
        }
        await index.close();
      },
    ),
    { numRuns: rounds(12, 4), endOnFailure: true },
  );
  // Else nothing was shown.
  expect(told).toBeGreaterThan(0);
});
