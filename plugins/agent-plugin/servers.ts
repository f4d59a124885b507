/** `mcp.json` of an Agent Plugin: its servers as the hub's services. */
import { join } from "node:path";
import { isRecord, type JsonRecord, toText } from "sessarc";
import { inside, type PluginProblem } from "./folder.ts";
import { SCHEMAS } from "./forms.ts";

/** A server as the hub takes it; everything it would start or connect to. */
export interface ServerEntry {
  name: string;
  transport: "stdio" | "http" | "sse";
  command: string | null;
  args: string[];
  env: Record<string, string>;
  cwd: string | null;
  url: string | null;
  headers: Record<string, string>;
}

const FIELDS = { stdio: ["type", "command", "args", "env", "cwd"], remote: ["type", "url", "headers"] };
const MOST_SERVERS = 100;
const MOST_LENGTH = 4_000;
const RESERVED = new Set(["PLUGIN_ROOT", "PLUGIN_DATA"]);

/** `data`: the folder in which its servers may write. */
export async function readServers(value: JsonRecord, folder: string, data: string) {
  const problems: PluginProblem[] = [];
  const servers: ServerEntry[] = [];
  const wrong = fileProblem(value);
  if (wrong !== undefined) return { servers, problems: [{ what: "mcp.json", reason: wrong }] };
  for (const [name, entry] of Object.entries(value.mcpServers as JsonRecord).slice(0, MOST_SERVERS)) {
    const read = await readServer(name, entry, folder, data);
    if (typeof read === "string") problems.push({ what: `server ${name.slice(0, 80)}`, reason: read });
    else servers.push(read);
  }
  return { servers, problems };
}

function fileProblem(value: JsonRecord): string | undefined {
  if (value.$schema !== `${SCHEMAS}/mcp.schema.json`) return "its $schema is not that of Agent Plugins 1.0.0";
  if (!isRecord(value.mcpServers)) return "mcpServers is not an object";
  const other = Object.keys(value).find((key) => key !== "$schema" && key !== "mcpServers");
  if (other !== undefined) return `it has a field ${other.slice(0, 80)}, which the format has not`;
  return Object.keys(value.mcpServers).length > MOST_SERVERS ? `it has more than ${MOST_SERVERS} servers` : undefined;
}

/** The server, or why it is not one. */
async function readServer(name: string, entry: unknown, folder: string, data: string): Promise<ServerEntry | string> {
  if (name === "" || name.length > 200) return "its name is empty or longer than 200 characters";
  if (!isRecord(entry)) return "it is not an object";
  if (entry.type === "stdio") return readProcess(name, entry, folder, data);
  if (entry.type === "streamable-http" || entry.type === "sse") return readRemote(name, entry);
  return "its type is not stdio, streamable-http or sse";
}

async function readProcess(
  name: string,
  entry: JsonRecord,
  folder: string,
  data: string,
): Promise<ServerEntry | string> {
  const { command, args = [], env = {}, cwd } = entry;
  const other = unknownField(entry, FIELDS.stdio);
  if (other !== undefined) return other;
  if (typeof command !== "string" || command === "" || command.length > MOST_LENGTH) return "its command is not a text";
  if (!Array.isArray(args) || !args.every((one): one is string => typeof one === "string"))
    return "its args are not texts";
  if (!isTexts(env)) return "its env is not a list of names with a text each";
  if (Object.keys(env).some((key) => RESERVED.has(key.toUpperCase()))) return "its env sets PLUGIN_ROOT or PLUGIN_DATA";
  const program = await findProgram(command, folder);
  if (program === undefined) return "its command is neither a bare name nor a file of the plugin";
  const filled = (text: string) =>
    text.replaceAll(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_, which: string) => (which === "ROOT" ? folder : data));
  const at = cwd === undefined ? folder : await findFolder(cwd, folder, data);
  if (at === undefined) return "its cwd leaves the plugin";
  return {
    name,
    transport: "stdio",
    command: program,
    args: args.map(filled),
    env: {
      ...Object.fromEntries(Object.entries(env).map(([key, text]) => [key, filled(text)])),
      PLUGIN_ROOT: folder,
      PLUGIN_DATA: data,
    },
    cwd: at,
    url: null,
    headers: {},
  };
}

async function findProgram(command: string, folder: string): Promise<string | undefined> {
  if (command.startsWith("./")) return inside(folder, join(folder, command));
  return /[/\\\s$]/.test(command) ? undefined : command;
}

async function findFolder(cwd: unknown, folder: string, data: string): Promise<string | undefined> {
  const text = toText(cwd) ?? "";
  if (text === "${PLUGIN_DATA}") return data;
  const root = /^\$\{PLUGIN_ROOT\}(?:\/(.*))?$/s.exec(text);
  if (root) return inside(folder, join(folder, root[1] ?? ""));
  return text.startsWith("./") ? inside(folder, join(folder, text)) : undefined;
}

function readRemote(name: string, entry: JsonRecord): ServerEntry | string {
  const { url, headers = {} } = entry;
  const other = unknownField(entry, FIELDS.remote);
  if (other !== undefined) return other;
  if (!isTexts(headers)) return "its headers are not a list of names with a text each";
  const names = Object.keys(headers).map((key) => key.toLowerCase());
  if (new Set(names).size < names.length) return "a header is there twice";
  if (Object.entries(headers).some(([key, text]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(key) || /[\r\n\0]/.test(text)))
    return "a header is not valid";
  const wrong = urlProblem(url);
  if (wrong !== undefined || typeof url !== "string") return wrong ?? "its url is not an address";
  const transport = entry.type === "sse" ? "sse" : "http";
  return { name, transport, command: null, args: [], env: {}, cwd: null, url, headers: { ...headers } };
}

function urlProblem(url: unknown): string | undefined {
  if (typeof url !== "string" || url.length > MOST_LENGTH || !URL.canParse(url)) return "its url is not an address";
  const { protocol, hostname, username, password, hash } = new URL(url);
  if (username !== "" || password !== "" || hash !== "") return "its url has a user or a fragment";
  const isLocal = hostname === "localhost" || /^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === "[::1]";
  if (protocol === "https:" || (protocol === "http:" && isLocal)) return undefined;
  return "its url is not https, and not of this machine";
}

const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((one) => typeof one === "string");

function unknownField(entry: JsonRecord, known: readonly string[]): string | undefined {
  const other = Object.keys(entry).find((key) => !known.includes(key));
  return other === undefined ? undefined : `it has a field ${other.slice(0, 80)}, which its type has not`;
}
