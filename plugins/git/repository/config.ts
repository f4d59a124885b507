/** Reads git's configuration format, for the few values that are not worth a process. Never used to decide what is safe. */

export interface ConfigEntry {
  /** `remote.origin.url`: section and key in lower case, the middle as written. */
  key: string;
  value: string;
}

/** Longer addresses are cut: no screen shows more. */
const URL_CHARS = 2_048;

/** All entries in file order; an invalid line ends the reading, because git would reject the file. */
export function parseConfig(text: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section = "";
  // A backslash at the end of a line continues it.
  const lines = text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n/g, "\n")
    .replace(/\\\n/g, "")
    .split("\n");
  for (const line of lines) {
    let rest = line.trim();
    const header = /^\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest);
    if (header) {
      const [all, name = "", sub] = header;
      section = name.toLowerCase() + (sub === undefined ? "" : `.${sub.replace(/\\(.)/g, "$1")}`);
      rest = rest.slice(all.length).trim();
    }
    if (rest === "" || rest.startsWith("#") || rest.startsWith(";")) continue;
    const pair = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/s.exec(rest);
    if (!pair) break;
    entries.push({ key: `${section}.${(pair[1] ?? "").toLowerCase()}`, value: toValue(pair[2] ?? "true") });
  }
  return entries;
}

/** The last value of a key, as git takes it. */
export function configValue(entries: readonly ConfigEntry[], key: string): string | undefined {
  return entries.findLast((entry) => entry.key === key)?.value;
}

/** `origin`'s address, else that of the first remote, without user, password, query and fragment; null when there is none. */
export function findRemote(entries: readonly ConfigEntry[]): string | null {
  const remotes = entries.filter((entry) => /^remote\..+\.url$/.test(entry.key));
  const url = remotes.find((entry) => entry.key === "remote.origin.url") ?? remotes[0];
  return url ? withoutUserinfo(url.value.slice(0, URL_CHARS)) : null;
}

/** `https://user:token@host/x?y` → `https://host/x`, `git@host:a/b` → `host:a/b`; local paths stay. */
export function withoutUserinfo(url: string): string {
  const helper = /^(?:[A-Za-z0-9]+::)*/.exec(url)?.[0] ?? "";
  return helper + withoutUser(url.slice(helper.length));
}

function withoutUser(url: string): string {
  const scheme = /^([A-Za-z][\w+.-]*:\/\/)([^/?#]*)(.*)$/s.exec(url);
  if (scheme) {
    const [, head = "", authority = "", tail = ""] = scheme;
    const path = /^https?:/i.test(head) ? tail.replace(/[?#].*$/s, "") : tail;
    return head + authority.slice(authority.lastIndexOf("@") + 1) + path;
  }
  // The scp form: everything before the last @ in front of the first colon.
  const colon = url.indexOf(":");
  const host = colon < 0 ? "" : url.slice(0, colon);
  return host.includes("@") && !host.includes("/") ? url.slice(host.lastIndexOf("@") + 1) : url;
}

function toValue(raw: string): string {
  let value = "";
  let quoted = false;
  let solid = 0;
  for (let i = 0; i < raw.length; i++) {
    let char = raw[i] ?? "";
    if (char === '"') {
      quoted = !quoted;
      solid = value.length;
      continue;
    }
    if (!quoted && (char === "#" || char === ";")) break;
    if (char === "\\") {
      i++;
      char = ({ n: "\n", t: "\t", b: "\b" } as Record<string, string>)[raw[i] ?? ""] ?? raw[i] ?? "";
      value += char;
      solid = value.length;
      continue;
    }
    value += char;
    if (quoted || !/\s/.test(char)) solid = value.length;
  }
  return value.slice(0, solid);
}
