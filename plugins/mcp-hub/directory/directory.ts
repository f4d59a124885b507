/**
 * Lists of servers in the format of the official registry (`{ servers: [{ server: { name, description, packages, remotes } }] }`), from a
 * file or an address that the user names. Reads, and starts nothing.
 */
import { readFile } from "node:fs/promises";
import { isRecord, type JsonRecord, parseRecord, toList, toRecord, toText } from "sessarc";
import { limitedFetch } from "../upstream/fetch.ts";

/** A value that a server needs: of its environment, a header or an argument. */
interface NeededValue {
  name: string;
  description: string | undefined;
  /** What it is where the user sets nothing else; `{name}` is a variable of its own. */
  value: string | undefined;
  isRequired: boolean;
  isSecret: boolean;
}

type ListedTransport = "stdio" | "http" | "sse";

/** One way to run or reach a server. */
export interface ListedWay {
  transport: ListedTransport;
  /** A program: the command and its arguments. */
  command: string | undefined;
  args: readonly string[];
  url: string | undefined;
  /** Environment of a program, headers of an address. */
  values: readonly NeededValue[];
  /** Arguments and variables of the address that only the user knows. */
  missing: readonly string[];
}

export interface ListedServer {
  name: string;
  title: string | undefined;
  description: string | undefined;
  version: string | undefined;
  ways: readonly ListedWay[];
}

const MOST_PAGES = 20;
const PAGE = 100;
const WAIT_MS = 20_000;

