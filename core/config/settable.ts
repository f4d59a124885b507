/** Keys of the configuration that hold at once: the dashboard may change them while the service runs. */
import * as v from "valibot";
import type { ResolvedConfig, SettingKey, SettingValues } from "../contract/config.ts";

/** An address feedback may be sent on to. */
export const relayUrl = v.pipe(v.string(), v.url("is not a URL"), v.regex(/^https?:/i, "is no http or https address"));

/** What each may be; null goes back to what the configuration says, and `""` of the relay switches it off. */
const schemas = {
  autoImport: v.boolean(),
  sync: v.boolean(),
  "security.block": v.picklist(["definite", "probable"]),
  "feedback.relay": v.union([v.literal(""), relayUrl], "is no http or https address"),
  "mcp.toolSearch": v.boolean(),
} as const satisfies Record<SettingKey, v.GenericSchema>;

/** As they stand in `settings.json`: what a later version added is kept and means nothing here. */
export const settingsSchema = v.looseObject(v.partial(v.object(schemas)).entries);

const patched = {
  autoImport: v.optional(v.nullable(schemas.autoImport)),
  sync: v.optional(v.nullable(schemas.sync)),
  "security.block": v.optional(v.nullable(schemas["security.block"])),
  "feedback.relay": v.optional(v.nullable(schemas["feedback.relay"])),
  "mcp.toolSearch": v.optional(v.nullable(schemas["mcp.toolSearch"])),
} satisfies Record<SettingKey, v.GenericSchema>;

/** The body of PATCH /settings. */
export const patchSchema = v.strictObject(patched);

export const SETTING_KEYS = Object.keys(schemas) as readonly SettingKey[];

/** The values in effect. */
export const valuesOf = (
  config: Pick<ResolvedConfig, "autoImport" | "sync" | "security" | "feedback" | "mcp">,
): SettingValues => ({
  autoImport: config.autoImport,
  sync: config.sync,
  "security.block": config.security.block,
  "feedback.relay": config.feedback.relay ?? "",
  "mcp.toolSearch": config.mcp.toolSearch === true,
});

/** Puts `values` into effect, in the one object everybody reads. */
export function applySettings(config: ResolvedConfig, values: Partial<SettingValues>): void {
  const all = { ...valuesOf(config), ...values };
  config.autoImport = all.autoImport;
  config.sync = all.sync;
  config.security = { ...config.security, block: all["security.block"] };
  config.feedback = { relay: all["feedback.relay"] || null };
  if (values["mcp.toolSearch"] !== undefined) config.mcp = { ...config.mcp, toolSearch: all["mcp.toolSearch"] };
}

interface Flags {
  autoImport?: boolean | undefined;
  sync?: boolean | undefined;
  security?: { block?: string | undefined } | undefined;
  feedback?: { relay?: string | null | undefined } | undefined;
  mcp?: Readonly<Record<string, unknown>> | undefined;
}

/** Keys that were said on the command line, for this run alone: nothing kept stands over them. */
export function fixedBy(flags: Flags): SettingKey[] {
  const said = {
    autoImport: flags.autoImport,
    sync: flags.sync,
    "security.block": flags.security?.block,
    "feedback.relay": flags.feedback?.relay,
    "mcp.toolSearch": flags.mcp?.toolSearch,
  } satisfies Record<SettingKey, unknown>;
  return SETTING_KEYS.filter((key) => said[key] !== undefined);
}
