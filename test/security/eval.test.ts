import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { secrets } from "./_engine.ts";

const file =
  process.env.SESSARC_EVAL ?? fileURLToPath(new URL("../../../shared/eval/secrets.open.jsonl.gz", import.meta.url));

interface Row {
  rule: string;
  text: string;
  path?: string;
  isSecret: boolean;
  source: string;
  shape: string;
}

/** Synthetic strings that match secret scanners: read packed, never written unpacked. */
describe.skipIf(!existsSync(file))("security: evaluation set (needs SESSARC_EVAL or the shared folder)", () => {
  const rows: Row[] = existsSync(file)
    ? gunzipSync(readFileSync(file))
        .toString()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];
  const scan = ({ text, path }: Row) => secrets.scan(text, path === undefined ? {} : { path }).findings;

  it("finds at least 99 % of plain rows and 98 % in every shape of a transcript", () => {
    const shapes = new Map<string, { all: number; found: number }>();
    for (const row of rows.filter(({ isSecret }) => isSecret)) {
      const sum = shapes.get(row.shape) ?? { all: 0, found: 0 };
      sum.all++;
      if (scan(row).length > 0) sum.found++;
      shapes.set(row.shape, sum);
    }
    expect(shapes.size).toBeGreaterThan(5);
    for (const [shape, { all, found }] of shapes) {
      expect(found / all, shape).toBeGreaterThanOrEqual(shape === "plain" ? 0.99 : 0.98);
    }
  });

  it("reports no hard negative as definite and at most one in a thousand as probable", () => {
    // A near miss of one rule may be a true value of its sibling: there only the named rule must stay silent.
    const negatives = rows.filter(({ isSecret }) => !isSecret);
    const wrong = negatives.flatMap((row) =>
      scan(row).filter(({ ruleId }) => row.source === "own-hard-negative" || ruleId === row.rule),
    );
    expect(wrong.filter(({ confidence }) => confidence === "definite")).toEqual([]);
    expect(wrong.filter(({ confidence }) => confidence === "probable").length / negatives.length).toBeLessThanOrEqual(
      0.001,
    );
  });
});
