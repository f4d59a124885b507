/** `recall` of the configuration: what installed hooks offer. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

export type Switch = "on" | "off";

const onOff = v.optional(v.picklist(["on", "off"]), "on");

export const config = {
  recall: {
    schema: v.strictObject({
      /** At a session's start: what is open, which test fails, what was corrected twice. */
      start: onOff,
      /** With a command that failed before: what made it work. */
      command: onOff,
      /** With the change of a file: why it was changed last. */
      file: onOff,
    }),
    settings: { start: {}, command: {}, file: {} },
  },
} as const satisfies Record<string, ConfigKey>;
