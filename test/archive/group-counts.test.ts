/** What a signature says of how many messages hold a group of three letters is what is found in their text. */
import fc from "fast-check";
import { decodeChunk, type SessionEvent } from "sessarc";
import { expect, it } from "vitest";
import { ChunkBuilder } from "../../core/storage/chunk-builder.ts";
import { groupIn } from "../../plugins/archive/search/group-counts.ts";
import { compile, matchChunk } from "../../plugins/archive/search/match.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { messagesWith, signatureOf } from "../../plugins/archive/search/signature.ts";
import { rounds } from "../rounds.ts";

type Said = Omit<SessionEvent, "seq">;

function signedChunk(events: readonly Said[]) {
  const builder = new ChunkBuilder();
  for (const [seq, event] of events.entries()) builder.add({ ...event, seq });
  const { bytes, text, units, bounds } = builder.take();
  return { chunk: decodeChunk(Buffer.from(bytes)), signature: signatureOf(text, units, bounds) };
}

/** Messages that hold the word, by the signature and by their text. */
function counted({ chunk, signature }: ReturnType<typeof signedChunk>, word: string) {
  let found = 0;
  matchChunk(chunk, compile(parseQuery(word)), () => {
    found++;
    return false;
  });
  return { told: messagesWith(signature, 0, signature.length, groupIn(word)), found };
}

const words = (from: readonly string[]) =>
  fc
    .array(fc.constantFrom(...from), { maxLength: 30 })
    .chain((all) => fc.constantFrom("", " ").map((between) => all.join(between)));
/** Words that fold, that end where others begin, and letters that become ASCII or only look like it. */
const plain = ["the", "THE", "Th", "e", "h", "eth", "kin", "SkI", "_the", "9the", "ä", "検索", "👩‍💻", "å", "\ud800"];
const strange = [...plain, "ſki", "ſ", "\u212ain", "ıng", "İng"];
const said = (text: fc.Arbitrary<string>): fc.Arbitrary<Said> =>
  fc
    .record(
      {
        kind: fc.constantFrom<SessionEvent["kind"]>("user", "tool_use"),
        text,
        tool_input: fc.oneof(text, fc.record({ th: text, ask: fc.array(text, { maxLength: 2 }) })),
      },
      { requiredKeys: ["kind", "text"] },
    )
    .map((some): Said => some);

it("property: a signature says of a group what the text says, or nothing", () => {
  let told = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(plain, strange).chain((from) => fc.array(said(words(from)), { minLength: 1, maxLength: 12 })),
      fc.nat(12),
      (events, at) => {
        // Only of larger chunks anything is told.
        const long = { kind: "user" as const, text: "1 ".repeat(4_096) };
        const chunk = signedChunk([...events.slice(0, at), long, ...events.slice(at)]);
        for (const word of ["the", "HET", "eth", "ski", "kin", "ing", "tht", "zzz"]) {
          const one = counted(chunk, word);
          if (one.told === undefined) continue;
          told++;
          expect(one.told, word).toBe(one.found);
        }
      },
    ),
    { numRuns: rounds(1_500, 200) },
  );
  expect(told).toBeGreaterThan(100);
});

it("the groups that stand in a chunk most often are told, of small chunks none", () => {
  const lines = Array.from({ length: 200 }, (_, i) => ({
    kind: "user" as const,
    text: `the ${i % 2 ? "and" : ""} ${[..."abcdefghij"].map((c) => `${c}${(i * 7919).toString(26).replace(/\d/g, "q")}`).join(" ")}`,
  }));
  const large = signedChunk(lines);
  expect(counted(large, "the")).toEqual({ told: 200, found: 200 });
  expect(counted(large, "and")).toEqual({ told: 100, found: 100 });
  expect(counted(signedChunk(lines.slice(0, 5)), "the")).toEqual({ told: undefined, found: 5 });
});

it("a signature does not depend on what was signed before it", () => {
  const large = () => signedChunk([{ kind: "user", text: "the ".repeat(4_096) }]);
  const { signature } = large();
  signedChunk([{ kind: "user", text: "ſome" }]);
  expect(large().signature).toEqual(signature);
});
