/** The skills of the store as the hub serves them, below `skill://sessarc/`. */
import { type JsonRecord, type Kernel, SessarcError, toRecord } from "sessarc";
import { BUILTIN_ID } from "../entry.ts";
import { mimeType, type Skill, skillProblem, toSkill } from "./entries.ts";
import { joinUri } from "./uris.ts";

/** A skill that is not served, and why. */
export interface LeftOutSkill {
  service: string;
  /** Its id in the store, or its address. */
  skill: string;
  reason: string;
}

export interface StoreSkills {
  /** As they are now; nothing where the plugin `skills` is not there. */
  list(): Promise<{ skills: Skill[]; leftOut: LeftOutSkill[] }>;
  /** Contents of one file, as `resources/read` answers them; undefined where no skill has it. */
  read(uri: string): Promise<JsonRecord | undefined>;
}

const TOP = `skill://${BUILTIN_ID}`;

export function createStoreSkills(kernel: Kernel): StoreSkills {
  async function find(only?: string) {
    const published = await kernel.find("skills")?.published(only);
    const leftOut: LeftOutSkill[] = (published?.leftOut ?? []).map(({ id, reason }) => ({
      service: BUILTIN_ID,
      skill: id,
      reason,
    }));
    const found: { id: string; root: string; skill: Skill; paths: Map<string, string> }[] = [];
    for (const { id, frontmatter, files } of published?.skills ?? []) {
      // The last folder is the skill's name; where that is not its id, which alone is unique, the id is a folder above.
      const name = String(frontmatter.name ?? "");
      const root = name === id ? `${TOP}/${id}` : `${TOP}/${id}/${name}`;
      const paths = new Map<string, string>();
      try {
        for (const { path } of files) paths.set(path, joinUri(root, path));
      } catch {
        leftOut.push({ service: BUILTIN_ID, skill: id, reason: "a file's name is not text" });
        continue;
      }
      const resources = files.map(({ path, size, sha256 }) => ({
        uri: paths.get(path),
        size,
        digest: `sha256:${sha256}`,
      }));
      const entry: JsonRecord = { uri: `${root}/SKILL.md`, frontmatter, resources };
      const skill = toSkill(entry);
      if (skill) found.push({ id, root, skill, paths });
      else leftOut.push({ service: BUILTIN_ID, skill: id, reason: skillProblem(entry) ?? "" });
    }
    return { found, leftOut };
  }

  return {
    async list() {
      const { found, leftOut } = await find();
      return { skills: found.map(({ skill }) => skill), leftOut };
    },
    async read(uri) {
      // The id is the first folder: the files of other skills are not read.
      const { found } = await find(uri.slice(TOP.length + 1).split("/", 1)[0]);
      const owner = found.find(({ root }) => uri.startsWith(`${root}/`));
      const path = owner && [...owner.paths].find(([, address]) => address === uri)?.[0];
      const bytes = owner && path !== undefined ? await readFile(owner.id, path) : undefined;
      if (!bytes || path === undefined) return undefined;
      const text = toText(bytes);
      const content = text === undefined ? { blob: bytes.toString("base64") } : { text };
      return { contents: [{ uri, mimeType: mimeType(path), ...content }] };
    },
  };

  async function readFile(id: string, path: string): Promise<Buffer | undefined> {
    try {
      return await kernel.find("skills")?.publishedFile(id, path);
    } catch (error) {
      // Deleted in between.
      if (error instanceof SessarcError && error.code === "SKILL_NOT_FOUND") return undefined;
      throw error;
    }
  }
}

/** The text, where writing it again gives the same bytes: digests are of the bytes. */
function toText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A skill's SKILL.md as `resources/list` lists it. */
export function toResource({ uri, frontmatter, resources }: Skill): JsonRecord {
  const size = resources === "dynamic" ? undefined : resources.find((file) => file.uri === uri)?.size;
  const { name, description } = toRecord(frontmatter);
  return { uri, name, description, mimeType: "text/markdown", ...(size === undefined ? {} : { size }) };
}
