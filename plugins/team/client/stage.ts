/** A session as it leaves: redacted, in pieces on the disk, with its manifest. */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Kernel, SessionSummary, SessionUsage, UsageEntry } from "sessarc";
import { addUsage, plainModel } from "sessarc/adapter";
import { toDigest } from "../manifest.ts";
import { type Leaving, leavingLinks, toPortable, writeReplies } from "../portable/write.ts";
import type { Manifest, PortableSummary } from "../types.ts";
import { readableLog } from "./readable.ts";
import type { Candidate } from "./store.ts";

export interface Staged {
  manifest: Manifest;
  digest: string;
  /** Bytes of each piece's file, by SHA-256. */
  pieces: ReadonlyMap<string, number>;
  /** The compressed piece. Throws for a name that is not in `pieces`. */
  read(sha256: string): Promise<Uint8Array>;
  messages: number;
  masked: Record<string, number>;
  doubtful: { ruleId: string; rule: string; masked: string; count: number }[];
  unchecked: number;
  remove(): Promise<void>;
}

/** Logs that are larger do not go along: their messages do. */
const MOST_RAW = 32 * 2 ** 20;
const RAW = /\.(?:jsonl|jsonl\.zst|json)$/i;
/** Changes when equal sessions become other manifests. */
const FORMAT = 3;
/** Where the archive cuts titles. */
const TITLE_CHARS = 200;
/** Longer paths do not go along. */
const MOST_PATH = 4_000;

const compress = promisify(gzip);
const inflate = promisify(gunzip);

/** Equal while a session would leave as it did. `version`: of the redaction. */
export function toStamp(one: Candidate, machine: string, version: string): string {
  const { generation, parts, name, title, parent_id, forked_from, project_key, project_name } = one;
  const facts = [
    FORMAT,
    version,
    machine,
    generation,
    parts,
    name,
    title,
    parent_id,
    forked_from,
    project_key,
    project_name,
  ];
  return hash(JSON.stringify(facts));
}

