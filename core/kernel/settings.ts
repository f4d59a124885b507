/** GET and PATCH /settings: keys of the configuration that change while the service runs. */
import * as v from "valibot";
import type { Setting } from "../config/keys.ts";
import { writeSettings } from "../config/settings.ts";
import type { SettingKey, SettingValues } from "../contract/config.ts";
import { defineRoute } from "../contract/route.ts";
import type { Schema } from "../contract/schema.ts";
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

/** Null goes back to what the configuration says. */
type Patch = { [K in SettingKey]?: SettingValues[K] | null | undefined };

/** `of` answers the settings once the plugins that declare them are there. */
export const settingsRoutes = (of: () => readonly Setting[]) =>
  [
    defineRoute({
      method: "GET",
      path: "/settings",
      summary: "Keys of the configuration that can change while the service runs",
      handler: (): SettingsAnswer => answer(of()),
    }),
    defineRoute({
      method: "PATCH",
      path: "/settings",
      summary: "Change some of them, at once and for later starts; null goes back to what the configuration says",
      // Made when it is asked: the plugins that declare settings come later than this route.
      get body() {
        return patchSchema(of());
      },
      handler: async ({ kernel, body }): Promise<SettingsAnswer> => {
        const { config, storage } = kernel;
        const changed = of().filter(({ key }) => body[key] !== undefined);
        const fixed = changed.find((one) => one.fixed);
        if (fixed) throw new SessarcError("SETTING_FIXED", { key: fixed.key });
        if (storage.readOnly) throw new SessarcError("STORAGE_READ_ONLY", { path: storage.dataDir });
        const given = Object.fromEntries(changed.map(({ key }) => [key, body[key]]));
        await writeSettings(config.dataDir, ({ values }) => {
          const kept = Object.entries({ ...values, ...given }).filter(([, value]) => value !== null);
          return { values: Object.fromEntries(kept) };
        });
        for (const one of changed) one.set(body[one.key] ?? one.configured);
        await kernel.notify("settings:changed", { keys: changed.map(({ key }) => key) });
        return answer(of());
      },
    }),
  ] as const;

function answer(settings: readonly Setting[]): SettingsAnswer {
  return {
    settings: settings.map((one) => {
      const shown = (value: boolean | string) => (typeof value === "string" ? one.shown(value) : value);
      return { key: one.key, value: shown(one.value()), configured: shown(one.configured), fixed: one.fixed };
    }),
  };
}

/** The keys are those of `SettingValues`: each plugin declares its own, and augments that. */
function patchSchema(settings: readonly Setting[]): Schema<Patch> {
  const entries = settings.map(({ key, schema }) => [key, v.optional(v.nullable(schema))] as const);
  return v.strictObject(Object.fromEntries(entries)) as Schema<unknown> as Schema<Patch>;
}
