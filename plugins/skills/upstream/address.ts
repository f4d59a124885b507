/** Addresses, refs and paths of repositories, checked before git runs. */
import { SessarcError } from "sessarc";
import { badPath } from "../content/names.ts";

/** Hosts whose repositories may be fetched. */
const HOSTS: readonly string[] = ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht"];

export interface Upstream {
  /** As git gets it: `https:`, `ssh:`, or `file:` for tests. */
  url: string;
  /** Undefined: what HEAD names. */
  ref: string | undefined;
  /** Folder of the repository; undefined: all of it. */
  path: string | undefined;
}

export interface AddressRules {
  /** More hosts beside HOSTS. */
  hosts: readonly string[];
  /** `file:` addresses, for tests. */
  files: boolean;
}

interface Asked {
  url: string;
  ref?: string | undefined;
  path?: string | undefined;
}

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._~+-]*$/;
const COMMIT = /^[0-9a-f]{40}$/;

/**
 * Takes `https://host/group/name`, `owner/name` of GitHub, an address copied from the file browser of GitHub or GitLab
 * (`…/tree/<ref>/<path>`, `…/-/tree/<ref>/<path>`), `git@host:group/name.git` and `ssh://git@host/group/name.git`. Throws
 * SKILL_UPSTREAM_REFUSED for anything else: other schemes, foreign hosts, other user names, ports of https, and what git could take for
 * an option.
 */
export function checkUpstream(asked: Asked, rules: AddressRules): Upstream {
  const short = /^[A-Za-z0-9][\w.-]*\/[\w.-]+$/.test(asked.url) ? `https://github.com/${asked.url}` : asked.url;
  const refuse = (reason: string): never => {
    throw new SessarcError("SKILL_UPSTREAM_REFUSED", { what: printable(asked.url), reason });
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (short.length > 2_000 || /[\u0000-\u0020\u007f\\]/.test(short)) refuse("it is not an address");
  const ssh = sshAddress(short);
  if (ssh) {
    if (![...HOSTS, ...rules.hosts].includes(ssh.host)) refuse(`${printable(ssh.host)} is not among the known hosts`);
    const repository = ssh.path.replace(/^\/|\/$/g, "").split("/");
    if (!isRepository(repository)) refuse("its path is not one of a repository");
    return withRef(`ssh://git@${ssh.host}${ssh.port}/${repository.join("/")}`, asked);
  }
  if (!/^(https|file):\/\//.test(short)) refuse("only https:// and ssh:// are allowed");
  const url = URL.canParse(short) ? new URL(short) : refuse("it is not an address");
  if (url.username !== "" || url.password !== "" || /^[a-z]+:\/\/[^/]*@/.test(short)) refuse("it holds a user name");
  if (url.search !== "" || url.hash !== "" || /[?#]/.test(short)) refuse("it holds a query");
  if (url.protocol === "file:") {
    if (!rules.files) refuse("only https:// and ssh:// are allowed");
    if (url.hostname !== "" || !/^file:\/\/\/[\w./~+-]+$/.test(short) || /\/\.\.?(\/|$)/.test(short))
      refuse("it is not a plain path");
    return withRef(short, asked);
  }
  if (url.port !== "" || /^https:\/\/[^/]*:/.test(short)) refuse("it names a port");
  if (![...HOSTS, ...rules.hosts].includes(url.hostname)) refuse(`${url.hostname} is not among the known hosts`);
  const parts = url.pathname.replace(/^\/|\/$/g, "").split("/");
  const browsed = parts.findIndex((part, i) => i >= 2 && (part === "tree" || part === "blob"));
  const repository = (browsed < 0 ? parts : parts.slice(0, browsed)).filter((part) => part !== "-");
  if (!isRepository(repository)) refuse("its path is not one of a repository");
  const rest = browsed < 0 ? [] : parts.slice(browsed + 1).map(decode);
  return withRef(`https://${url.hostname}/${repository.join("/")}`, {
    url: asked.url,
    ref: asked.ref ?? rest[0],
    path:
      asked.path ??
      (rest.length > 1
        ? rest
            .slice(1)
            .join("/")
            .replace(/\/?SKILL\.md$/, "")
        : undefined),
  });
}

const isRepository = (parts: readonly string[]) =>
  parts.length >= 2 && parts.every((part) => SEGMENT.test(part.replace(/^~/, "")) && !part.includes(".."));

/** Both forms of an address of ssh. The user is always `git`: no other account of a host serves repositories. */
function sshAddress(text: string): { host: string; port: string; path: string } | undefined {
  const [, host, port = "", path] =
    /^ssh:\/\/git@([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?\/([^:@?#]+)$/i.exec(text) ??
    /^git@([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)()?:(?!\/)([^:@?#]+)$/i.exec(text) ??
    [];
  return host === undefined || path === undefined ? undefined : { host: host.toLowerCase(), port, path };
}

function withRef(url: string, { ref, path }: Asked): Upstream {
  return {
    url,
    ref: ref === undefined ? undefined : checkRef(ref),
    path: path === undefined ? undefined : checkPath(path),
  };
}

/** A branch, a tag, a full name below `refs/`, or a commit in full. */
function checkRef(ref: string): string {
  const bad =
    ref.length > 200 ||
    !/^[A-Za-z0-9_][A-Za-z0-9._/+-]*$/.test(ref) ||
    /\.\.|\/\/|\/\.|\.lock(\/|$)|[./]$/.test(ref) ||
    (ref.startsWith("refs/") && !/^refs\/(heads|tags)\/./.test(ref));
  if (bad)
    throw new SessarcError("SKILL_UPSTREAM_REFUSED", {
      what: `The ref ${printable(ref)}`,
      reason: "it is not a plain branch, tag or commit",
    });
  return ref;
}

export const isCommit = (text: string) => COMMIT.test(text);

/** Without a slash at its ends; "" is the root. */
function checkPath(path: string): string {
  const plain = path.replace(/^\.\//, "").replace(/\/+$/, "");
  const reason = plain === "" || plain === "." ? undefined : badPath(plain);
  if (reason !== undefined || plain.startsWith("-"))
    throw new SessarcError("SKILL_UPSTREAM_REFUSED", {
      what: `The path ${printable(path)}`,
      reason: reason ?? "looks like an option",
    });
  return plain === "." ? "" : plain;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Text from outside, short enough for a message and without control characters. */
const printable = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are taken out
  text.slice(0, 200).replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "�");
