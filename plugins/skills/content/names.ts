/** Names: what may become a path, and the id a skill gets. */

/** Names that mean a device on Windows, with any extension. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
/** Also what HFS+ and NTFS take for `.git`. */
const GIT = /^(\.git|git~1)$/i;
const MAX_ID = 64;

/**
 * Id of a skill from its name: lower-case letters, digits and single inner hyphens, 64 at most; never a name that means something to a
 * file system. Names of other scripts keep nothing and become `skill`.
 */
export function toId(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_ID)
    .replace(/^-+|-+$/g, "");
  if (slug === "") return "skill";
  return RESERVED.test(slug) ? `skill-${slug}` : slug;
}

/** Names that are one for a person: duplicates are found by this. Scripts without a slug are told apart by their letters. */
export function normalName(name: string): string {
  const slug = toId(name);
  return slug === "skill" ? name.normalize("NFKC").trim().toLowerCase() : slug;
}

/** The id is the one that the name makes, or that with a number where another skill had it. */
export const isNamedAs = (id: string, name: string): boolean =>
  id === toId(name) || new RegExp(`^${toId(name)}-\\d+$`).test(id);

/** Why a path of a repository must not become a file; undefined when it may. */
export function badPath(path: string): string | undefined {
  if (path.includes("�")) return "has a name that is not UTF-8";
  for (const part of path.split("/")) {
    if (part === "" || part === "." || part === "..") return "leads elsewhere";
    if (GIT.test(part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").replace(/[. ]+$/, "")))
      return "is git's own";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    if (/[\u0000-\u001f\u007f\\:*?"<>|]/.test(part)) return "has characters that not every file system takes";
    if (/[. ]$/.test(part)) return "ends in a dot or a space";
    if (RESERVED.test(part)) return "is the name of a device";
    if (Buffer.byteLength(part) > 255) return "is too long";
  }
  return undefined;
}
