/** Calls and the messages that made them. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createMatcher, isNameOf, NEAR_MS, type OpenCall } from "../../plugins/mcp-hub/hub/matcher.ts";
import { rounds } from "../rounds.ts";

const at = fc.integer({ min: 0, max: 6 }).map((n) => (n * NEAR_MS) / 2);
const call: fc.Arbitrary<OpenCall> = fc.record({
  at,
  name: fc.constantFrom("list", "docs__list", "read"),
  tool_use_id: fc.option(fc.constantFrom("a", "b", "c")),
});
const event = fc.record({
  at: fc.option(
    at.map((ms) => new Date(ms).toISOString()),
    { nil: undefined },
  ),
  tool_name: fc.constantFrom("mcp__hub__docs__list", "mcp__hub__list", "Read", undefined),
  tool_use_id: fc.constantFrom("a", "b", "x", undefined),
});

it("each message finds the call that looking through all of them would find", () => {
  fc.assert(
    fc.property(fc.array(call), fc.array(event), (calls, events) => {
      const left = new Set([...calls].sort((a, b) => a.at - b.at));
      const find = createMatcher(calls);
      for (const one of events) {
        const time = Date.parse(one.at ?? "");
        const byId = [...left].find((it) => it.tool_use_id !== null && it.tool_use_id === one.tool_use_id);
        const byName = [...left]
          .filter((it) => it.tool_use_id === null && isNameOf(one.tool_name ?? "", it))
          .filter((it) => Math.abs(it.at - time) <= NEAR_MS)
          .sort((a, b) => b.name.length - a.name.length)[0];
        const wanted = byId ?? byName;
        expect(find(one)).toBe(wanted);
        if (wanted) left.delete(wanted);
      }
    }),
    { numRuns: rounds(1_000) },
  );
});
