/** `net` of the configuration: what is stored before a call destroys files (`guard install --net`). */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

const MB = 2 ** 20;
const whole = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most));

export const config = {
  net: {
    schema: v.strictObject({
      /** Milliseconds that a call may be held up. */
      ms: v.optional(whole(60_000), 200),
      /** Megabytes that are stored for one call. */
      callMegabytes: v.optional(whole(10_000), 50),
      /** Megabytes that are stored in all; the oldest go first. */
      megabytes: v.optional(whole(1_000_000), 1_000),
      /** Days until what was stored is removed. */
      days: v.optional(whole(3_650), 14),
      /** `on`: the user is asked about a call whose files could be stored in part only. */
      ask: v.optional(v.picklist(["on", "off"]), "off"),
    }),
  },
} as const satisfies Record<string, ConfigKey>;

export interface NetConfig {
  ms: number;
  callMegabytes: number;
  megabytes: number;
  days: number;
  ask: "on" | "off";
}

export const toLimits = ({ ms, callMegabytes, megabytes, days }: NetConfig) => ({
  ...{ ms, days, callBytes: callMegabytes * MB, bytes: megabytes * MB },
});