/** Servers whose name, title or description has all the words. Throws an Error that says what is wrong with the source. */
export async function searchServers(
  source: string,
  words: readonly string[],
  signal: AbortSignal,
): Promise<ListedServer[]> {
  const servers = /^https?:\/\//i.test(source) ? await fromAddress(source, words, signal) : await fromFile(source);
  const wanted = words.map((word) => word.toLowerCase());
  return servers.filter(({ name, title, description }) => {
    const text = `${name} ${title ?? ""} ${description ?? ""}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

async function fromFile(path: string): Promise<ListedServer[]> {
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`Cannot read ${path} (${cause.code})`, { cause });
  });
  return latest(toServers(text, path).servers);
}

async function fromAddress(address: string, words: readonly string[], signal: AbortSignal): Promise<ListedServer[]> {
  const found: ListedServer[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const url = new URL(address);
    // The registry's own route searches and answers in pages; any other address is a list as it is.
    const isRoute = url.pathname.endsWith("/servers");
    if (isRoute) {
      url.searchParams.set("limit", String(PAGE));
      if (words[0] !== undefined) url.searchParams.set("search", words[0]);
      if (cursor !== undefined) url.searchParams.set("cursor", cursor);
    }
    const response = await limitedFetch(url, {
      headers: { accept: "application/json" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]),
    });
    if (!response.ok) throw new Error(`${url.origin} answers with status ${response.status}`);
    const { servers, next } = toServers(await response.text(), url.origin);
    found.push(...servers);
    cursor = next;
    if (!isRoute || cursor === undefined) break;
  }
  return latest(found);
}

function toServers(text: string, where: string): { servers: ListedServer[]; next: string | undefined } {
  const list = parseRecord(text);
  if (!list || !Array.isArray(list.servers))
    throw new Error(`${where} is not a list of servers: { "servers": [{ "server": { … } }] } is expected`);
  const metadata = toRecord(list.metadata);
  return {
    servers: list.servers.flatMap((row: unknown) => toServer(row) ?? []),
    next: toText(metadata.nextCursor) ?? toText(metadata.next_cursor),
  };
}

/** The last version of each; lists name the versions of a server in the order they were published, or mark the latest. */
function latest(servers: readonly ListedServer[]): ListedServer[] {
  const byName = new Map<string, ListedServer>();
  for (const server of servers) byName.set(server.name, server);
  return [...byName.values()];
}

function toServer(row: unknown): ListedServer | undefined {
  const { server, _meta } = toRecord(row);
  // Older lists have the servers themselves as rows.
  const entry = isRecord(server) ? server : toRecord(row);
  const name = toText(entry.name);
  if (name === undefined || !isLatest(toRecord(_meta))) return undefined;
  const ways = [
    ...toList(entry.remotes).flatMap((remote) => remoteWay(toRecord(remote)) ?? []),
    ...toList(entry.packages).flatMap((one) => packageWay(toRecord(one)) ?? []),
  ];
  const [title, description, version] = [toText(entry.title), toText(entry.description), toText(entry.version)];
  return { name, title, description, version, ways };
}

const OFFICIAL = "io.modelcontextprotocol.registry/official";
function isLatest(meta: JsonRecord): boolean {
  const { isLatest: mark, status } = toRecord(meta[OFFICIAL]);
  return mark !== false && status !== "deleted";
}

function remoteWay(remote: JsonRecord): ListedWay | undefined {
  const url = toText(remote.url);
  const transport = remote.type === "sse" ? "sse" : remote.type === "streamable-http" ? "http" : undefined;
  if (url === undefined || transport === undefined) return undefined;
  const missing = [...url.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => `${name} in the address`);
  return { transport, command: undefined, args: [], url, values: toValues(remote.headers), missing };
}

/** How a package of this registry is started; the version follows its name. */
const RUNNERS: Record<
  string,
  (identifier: string, version: string | undefined) => { command: string; args: string[]; after?: string[] }
> = {
  npm: (identifier, version) => ({ command: "npx", args: ["-y"], after: [at(identifier, "@", version)] }),
  pypi: (identifier, version) => ({ command: "uvx", args: [], after: [at(identifier, "@", version)] }),
  oci: (identifier, version) => ({
    command: "docker",
    args: ["run", "-i", "--rm"],
    after: [/[:@][^/]*$/.test(identifier) ? identifier : at(identifier, ":", version)],
  }),
};
const at = (identifier: string, sign: string, version: string | undefined) =>
  version === undefined || version === "latest" ? identifier : identifier + sign + version;

function packageWay(one: JsonRecord): ListedWay | undefined {
  const identifier = toText(one.identifier);
  const runner = RUNNERS[String(one.registryType ?? one.registry_type)];
  const { type = "stdio" } = toRecord(one.transport);
  if (identifier === undefined || !runner || type !== "stdio") return undefined;
  const { command, args, after = [] } = runner(identifier, toText(one.version));
  const values = toValues(one.environmentVariables ?? one.environment_variables);
  const missing: string[] = [];
  const runtime = toArguments(one.runtimeArguments ?? one.runtime_arguments, missing);
  const own = toArguments(one.packageArguments ?? one.package_arguments, missing);
  // A container sees no variable that it is not given by name.
  const passed = command === "docker" ? values.flatMap(({ name }) => ["-e", name]) : [];
  return {
    transport: "stdio",
    command,
    args: [...args, ...runtime.filter((text) => !args.includes(text)), ...passed, ...after, ...own],
    url: undefined,
    values,
    missing,
  };
}

/** Arguments with a value; required ones without one are named in `missing`, optional ones left out. */
function toArguments(list: unknown, missing: string[]): string[] {
  return toList(list).flatMap((row) => {
    const argument = toRecord(row);
    const value = toText(argument.value) ?? toText(argument.default);
    const name = toText(argument.name);
    const isKnown = value !== undefined && !/\{[^}]+\}/.test(value);
    const isSwitch = argument.type === "named" && value === undefined && argument.format === "boolean";
    if (!isKnown && !isSwitch) {
      if (argument.isRequired === true || argument.is_required === true)
        missing.push(
          `the argument ${name ?? toText(argument.valueHint) ?? toText(argument.value_hint) ?? "without a name"}`,
        );
      return [];
    }
    if (argument.type !== "named") return value === undefined ? [] : [value];
    if (name === undefined) return [];
    return value === undefined ? [] : [name, value];
  });
}

function toValues(list: unknown): NeededValue[] {
  return toList(list).flatMap((row) => {
    const value = toRecord(row);
    const name = toText(value.name);
    if (name === undefined) return [];
    return {
      name,
      description: toText(value.description),
      value: toText(value.value) ?? toText(value.default),
      isRequired: value.isRequired === true || value.is_required === true,
      isSecret: value.isSecret === true || value.is_secret === true,
    };
  });
}
