/** GET and PATCH /settings: keys of the configuration that change while the service runs. */
import { applySettings, patchSchema, SETTING_KEYS, valuesOf } from "../config/settable.ts";
import { writeSettings } from "../config/settings.ts";
import type { SettingKey, SettingValues } from "../contract/config.ts";
import type { Kernel } from "../contract/kernel.ts";
import { defineRoute } from "../contract/route.ts";
import { SessarcError } from "../errors/error.ts";

export interface SettingsAnswer {
  settings: {
    key: SettingKey;
    /** In effect now. */
    value: boolean | string;
    /** What file, flags and defaults say. */
    configured: boolean | string;
    /** Said on the command line: it cannot be changed here. */
    fixed: boolean;
  }[];
}

export const settingsRoutes = [
  defineRoute({
    method: "GET",
    path: "/settings",
    summary: "Keys of the configuration that can change while the service runs",
    handler: ({ kernel }): SettingsAnswer => answer(kernel),
  }),
  defineRoute({
    method: "PATCH",
    path: "/settings",
    summary: "Change some of them, at once and for later starts; null goes back to what the configuration says",
    body: patchSchema,
    handler: async ({ kernel, body }): Promise<SettingsAnswer> => {
      const { config, storage } = kernel;
      const keys = SETTING_KEYS.filter((key) => body[key] !== undefined);
      const fixed = keys.find((key) => config.settable.fixed.includes(key));
      if (fixed) throw new SessarcError("SETTING_FIXED", { key: fixed });
      if (storage.readOnly) throw new SessarcError("STORAGE_READ_ONLY", { path: storage.dataDir });
      const isGiven = (one: [string, unknown]) => one[1] !== null && one[1] !== undefined;
      const given: Partial<SettingValues> = Object.fromEntries(Object.entries(body).filter(isGiven));
      await writeSettings(config.dataDir, ({ values }) => {
        const kept = Object.entries({ ...values, ...given }).filter(([key]) => body[key as SettingKey] !== null);
        return { values: Object.fromEntries(kept) };
      });
      const back = keys.filter((key) => body[key] === null);
      const { configured } = config.settable;
      applySettings(config, { ...Object.fromEntries(back.map((key) => [key, configured[key]])), ...given });
      await kernel.notify("settings:changed", { keys });
      return answer(kernel);
    },
  }),
] as const;

function answer({ config }: Kernel): SettingsAnswer {
  const values = valuesOf(config);
  const { configured, fixed } = config.settable;
  const settings = SETTING_KEYS.map((key) => ({
    key,
    value: shown(key, values[key]),
    configured: shown(key, configured[key]),
    fixed: fixed.includes(key),
  }));
  return { settings };
}

/** An address of the file may hold a password, or a token in its query. */
function shown(key: SettingKey, value: boolean | string): boolean | string {
  if (key !== "feedback.relay" || typeof value !== "string" || !URL.canParse(value)) return value;
  const { origin, pathname } = new URL(value);
  return origin + pathname;
}
