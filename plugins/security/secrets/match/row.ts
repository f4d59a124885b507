/** Rows of the rule files: checked once when they are read, so that a slip in the data is an error with a place. */
import * as v from "valibot";
import { CHECKS, type CheckName } from "./checks.ts";

const checkNames = Object.keys(CHECKS).filter((name): name is CheckName => name in CHECKS);

const RowSchema = v.strictObject({
  /** Rows with one id are variants of one rule. */
  id: v.string(),
  name: v.string(),
  /**
   * token: the value shows what it is. assignment: identifier, operator, value. near: searched around words only.
   * sweep: searched everywhere (costs a pass of its own). file: by the name of the file.
   */
  kind: v.picklist(["token", "assignment", "near", "sweep", "file"]),
  /** Notation of shape.ts. For `assignment` the value alone. */
  shape: v.string(),
  /** Words the identifier holds; `_` stands for one of `_ - .` or nothing. */
  names: v.optional(v.array(v.string())),
  /** `word`: only lower, Title or UPPER case, since the word also occurs inside others. */
  nameCase: v.optional(v.literal("word")),
  /** For `near`: the words, and how far before and after one the match may stand. */
  near: v.optional(
    v.strictObject({
      words: v.array(v.string()),
      before: v.number(),
      after: v.number(),
      /** At most this many line breaks between word and match. */
      lines: v.optional(v.number()),
    }),
  ),
  /** Both cases of every letter of the shape. */
  insensitive: v.optional(v.boolean()),
  /** Bits per character of the secret; at or below is no finding. */
  entropy: v.optional(v.number()),
  confidence: v.picklist(["definite", "probable", "possible"]),
  check: v.optional(v.picklist(checkNames)),
  /** Characters that must not stand right before. */
  notAfter: v.optional(v.string()),
  /** Also inside a longer word. */
  inside: v.optional(v.boolean()),
  /** The value goes on: `quotes` to the quote that closes it, whatever stands inside; `at` to the last `@` before the host. */
  whole: v.optional(v.picklist(["quotes", "at"])),
  /** Endings of the file name, when the name is known. */
  files: v.optional(v.array(v.string())),
  /** Personal data has a switch of its own. */
  category: v.optional(v.picklist(["secret", "personal"])),
  /** Off until someone switches it on. */
  off: v.optional(v.boolean()),
});

export type Row = v.InferOutput<typeof RowSchema>;

export function readRows(data: unknown): Row[] {
  return v.parse(v.array(RowSchema), data);
}
