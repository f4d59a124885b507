/** `npm run test:real`: every scenario with one tool; the configuration has this file run once for each. */
import { afterAll, describe, expect, inject, it } from "vitest";
import { compare } from "./compare.ts";
import { tell } from "./read.ts";
import { LATER, SCENARIOS } from "./scenarios.ts";
import { stage } from "./stage.ts";
import { DRIVERS, nameOf } from "./tools/index.ts";

const drivers = DRIVERS.filter((driver) => nameOf(driver) === inject("assistant"));
const rows: { tool: string; scenario: string; result: string }[] = [];

describe.each(drivers)("$name", (driver) => {
  const label = nameOf(driver);
  it.each(SCENARIOS)("$name", async (scenario) => {
    const isSame = scenario.name === LATER && !driver.logsByMinute;
    const reason = isSame ? "its log has no minute in its name" : driver.cannot?.[scenario.name];
    if (reason !== undefined) {
      rows.push({ tool: label, scenario: scenario.name, result: `– ${reason}` });
      return;
    }
    const row = { tool: label, scenario: scenario.name, result: "did not run" };
    rows.push(row);
    try {
      const { model, tool } = await stage(driver);
      row.tool = `${label} ${tool.version}`;
      const expected = await scenario.run({ model, tool });
      const told = await tell(tool.home);
      const verdict = compare(model.ledger, told, expected, (entry) => driver.unlogged?.(entry));
      const { wrong, unlogged } = verdict;
      const noted = unlogged.length > 0 ? `; in no log: ${unlogged.join(", ")}` : "";
      row.result = wrong.length > 0 ? `DIFFERS ${wrong.join("; ")}` : `equal (${model.ledger.length} requests)${noted}`;
      expect(wrong).toEqual([]);
    } catch (error) {
      if (row.result === "did not run") row.result = `FAILED ${error instanceof Error ? error.message : error}`;
      throw error;
    }
  });
});

afterAll(() => {
  if (rows.length === 0) return;
  const width = Math.max(...rows.map(({ tool }) => tool.length));
  const lines = rows.map((row) => `${row.tool.padEnd(width)}  ${row.scenario.padEnd(13)}  ${row.result}`);
  process.stdout.write(`\n${lines.join("\n")}\n`);
});
