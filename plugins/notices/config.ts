/** `notices` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

export type Switch = "on" | "off";

const onOff = v.picklist(["on", "off"]);

export const config = {
  notices: {
    schema: v.strictObject({
      /** Notifications of the system, where the service runs in a session with a display. */
      system: v.optional(onOff, "on"),
      /** Notices when a provider's limit comes near. */
      limits: v.optional(onOff, "on"),
    }),
    settings: { system: {}, limits: {} },
  },
} as const satisfies Record<string, ConfigKey>;
