/** Hostile texts for each rule: heads again and again, glued with what its value may hold, and values that break off. */
import { describe, expect, it } from "vitest";
import { builtinRules, createScanner, type Scanner } from "../../plugins/security/secrets/engine.ts";
import { LONG } from "../rounds.ts";
import { hostileTo } from "./_hostile.ts";
import { letters } from "./_samples.ts";

const SMALL = 4 * 1024;
/** CPU milliseconds for all of the texts, each `size` long. */
function computeCost(scanner: Scanner, units: readonly string[], size: number): number {
  const texts = units.map((unit) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size));
  const before = process.cpuUsage();
  for (const text of texts) scanner.scan(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("security: work grows with the text and no faster", () => {
  // What a processor takes is no measure on a busy machine.
  it.runIf(LONG)("for every rule", () => {
    const steep: string[] = [];
    for (const rule of builtinRules()) {
      const units = hostileTo(rule);
      const scanner = createScanner([rule]);
      // Four times the text is four times the work; a second look, because others use this machine too.
      const isSteep = () => computeCost(scanner, units, 4 * SMALL) > 9 * computeCost(scanner, units, SMALL) + 20;
      if (isSteep() && isSteep() && isSteep()) steep.push(rule.id);
    }
    expect(steep).toEqual([]);
  });

  it.runIf(LONG)("for what is encoded", () => {
    const scanner = createScanner(builtinRules());
    const units = [
      "A",
      "QUFB",
      "QUFBQUFBQUFBQUFBQUFBQUFBQUFB\n",
      "41",
      "41 ",
      "4141 ",
      "0x41, ",
      "%41",
      "\\x41",
      "\\101",
      "&#65;",
    ];
    const marks = [
      '"',
      '" ',
      '"+"',
      '" +\n"',
      "''",
      "a'b",
      "\u200b",
      "a\b",
      "\\\n",
      "%4",
      "&#",
      "\\x4",
      "ZXlK",
      "H4sIAAAA",
    ];
    const cost = (unit: string, size: number) => {
      const text = unit.repeat(size / unit.length);
      const before = process.cpuUsage();
      scanner.scan(text, { forms: true });
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    const steep = [...units, ...marks].filter((unit) => {
      cost(unit, SMALL);
      const isSteep = () => cost(unit, 16 * SMALL) > 36 * cost(unit, SMALL) + 20;
      return isSteep() && isSteep() && isSteep();
    });
    expect(steep).toEqual([]);
  });

  it("a token in base64 that is taken back again and again is left, and the answer reports it", () => {
    const scanner = createScanner(builtinRules());
    const text = "ZXlKa1\\".repeat(20_000);
    expect(scanner.scan(text).partial).toBe(true);
    const token = `ghp_${letters(36, 4)}`;
    expect(scanner.scan(`${text} ${token}`).findings.map(({ secret }) => secret)).toContain(token);
  });
});
