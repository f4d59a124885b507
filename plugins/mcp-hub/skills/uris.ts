/**
 * Addresses of skills in the hub: `skill://<service>/<path>`, so that two services may have one skill. The path is the service's own, with
 * `~<scheme>/` in front where its scheme is not `skill`. Pure functions: nothing has to be remembered to find the way back.
 */

/** The extension's name in capabilities, and its methods. */
export const SKILLS = "io.modelcontextprotocol/skills";
export const LIST = "skills/list";
export const GET = "skills/get";
export const READ_DIRECTORY = "resources/directory/read";

const SCHEME = "skill://";
const MANIFEST = "/SKILL.md";
/** A longer address is refused. */
const MOST_LENGTH = 4_096;

/** Whether an address reads the same after every program's parser: no `..`, no empty part, no query, nothing that hides a slash. */
export function isPlainUri(uri: string): boolean {
  if (uri.length > MOST_LENGTH) return false;
  try {
    const url = new URL(uri);
    const [, rest] = split(uri) ?? [];
    if (url.href !== uri || rest === undefined || /[?#\\]/.test(uri) || url.username !== "" || url.password !== "")
      return false;
    return rest.split("/").every((part) => isPlainPart(decodeURIComponent(part)));
  } catch {
    return false;
  }
}

const isPlainPart = (part: string) => part !== "" && part !== "." && part !== ".." && !/[/\\\p{Cc}]/u.test(part);

/** Scheme and the rest of `scheme://rest`. */
function split(uri: string): [scheme: string, rest: string] | undefined {
  const found = /^([a-z][a-z0-9+.-]*):\/\/(.+)$/is.exec(uri);
  return found ? [found[1] ?? "", found[2] ?? ""] : undefined;
}

/** A service's address as the hub's. Undefined for one that cannot have one. */
export function toHubUri(service: string, uri: string): string | undefined {
  const parts = split(uri);
  if (!parts) return undefined;
  const [scheme, rest] = parts;
  return `${SCHEME}${service}/${scheme === "skill" && !rest.startsWith("~") ? rest : `~${scheme}/${rest}`}`;
}

/** The service of a hub's address, and the address as that service has it (`""`: the top of its skills). */
export function fromHubUri(uri: string): { service: string; uri: string } | undefined {
  const found = /^skill:\/\/([a-z0-9-]+)(?:\/(.+))?$/s.exec(uri);
  if (!found) return undefined;
  const [, service = "", rest = ""] = found;
  const foreign = /^~([a-z][a-z0-9+.-]*)\/(.+)$/is.exec(rest);
  if (foreign) return { service, uri: `${foreign[1]}://${foreign[2]}` };
  return { service, uri: rest === "" ? "" : SCHEME + rest };
}

/** The folder of a skill: the address of its SKILL.md without the last part. Undefined where it is not such an address. */
export function toRoot(uri: string): string | undefined {
  const root = uri.endsWith(MANIFEST) ? uri.slice(0, -MANIFEST.length) : "";
  return split(root) ? root : undefined;
}

/** The last part of an address, as text. */
export const lastPart = (uri: string): string => decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));

/** A path below a folder's address. Throws URIError for half a character. */
export const joinUri = (root: string, path: string): string => `${root}/${path.split("/").map(encodePart).join("/")}`;

/** What WHATWG's URL leaves as it is in a path, so that an address is written one way alone. */
const encodePart = (part: string) => part.replaceAll(/[^\w!$&'()*+,.:;=@[\]|~-]/gu, (char) => encodeURIComponent(char));