/** Redacts a session into `folder`. Throws EXPORT_LEAKS when a found value would still be readable. */
export async function stage(
  kernel: Kernel,
  one: Candidate,
  machine: string,
  folder: string,
  signal: AbortSignal,
): Promise<Staged> {
  const archive = kernel.inject("archive");
  const { summary, born, texts } = await archive.asLogged(one.id);
  const said = toTexts(one, summary);
  const file = basename(one.source_path).replace(/\.zst$/, "");
  const keys = [...toKeys(one, summary), file];
  const raw = one.exclusive === 1 && one.source_bytes <= MOST_RAW && RAW.test(one.source_path) ? one.source_path : null;
  const request = { texts, head: said, keys, raw, folder };
  const pieces = await kernel.inject("redactor").pieces(one.id, request, { signal });
  const head = Array.isArray(pieces.head) ? pieces.head : [];
  const redacted = new Map(said.map((text, i) => [text, head[i]]));
  const say = (text: string): string => {
    const shown = redacted.get(text);
    return typeof shown === "string" ? shown : "[REDACTED:not-checked]";
  };
  const plain = new Map(keys.map((key, i) => [key, pieces.keys[i]]));
  const toKey = (key: string) => plain.get(key) ?? hash(key);
  const all = new Map<string, number>();
  for (const { sha256, packed } of [...pieces.texts.flat(), ...pieces.raw]) all.set(sha256, packed);
  const own = new Map<string, Buffer>();
  const replies = writeReplies(
    (summary.replies ?? []).map((reply): UsageEntry => ({ ...reply, model: say(reply.model) })),
    ({ sha256, bytes }) => void own.set(sha256, bytes),
  );
  for (const [sha256, bytes] of own) {
    const packed = await compress(bytes);
    own.set(sha256, packed);
    all.set(sha256, packed.length);
  }
  const names = pieces.texts.map((text) => text.map(({ sha256 }) => sha256));
  const events = names.pop() ?? [];
  const shownSummary = shown(toPortable(summary), say, toKey);
  // The name becomes a file's: only pieces of this session have one.
  const read = async (sha256: string) => {
    if (!all.has(sha256)) throw new Error("the session has no piece of that name");
    return own.get(sha256) ?? readFile(join(folder, `${sha256}.gz`));
  };
  const log =
    pieces.raw.length > 0 && texts.length === 1
      ? await readableLog(kernel, one, {
          name: toKey(file),
          raw: pieces.raw.map(({ sha256 }) => sha256),
          load: async (sha256) => inflate(await read(sha256)),
          folder,
          said: summary,
          shown: shownSummary,
        })
      : null;
  const manifest: Manifest = {
    version: 1,
    id: `${one.tool}:${toKey(one.key)}`,
    tool: one.tool,
    toolLabel: cut(archive.adapter(one.tool)?.label ?? one.tool, 100),
    project: {
      kind: one.project_kind,
      name: cut(say(one.project_name), 300) || "project",
      key: projectKey(one, machine),
      ...findPlace(one, say),
    },
    name: one.name === null ? null : cut(say(one.name), 500),
    summary: shownSummary,
    replies,
    events,
    earlier: names,
    raw: pieces.raw.map(({ sha256 }) => sha256),
    log,
    born,
  };
  return {
    manifest,
    digest: toDigest(manifest),
    pieces: all,
    read,
    messages: pieces.messages,
    masked: pieces.masked,
    doubtful: pieces.doubtful,
    unchecked: pieces.unchecked,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const isRepository = ({ project_kind, root_commit }: Candidate): boolean =>
  project_kind === "repository" && root_commit !== null;

/** A repository is the same project on every machine; a folder is not, and of its path a hash leaves the machine. */
function projectKey(one: Candidate, machine: string): string {
  const { project_kind, project_key, root_commit, tool } = one;
  if (isRepository(one)) return `commit:${root_commit}`;
  if (project_key === `virtual:${tool}`) return project_key;
  const kind = project_kind === "virtual" ? "virtual" : "folder";
  return `${kind}:${hash(`${machine}\0${project_key}`)}`;
}

/** By which the server knows files of the repository in the session's calls. */
function findPlace(one: Candidate, say: (text: string) => string): Pick<Manifest["project"], "root" | "cwd"> {
  if (!isRepository(one) || one.project_path === null) return {};
  const root = say(one.project_path);
  const cwd = one.cwd === null ? undefined : say(one.cwd);
  return root.length > MOST_PATH || (cwd?.length ?? 0) > MOST_PATH ? {} : { root, ...(cwd !== undefined && { cwd }) };
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Every text of the head, each once. */
function toTexts(
  one: Candidate,
  { title, gitBranch, links = [], tags = [], refused, skipped, ...figures }: SessionSummary,
): string[] {
  const { usage, inheritedUsage = {}, replies = [] } = figures;
  const models = [...Object.keys(usage), ...Object.keys(inheritedUsage), ...replies.map(({ model }) => model)];
  const linked = links.flatMap((link) => (link.kind === "pull-request" ? [link.url, link.repository ?? ""] : []));
  const places = isRepository(one) ? [one.project_path ?? "", one.cwd ?? ""] : [];
  const texts = [one.name ?? "", whole(title ?? ""), gitBranch ?? "", refused ?? "", one.project_name, ...places];
  return [...new Set([...texts, ...linked, ...tags, ...models, ...Object.keys(skipped?.unknown ?? {})])];
}

function toKeys(one: Candidate, { parent, forkedFrom, links = [] }: SessionSummary): string[] {
  const linked = links.flatMap((link) => ("key" in link ? [link.key] : []));
  return [...new Set([one.key, parent, forkedFrom, ...linked].filter((key) => key !== undefined))];
}

/** A title that was cut when it was stored may end in half of a secret. */
function whole(title: string): string {
  if ([...title].length < TITLE_CHARS) return title;
  return title.replace(/\s*\S+$/, "") || title;
}

const cut = (text: string, most: number) => [...text.replace(/\p{Cc}+/gu, " ")].slice(0, most).join("");

/** The summary with redacted texts, and only what a server takes. */
function shown(
  summary: PortableSummary,
  say: (text: string) => string,
  keyOf: (key: string) => string,
): PortableSummary {
  const { title, gitBranch, links, tags, refused, skipped, parent, forkedFrom, ...rest } = summary;
  const renamed = (usage: SessionUsage) => {
    const out: SessionUsage = {};
    for (const [model, tokens] of Object.entries(usage)) addUsage(out, renamedModel(model, say), tokens);
    return out;
  };
  const each = (all: Record<string, SessionUsage>) =>
    Object.fromEntries(Object.entries(all).map(([slot, usage]) => [slot, renamed(usage)]));
  const out: PortableSummary = { ...rest, usage: renamed(rest.usage) };
  if (rest.inheritedUsage) out.inheritedUsage = renamed(rest.inheritedUsage);
  if (rest.slots) out.slots = each(rest.slots);
  if (rest.classes) out.classes = each(rest.classes);
  if (title !== undefined) out.title = cut(say(whole(title)), 2_000);
  if (gitBranch !== undefined) out.gitBranch = cut(say(gitBranch), 500);
  if (refused !== undefined) out.refused = cut(say(refused), 500);
  if (parent !== undefined) out.parent = keyOf(parent);
  if (forkedFrom !== undefined) out.forkedFrom = keyOf(forkedFrom);
  if (tags) out.tags = tags.map((tag) => cut(say(tag), 200));
  const leaving = leavingLinks(links).flatMap((link) => shownLink(link, say, keyOf));
  if (leaving.length > 0) out.links = leaving;
  if (skipped) {
    const unknown = Object.entries(skipped.unknown).map(([type, count]) => [cut(say(type), 200), count] as const);
    out.skipped = { ...skipped, unknown: Object.fromEntries(unknown) };
  }
  return out;
}

function shownLink(link: Leaving, say: (text: string) => string, keyOf: (key: string) => string): Leaving[] {
  if (link.kind !== "pull-request") return [{ ...link, key: keyOf(link.key) }];
  // An address with something masked leads nowhere.
  if (say(link.url) !== link.url) return [];
  return [{ ...link, ...(link.repository !== undefined && { repository: say(link.repository) }) }];
}

/** The name without its price class is what was checked. */
function renamedModel(key: string, say: (text: string) => string): string {
  const model = plainModel(key);
  return say(model) + key.slice(model.length);
}
