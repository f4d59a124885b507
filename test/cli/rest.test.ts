import { describe, expect, it } from "vitest";
import { createRest } from "../../core/cli/rest.ts";

const MIB = 2 ** 20;
const held = { used: 24 * MIB, held: 54 * MIB };

describe("an idle service", () => {
  it("gives memory back after each time that it did something: twice, and no more", () => {
    const rests = createRest();
    const at = (cpuMs: number) => rests({ cpuMs, ...held });
    expect([at(400), at(410), at(420), at(430)]).toEqual([false, true, true, false]);
    expect([at(900), at(2_000), at(2_001), at(2_002), at(2_003)]).toEqual([false, false, true, true, false]);
  });

  it("does not where it would take long, or bring little", () => {
    for (const { used, held } of [
      { used: 60 * MIB, held: 200 * MIB },
      { used: 24 * MIB, held: 30 * MIB },
    ]) {
      const rests = createRest();
      expect([rests({ cpuMs: 1, used, held }), rests({ cpuMs: 2, used, held })]).toEqual([false, false]);
    }
  });
});
