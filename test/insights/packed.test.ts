/** What can be counted of a session is packed into bytes: every number comes back, whatever stands around it. */
import { emptyUsage } from "sessarc";
import { expect, it } from "vitest";
import { CubeSession, toUsage } from "../../plugins/insights/figures/cube-session.ts";
import { allNames, nameOf } from "../../plugins/insights/figures/names.ts";
import {
  bytesOf,
  endOf,
  type Packed,
  packed,
  type Slot,
  type TokenSlot,
} from "../../plugins/insights/figures/packed.ts";
import { rounds } from "../rounds.ts";

/** Around every place where one more byte begins, and what no four, six or eight bytes hold. */
const NUMBERS = [
  0,
  1,
  127,
  128,
  16_383,
  16_384,
  2_097_152,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 35,
  2 ** 49 + 1,
  2 ** 53 - 1,
  2 ** 60,
  1e300,
];
const head = { kind: "main", id: "s", tool: "t", project: "p", parent: null, label: null, endedAt: null } as const;

interface Contents {
  slots: Slot[];
  tokens: TokenSlot[];
  kinds: Record<string, number>;
  tools: Record<string, [number, number]>;
  evidence: { records: number; requests: number; duplicatesFolded: number; inheritedExcluded: number } | null;
}

function some(seed: number): Contents {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const number = () => NUMBERS[below(NUMBERS.length)] as number;
  // Clocks that are wrong lie before 1970, too.
  const quarter = () => below(4_000_000) - 1_000_000;
  const list = <T>(make: (i: number) => T) => Array.from({ length: below(4) }, (_, i) => make(i));
  return {
    slots: list(() => ({ quarter: quarter(), m: number(), a: number(), e: number() })),
    tokens: list(() => ({
      quarter: quarter(),
      model: `model ${below(5)}`,
      tokens: { ...emptyUsage(), input: number(), output: number(), cacheWrite1h: number(), cacheRead: number() },
    })),
    kinds: Object.fromEntries(list((i) => [`kind ${i} ${below(300)}`, number()])),
    tools: Object.fromEntries([...list((i) => [`tool ${i}`, [number(), number()]]), ["__proto__", [1, 2]]]),
    evidence: below(2)
      ? { records: number(), requests: number(), duplicatesFolded: number(), inheritedExcluded: number() }
      : null,
  };
}

function read(figures: Packed): Contents {
  const session = new CubeSession(head, figures, "s");
  const slots: Slot[] = [];
  const tokens: TokenSlot[] = [];
  const kinds: [string, number][] = [];
  const tools: [string, [number, number]][] = [];
  session.eachSlot((quarter, m, a, e) => slots.push({ quarter, m, a, e }));
  session.eachTokens((quarter, model, own) => tokens.push({ quarter, model: nameOf(model), tokens: toUsage(own) }));
  session.eachKind((kind, messages) => kinds.push([kind, messages]));
  session.eachTool((tool, calls, errors) => tools.push([tool, [calls, errors]]));
  expect(session.hasAny).toBe(slots.length + tokens.length > 0);
  expect(session.lastSlot).toBe(slots.at(-1)?.quarter);
  return {
    slots,
    tokens,
    kinds: Object.fromEntries(kinds),
    tools: Object.fromEntries(tools),
    evidence: session.evidence,
  };
}

it("by itself, among others, and with numbers of another process for its names", () => {
  const all = Array.from({ length: rounds(800, 100) }, (_, i) => some(i + 1));
  const one = all.map(({ slots, tokens, evidence, kinds, tools }) => packed(slots, tokens, evidence, { kinds, tools }));
  one.forEach((figures, i) => {
    expect(read(figures), `seed ${i + 1}`).toEqual(all[i]);
  });
  // One array of them all, in which names are called otherwise.
  const count = allNames().length;
  const numbers = Array.from({ length: count }, (_, i) => count - 1 - i);
  const elsewhere = one.map((figures) => bytesOf({ ...figures, numbers }));
  const bytes = Buffer.concat(elsewhere);
  let at = 0;
  all.forEach((contents, i) => {
    const figures = { bytes, at, numbers };
    expect(read(figures), `seed ${i + 1}`).toEqual(contents);
    expect(bytesOf(figures), `seed ${i + 1}`).toEqual(one[i]?.bytes);
    at = endOf(figures);
  });
  expect(at).toBe(bytes.length);
});
