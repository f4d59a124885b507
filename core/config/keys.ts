/** Keys of the configuration that plugins declare, and those of all keys that can change while the service runs. */
import * as v from "valibot";
import type { ConfigKey, CoreConfig, ResolvedConfig, SettingKey } from "../contract/config.ts";
import type { Schema, SchemaResult } from "../contract/schema.ts";
import { isRecord } from "../utils/json.ts";
import { CORE_KEYS, invalidConfig, unknownKey } from "./config.ts";

/** A key that can change while the service runs. */
export interface Setting {
  key: SettingKey;
  /** What it may be. */
  schema: v.GenericSchema;
  /** What file, flags and defaults say. */
  configured: boolean | string;
  /** Said on the command line: it holds for this run. */
  fixed: boolean;
  /** In effect now. */
  value(): boolean | string;
  /** Puts a value into effect, in the one object everybody reads. */
  set(value: unknown): void;
  shown(value: string): string;
}

interface Settled {
  config: ResolvedConfig;
  settings: readonly Setting[];
}

/**
 * The whole configuration: core's, and what `declared` makes of the rest. Stored settings that no longer exist are ignored. Throws
 * CONFIG_INVALID, and CONFIG_UNKNOWN_KEY for a key that no plugin declares. With `partial`, further plugins may still declare it.
 */
export async function settle(
  core: CoreConfig,
  declared: ReadonlyMap<string, ConfigKey>,
  partial: boolean,
): Promise<Settled> {
  const { where, keys, flags, kept } = core.given;
  const known = [...CORE_KEYS, ...declared.keys()];
  const stray = Object.keys(keys).find((key) => !declared.has(key));
  if (stray !== undefined && !partial) throw unknownKey(stray, known, where);
  const values: Record<string, unknown> = { ...core };
  for (const [key, { schema }] of declared) {
    const result = await schema["~standard"].validate(keys[key] ?? {});
    if (result.issues) throw invalidConfig(below(key, result), key, toMembers(key, schema), where);
    values[key] = result.value;
  }
  // Every declared key has the value that its schema returned.
  const config = values as unknown as ResolvedConfig;
  const settings = [...listSettings(values, flags, declared)];
  for (const one of settings) {
    const past = v.safeParse(one.schema, kept[one.key]);
    if (kept[one.key] !== undefined && !one.fixed && past.success) one.set(past.output);
  }
  return { config, settings };
}

function* listSettings(
  values: Record<string, unknown>,
  flags: readonly string[],
  declared: ReadonlyMap<string, ConfigKey>,
): Generator<Setting> {
  for (const key of ["autoImport", "sync"] as const)
    yield {
      key,
      schema: v.boolean(),
      configured: values[key] === true,
      fixed: flags.includes(key),
      value: () => values[key] === true,
      set: (value) => {
        values[key] = value;
      },
      shown: (value) => value,
    };
  for (const [key, { schema, settings = {} }] of declared)
    for (const [member, { shown = (value: string) => value }] of Object.entries(settings)) {
      const value = () => {
        const own = values[key];
        const found = isRecord(own) ? own[member] : undefined;
        return typeof found === "boolean" ? found : String(found ?? "");
      };
      const name = `${key}.${member}`;
      yield {
        // Its plugin augments the names.
        key: name as SettingKey,
        schema: toMember(schema, member),
        configured: value(),
        fixed: flags.includes(name),
        value,
        set: (next) => {
          values[key] = { ...(isRecord(values[key]) ? values[key] : {}), [member]: next };
        },
        shown,
      };
    }
}

/** The first issue, with the key before its path. */
function below(key: string, { issues = [] }: SchemaResult<unknown>) {
  const [issue] = issues;
  return issue && { ...issue, path: [key, ...(issue.path ?? [])] };
}

/** Members that a valibot object names: for the nearest one of a misspelt key. */
const toMembers = (key: string, schema: Schema) => Object.keys(toEntries(schema)).map((member) => `${key}.${member}`);

/** What a member may be: without a valibot schema, any boolean or string. */
function toMember(schema: Schema, member: string): v.GenericSchema {
  const own = toEntries(schema)[member];
  return isSchema(own) ? own : v.union([v.boolean(), v.string()]);
}

const toEntries = (schema: Schema) => ("entries" in schema && isRecord(schema.entries) ? schema.entries : {});
const isSchema = (value: unknown): value is v.GenericSchema => isRecord(value) && value.kind === "schema";
