/** What a plugin and an adapter must be, as data: one message names the plugin, its file, the member and the remedy. */
import type { Adapter, AdapterCapabilities } from "../contract/adapter.ts";
import type { Plugin } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";
import { isRecord } from "../utils/json.ts";
import { nearest } from "../utils/text.ts";
import { versionNumbers } from "../utils/versions.ts";
import { checkCompatibility } from "./compatibility.ts";

interface Rule {
  is(value: unknown): boolean;
  /** Follows "must be". */
  must: string;
  remedy: string;
  required?: boolean;
}

const KEBAB = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const PLUGIN_NAME = /^([a-z][a-z0-9]*(-[a-z0-9]+)*:)?[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

const isText = (it: unknown) => typeof it === "string";
const isFunction = (it: unknown) => typeof it === "function";
const isListOf = (of: (it: unknown) => boolean) => (it: unknown) => Array.isArray(it) && it.every(of);

const fn = (remedy: string, required = false): Rule => ({ is: isFunction, must: "a function", remedy, required });

const ROUTE = (it: unknown) => isRecord(it) && isText(it.method) && isText(it.path) && isFunction(it.handler);
const COMMAND = (it: unknown) => isRecord(it) && isText(it.name) && isFunction(it.load);

const WORD = /^[a-z_][a-z0-9_]*$/;
const INDEXER = (it: unknown) =>
  isRecord(it) &&
  typeof it.name === "string" &&
  KEBAB.test(it.name) &&
  Number.isSafeInteger(it.version) &&
  isText(it.module) &&
  isListOf((table) => typeof table === "string" && WORD.test(table))(it.tables);

const PLUGIN: Readonly<Record<Exclude<keyof Plugin, "compatibility">, Rule>> = {
  name: {
    is: (it) => isText(it) && PLUGIN_NAME.test(it as string),
    must: "a name in kebab-case",
    remedy: 'Write it like "word-count".',
    required: true,
  },
  version: { is: isText, must: "a text", remedy: 'Write it like "1.2.0".' },
  dependsOn: { is: isListOf(isText), must: "a list of plugin names", remedy: 'Write it like ["archive"].' },
  config: {
    is: (it) => isRecord(it) && Object.values(it).every((one) => isRecord(one) && isRecord(one.schema)),
    must: "an object of configuration keys",
    remedy: "Write it like config: { tea: { schema } }.",
  },
  routes: { is: isListOf(ROUTE), must: "a list of routes", remedy: "Make each of them with defineRoute." },
  hooks: { is: isRecord, must: "an object of listeners", remedy: 'Write it like { "kernel:ready": (kernel) => {} }.' },
  migrations: { is: isListOf(isText), must: "a list of SQL texts", remedy: "Put each step into one text." },
  indexers: {
    is: isListOf(INDEXER),
    must: "a list of indexers",
    remedy: "Each has a name in kebab-case, a whole number as version, a module, and tables named in lower case.",
  },
  commands: { is: isListOf(COMMAND), must: "a list of commands", remedy: "Each has a name and a function `load`." },
  setup: fn("Write it like setup(kernel) {}."),
};

const MADE = "Make the adapter with defineAdapter, from `parse` or `open`.";
const ADAPTER: Readonly<Record<Exclude<keyof Adapter, "tools" | keyof AdapterCapabilities>, Rule>> = {
  name: {
    is: (it) => isText(it) && KEBAB.test(it as string),
    must: "a name in kebab-case",
    remedy: 'Write it like "echo-cli": it becomes the first part of every session id.',
    required: true,
  },
  label: { is: isText, must: "a text", remedy: "It is what people read.", required: true },
  unproved: {
    is: (it) => typeof it === "boolean",
    must: "true or false",
    remedy: "Leave it out where a log that the assistant wrote was compared.",
  },
  tried: {
    is: (it) => isText(it) && versionNumbers(it as string) !== undefined,
    must: "a version",
    remedy: 'Write it like "1.2.0".',
  },
  roots: fn('Write it like roots: ({ home }) => [join(home, ".echo")].', true),
  scan: fn("Write it like async *scan(root) { yield { key, path }; }.", true),
  read: fn(MADE, true),
  readMany: fn(MADE, true),
  parseLines: fn(MADE),
  appends: fn(MADE, true),
  peek: fn("Leave it out when there is no cheap look."),
  usage: fn("Leave it out when tokens cost as much as reading."),
  tail: fn(MADE, true),
  resume: fn('Write it like resume: ({ key }) => ["tool", "--resume", key].'),
  retention: fn("Write it like retention: () => ({ days: 30, source: path })."),
  at: fn(MADE, true),
};

/** Answers the plugin, or throws PLUGIN_INVALID or PLUGIN_INCOMPATIBLE; `specifier` is where it came from. */
export function checkPlugin(value: unknown, specifier: string): Plugin {
  const refuse = (reason: string, remedy: string, plugin?: string) =>
    new SessarcError("PLUGIN_INVALID", { specifier, plugin, reason, remedy });
  if (typeof value === "function")
    throw refuse("it is a factory: call it", "Write `plugin()`, or `[plugin, options]` in the configuration.");
  if (!isRecord(value))
    throw refuse("it is not an object", "A factory made by definePlugin or defineAdapter makes one.");
  if (value.name === undefined) throw refuse("it has no name", "Give it a `name` in kebab-case.");
  const name = String(value.name);
  checkMembers(value, PLUGIN, "", (reason, remedy) => refuse(reason, remedy, name));
  // Every member was just checked.
  const plugin = value as unknown as Plugin;
  checkCompatibility(plugin, specifier);
  if ("adapter" in value) {
    const { adapter } = value;
    if (!isRecord(adapter)) throw refuse("`adapter` must be an object", "Make the plugin with defineAdapter.", name);
    checkMembers(adapter, ADAPTER, "adapter.", (reason, remedy) => refuse(reason, remedy, name));
  }
  return plugin;
}

function checkMembers(
  value: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, Rule>>,
  prefix: string,
  refuse: (reason: string, remedy: string) => Error,
): void {
  for (const [member, rule] of Object.entries(rules)) {
    const found = value[member];
    if (found === undefined && !rule.required) continue;
    if (found === undefined) {
      const near = nearest(
        member,
        Object.keys(value).filter((name) => !(name in rules)),
      );
      throw refuse(`\`${prefix}${member}\` is missing`, near ? `Did you mean it by \`${near}\`?` : rule.remedy);
    }
    if (!rule.is(found)) throw refuse(`\`${prefix}${member}\` must be ${rule.must}, not ${kindOf(found)}`, rule.remedy);
  }
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (value === null) return "null";
  return Array.isArray(value)
    ? "a list with something else in it"
    : `${/^[aeiou]/.test(typeof value) ? "an" : "a"} ${typeof value}`;
}
