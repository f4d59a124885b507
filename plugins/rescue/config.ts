/** The key `logs` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

/** `keep`: within the default budget. A number: within so many GB (10^9 bytes). `none`: nothing is stored. */
export type LogsSetting = "keep" | "none" | number;

/** A million GB: more than any disk. */
const MOST_GB = 1_000_000;
const WRONG = `must be "keep", "none" or a number of GB, above 0 and up to ${MOST_GB}`;
const isBudget = (gb: number) => gb > 0 && gb <= MOST_GB;

export const config = {
  rescue: {
    schema: v.strictObject({
      /** Whether the raw log of each session is stored beside its transcript, and how much room all of them take at most. */
      logs: v.optional(
        v.union(
          [
            v.picklist(["keep", "none"]),
            v.pipe(v.number(), v.check(isBudget)),
            // Settings of a form, and of the command line, are texts.
            v.pipe(v.string(), v.regex(/^\d{1,7}(?:\.\d{1,9})?$/), v.transform(Number), v.check(isBudget)),
          ],
          WRONG,
        ),
        "keep",
      ),
    }),
    settings: { logs: {} },
  },
} as const satisfies Record<string, ConfigKey>;
