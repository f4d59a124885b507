/** A plugin of someone else, read by the rules of Agent Plugins 1.0. Nothing of it is run, and nothing outside of its folder is read. */
import { createHash } from "node:crypto";
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { isRecord, type JsonRecord, SessarcError } from "sessarc";
import { ABSENT, inside, type PluginProblem, readJson } from "./folder.ts";
import { SCHEMAS } from "./forms.ts";
import { readServers, type ServerEntry } from "./servers.ts";

export interface ForeignPlugin {
  /** Its real path. */
  folder: string;
  name: string;
  version: string | null;
  description: string | null;
  /** Folders with a SKILL.md. */
  skills: { name: string; folder: string }[];
  servers: ServerEntry[];
  problems: PluginProblem[];
  /** Of plugin.json and mcp.json, as they were read. */
  digest: string;
}

const MOST_SKILLS = 500;
const NAME = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const TEXTS = ["version", "description", "homepage", "repository", "license"];
const AUTHOR = ["name", "email", "url"];

/** Throws AGENT_PLUGIN_INVALID where the manifest is not one; a skill or server that breaks a rule is a problem, and the rest is read. */
export async function readForeign(path: string, dataFolder: (name: string) => string): Promise<ForeignPlugin> {
  const invalid = (reason: string) => new SessarcError("AGENT_PLUGIN_INVALID", { path, reason });
  const folder = await realpath(path).catch(() => undefined);
  if (folder === undefined) throw invalid("there is no such folder");
  const problems: PluginProblem[] = [];
  const manifest = await readJson(folder, "plugin.json");
  if ("reason" in manifest) throw invalid(`plugin.json ${manifest.reason}`);
  const { value } = manifest;
  const reason = manifestProblem(value, problems);
  if (reason !== undefined) throw invalid(reason);
  const name = String(value.name);
  const servers: ServerEntry[] = [];
  const mcp = await readJson(folder, "mcp.json");
  if (!("reason" in mcp)) {
    const read = await readServers(mcp.value, folder, dataFolder(name));
    servers.push(...read.servers);
    problems.push(...read.problems);
  } else if (mcp.reason !== ABSENT) problems.push({ what: "mcp.json", reason: mcp.reason });
  return {
    folder,
    name,
    version: typeof value.version === "string" ? value.version : null,
    description: typeof value.description === "string" ? value.description : null,
    skills: await findSkills(folder, problems),
    servers,
    problems,
    digest: createHash("sha256")
      .update(manifest.text)
      .update("\0")
      .update("text" in mcp ? mcp.text : "")
      .digest("hex"),
  };
}

/** Why it is no manifest; unknown fields are reported and ignored. */
function manifestProblem(value: JsonRecord, problems: PluginProblem[]): string | undefined {
  if (value.$schema !== `${SCHEMAS}/plugin.schema.json`) return "its $schema is not that of Agent Plugins 1.0.0";
  if (typeof value.name !== "string" || value.name.length > 64 || !NAME.test(value.name))
    return "its name is not 1 to 64 of a-z, 0-9, - and ., beginning and ending with a letter or digit";
  for (const field of TEXTS)
    if (value[field] !== undefined && typeof value[field] !== "string") return `${field} is not a text`;
  const { author, keywords, extensions } = value;
  if (author !== undefined) {
    if (!isRecord(author)) return "author is not an object";
    const wrong = Object.entries(author).find(([key, one]) => !AUTHOR.includes(key) || typeof one !== "string");
    if (wrong) return `author.${wrong[0].slice(0, 80)} is not a text of name, email or url`;
  }
  if (keywords !== undefined && !(Array.isArray(keywords) && keywords.every((one) => typeof one === "string")))
    return "keywords is not a list of texts";
  if (isRecord(extensions) && !Object.values(extensions).every(isRecord))
    return "an entry of extensions is not an object";
  if (extensions !== undefined && !isRecord(extensions))
    problems.push({ what: "extensions", reason: "it is not an object" });
  const known = ["$schema", "name", "author", "keywords", "extensions", ...TEXTS];
  for (const field of Object.keys(value))
    if (!known.includes(field))
      problems.push({ what: field.slice(0, 80), reason: "plugin.json has no such field: it is ignored" });
  return undefined;
}

async function findSkills(folder: string, problems: PluginProblem[]): Promise<ForeignPlugin["skills"]> {
  const top = await inside(folder, join(folder, "skills"));
  if (top === undefined) {
    if (await lstat(join(folder, "skills")).catch(() => undefined))
      problems.push({ what: "skills", reason: "it is a link that leaves the plugin" });
    return [];
  }
  const names = await readdir(top).catch(() => undefined);
  if (!names) {
    problems.push({ what: "skills", reason: "it is not a folder" });
    return [];
  }
  const skills: ForeignPlugin["skills"] = [];
  for (const name of names.sort().slice(0, MOST_SKILLS)) {
    const file = join(top, name, "SKILL.md");
    if (!(await lstat(file).catch(() => undefined))) continue;
    if (await inside(folder, file)) skills.push({ name: basename(name), folder: join(top, name) });
    else problems.push({ what: `skills/${name}`, reason: "its SKILL.md is a link that leaves the plugin" });
  }
  if (names.length > MOST_SKILLS) problems.push({ what: "skills", reason: `there are more than ${MOST_SKILLS}` });
  return skills;
}
