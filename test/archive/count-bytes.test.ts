/** What is counted by a chunk's bytes is what is found in its text. */

import fc from "fast-check";
import { type Chunk, decodeChunk, outlineChunk, type SessionEvent } from "sessarc";
import { expect, it } from "vitest";
import { ChunkBuilder } from "../../core/storage/chunk-builder.ts";
import { countInBytes, toByteQuery } from "../../plugins/archive/search/count-bytes.ts";
import { compile, matchChunk } from "../../plugins/archive/search/match.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { rounds } from "../rounds.ts";

/** Letters that fold to ASCII, that look as if they did, of two, three and four bytes, a half of one, and what regular expressions mean. */
const letters = fc.constantFrom(..."aAkKsStT hé.*\n", "ſ", "K", "İ", "忿", "å", "ß", "検", "👩‍💻", "\ud800");
const text = fc.string({ unit: letters, maxLength: 30 });
const event = fc
  .record(
    {
      kind: fc.constantFrom<SessionEvent["kind"]>("user", "tool_use", "tool_result"),
      text,
      is_error: fc.boolean(),
      tool_input: fc.oneof(text, fc.record({ command: text, ask: fc.array(text, { maxLength: 2 }), n: fc.integer() })),
    },
    { requiredKeys: ["kind", "text"] },
  )
  .map((some): Omit<SessionEvent, "seq"> => some);
const word = fc.string({ unit: fc.constantFrom(..."aksth .*"), minLength: 1, maxLength: 3 });

/** As chunks were written before they said how many bytes a message has. */
function before(bytes: Buffer): Buffer {
  const split = 4 + bytes.readUInt32LE(0);
  const { d: _, t: __, ...envelope } = JSON.parse(bytes.toString("utf8", 4, split));
  const head = Buffer.from(JSON.stringify(envelope));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, bytes.subarray(split)]);
}

/** Where tool inputs begin and end, by the text before them. */
const boundsOf = ({ spans, text }: Chunk) =>
  Uint32Array.from(spans.flatMap(({ input, end }) => [input, end].map((at) => Buffer.byteLength(text.slice(0, at)))));

it("property: a chunk's bytes say of each query of ASCII words what its text says", () => {
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 12 }),
      fc.array(fc.record({ text: word, negated: fc.boolean() }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 3 }),
      (events, terms, errors, from) => {
        const builder = new ChunkBuilder();
        for (const [i, one] of events.entries()) builder.add({ ...one, seq: 7 + i });
        const bytes = Buffer.from(builder.take().bytes);
        const query = { ...parseQuery(errors ? "is:error" : ""), terms };
        const counted = (seq: number) => seq >= 7 + from;
        const expected = new Set<number>();
        matchChunk(decodeChunk(bytes), compile(query), (index) => {
          if (counted(7 + index)) expected.add(index);
          return false;
        });
        const byBytes = toByteQuery(query);
        if (terms.every(({ negated }) => negated)) expect(byBytes).toBeNull();
        else if (byBytes) {
          for (const one of [bytes, before(bytes)]) {
            expect(countInBytes(one, byBytes, counted)).toBe(expected.size);
            expect(from > 0 || countInBytes(one, byBytes) === expected.size).toBe(true);
            expect(outlineChunk(one).bounds()).toEqual(boundsOf(decodeChunk(bytes)));
          }
        } else expect.fail("an ASCII word is looked for in bytes");
      },
    ),
    { numRuns: rounds(3_000, 400) },
  );
});

it("words beyond ASCII and paths are left to the text", () => {
  for (const q of ["für", "検索", "the path:src", "the -für", "kind:user"])
    expect(toByteQuery(parseQuery(q))).toBeNull();
  expect(toByteQuery(parseQuery("the -other kind:user after:7d"))).not.toBeNull();
});
