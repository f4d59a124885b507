/** What of a service may be shown. One rule for every answer, and its way back: a mask that is sent in again keeps the value. */
import type { Credential, ServiceEntry, ServicePatch } from "../entry.ts";

const MASK = "••••••••";

/** The mask of one value; the last four characters of a random one are shown when at least twelve others are not. A scheme does not count. */
export function toMask(value: string): string {
  const secret = value.replace(/^(?:bearer|basic|token)\s+/i, "");
  // A password made of words would show one of them.
  const isRandom = /\d/.test(secret) && /[A-Za-z]/.test(secret);
  return secret.length >= 16 && isRandom ? MASK + secret.slice(-4) : MASK;
}

/** Names whose value is never a secret. */
const PLAIN_NAMES = /^(accept|content-type|user-agent|node_env|log_level|lang|lc_all|tz|path|home|debug|no_color)$/i;
/** Values that are none: a reference to a variable, a switch, a small number, a word of a few letters' choice. */
const PLAIN_VALUES =
  /^$|^\$\{?[A-Za-z_][A-Za-z0-9_]*\}?$|^\$\{[A-Za-z_][A-Za-z0-9_]*:-[^}]{0,8}\}$|^(true|false|yes|no|on|off|debug|info|warn|error|production|development|test|local)$|^\d{1,5}$/i;
/** Options and names whose value is one. */
const SECRET_NAME =
  /(key|token|secret|passw|pwd|auth|credential|cookie|session|bearer|signature|private|dsn|connection)/i;

const isPlain = (name: string, value: string) => PLAIN_NAMES.test(name) || PLAIN_VALUES.test(value);

/** Environment and headers: everything is a secret that is not known to be none. */
export function maskValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isPlain(name, value) ? value : toMask(value)]),
  );
}

/** Userinfo and the values of the query are masked, and parts of the path that look like a token. */
export function maskUrl(url: string): string {
  return mapUrl(url, (value) => toMask(value));
}

/** Arguments: what follows an option or name of a secret, addresses as above, and what has the form of a token. */
export function maskArgs(args: readonly string[]): string[] {
  return args.map((arg, i) => {
    const secret = secretOfArg(args, i);
    return secret === undefined ? maskAddresses(arg) : arg.slice(0, arg.length - secret.length) + toMask(secret);
  });
}

/**
 * Places of the arguments that hold a secret, or refer to one (`--token ${TOKEN}`): it will be on the command line, which every user of
 * the machine can read while the service runs.
 */
export function exposedArgs(args: readonly string[]): number[] {
  const masked = maskArgs(args);
  return args.flatMap((arg, i) => (arg !== masked[i] || standsForSecret(arg, args[i - 1] ?? "") ? [i] : []));
}

const standsForSecret = (arg: string, before: string) =>
  [...arg.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].some(([, name = ""]) => SECRET_NAME.test(name)) ||
  (arg.includes("${") && /^--?[\w-]+$/.test(before) && SECRET_NAME.test(before));

/** The part of an argument that is a secret, undefined where it holds none. The argument always ends with it. */
function secretOfArg(args: readonly string[], i: number): string | undefined {
  const arg = args[i] ?? "";
  const before = args[i - 1] ?? "";
  const named = /^(-{0,2}[\w.-]+)[=:]\s*(.+)$/s.exec(arg);
  if (named && SECRET_NAME.test(named[1] ?? "") && !PLAIN_VALUES.test(named[2] ?? "")) return named[2];
  const isOption = /^--?[\w-]+$/.test(before);
  if (isOption && SECRET_NAME.test(before) && !arg.startsWith("-") && !PLAIN_VALUES.test(arg)) return arg || undefined;
  if (/^(-H|--header)$/.test(before)) return /^[^:]+:\s*(.+)$/s.exec(arg)?.[1];
  const last = named?.[2] ?? arg;
  return looksRandom(last) ? last : undefined;
}

/** Long, without a space or a path, and of more than one sort of character. */
function looksRandom(text: string): boolean {
  if (text.length < 20 || !/^[A-Za-z0-9_\-+=.~]+$/.test(text)) return false;
  return /\d/.test(text) && /[A-Za-z]/.test(text) && !/^[@\w]+([-.][a-z]+)+(@[\w.^~-]+)?$/.test(text);
}

const maskAddresses = (text: string) => text.replace(/[a-z][a-z0-9+.-]*:\/\/[^\s"']+/gi, (url) => maskUrl(url));

function mapUrl(text: string, mask: (value: string) => string): string {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#@]*)@)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(text);
  if (!match) return text;
  const [, scheme = "", user, host = "", path = "", query = "", hash = ""] = match;
  const parts = path.split("/").map((part) => (looksRandom(part) ? mask(part) : part));
  const pairs = query
    .slice(1)
    .split("&")
    .map((pair) => {
      const at = pair.indexOf("=");
      const value = at < 0 ? "" : pair.slice(at + 1);
      return at < 0 || PLAIN_VALUES.test(value) ? pair : pair.slice(0, at + 1) + mask(value);
    });
  const shownUser = user === undefined ? "" : `${mask(user)}@`;
  return scheme + shownUser + host + parts.join("/") + (query ? `?${pairs.join("&")}` : "") + (hash ? mask(hash) : "");
}

/** The credential as it is shown: never its value. */
export function maskCredential(credential: Credential | null) {
  if (!credential) return null;
  const name = credential.kind === "bearer" ? null : credential.name;
  return { kind: credential.kind, name, set: credential.value !== "", hint: toMask(credential.value) };
}

/** A change whose masks are values again. */
type UnmaskedPatch = Omit<ServicePatch, "credential"> & { credential?: Credential | null | undefined };

/** A change with its masks replaced by the values they represent. */
export function unmaskPatch(before: ServiceEntry, patch: ServicePatch): UnmaskedPatch {
  const { credential, ...rest } = patch;
  const after: UnmaskedPatch = rest;
  if (credential !== undefined) after.credential = unmaskCredential(before.credential, credential);
  if (after.env) after.env = unmaskValues(before.env, after.env);
  if (after.headers) after.headers = unmaskValues(before.headers, after.headers);
  if (after.args) after.args = unmaskList(before.args, maskArgs(before.args), after.args);
  if (typeof after.url === "string" && before.url !== null && after.url === maskUrl(before.url)) after.url = before.url;
  return after;
}

/** The stored value for its mask, whether it is sent as a value or as it is listed. */
function unmaskCredential(
  before: Credential | null,
  after: NonNullable<ServicePatch["credential"]> | null,
): Credential | null {
  if (after === null) return null;
  if (!("hint" in after))
    return before && after.value === toMask(before.value) ? { ...after, value: before.value } : after;
  const listed = maskCredential(before);
  const { kind, name, set, hint } = after;
  if (before && listed?.kind === kind && listed.name === name && listed.set === set && listed.hint === hint)
    return before;
  return kind === "bearer" ? { kind, value: hint } : { kind, name: name ?? "", value: hint };
}

/** Whether a named value is a secret, as far as its name and form show. */
export const isSecret = (name: string, value: string): boolean =>
  !isPlain(name, value) && (SECRET_NAME.test(name) || looksRandom(value));

/** Whether an address holds a password, or a secret in its query. */
export function holdsSecret(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  return (
    (password !== "" && !password.includes("%7B")) || [...searchParams].some(([name, value]) => isSecret(name, value))
  );
}

function unmaskValues(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>) {
  const kept = (name: string, value: string) => {
    const known = before[name];
    return known !== undefined && value === toMask(known) ? known : value;
  };
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, kept(name, value)]));
}

/** By position first, so that two values with one mask stay apart; else wherever that mask stood. */
function unmaskList(values: readonly string[], masks: readonly string[], sent: readonly string[]): string[] {
  return sent.map((text, i) => {
    if (masks[i] === text) return values[i] ?? text;
    const at = masks.indexOf(text);
    return at < 0 ? text : (values[at] ?? text);
  });
}

/** Whether a mask is left where a value has to be. */
export function holdsMask(entry: ServiceEntry): boolean {
  const texts = [entry.url ?? "", ...entry.args, ...Object.values(entry.env), ...Object.values(entry.headers)];
  return [...texts, entry.credential?.value ?? ""].some((text) => text.includes(MASK));
}

type Secretive = Pick<ServiceEntry, "env" | "headers" | "args" | "url"> & Partial<Pick<ServiceEntry, "credential">>;

/** Every secret of a service as it may turn up in a message: for hiding it there. Longest first; short ones are left out. */
export function toSecrets(entry: Secretive): string[] {
  const found = new Set<string>();
  const add = (value: string) => {
    if (value.length < 6 || PLAIN_VALUES.test(value)) return;
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) found.add(form);
    for (const part of /^(?:bearer|basic|token)\s+(\S{6,})$/i.exec(value)?.slice(1) ?? []) found.add(part);
  };
  for (const values of [entry.env, entry.headers])
    for (const [name, value] of Object.entries(values)) if (!isPlain(name, value)) add(value);
  entry.args.forEach((arg, i) => {
    const secret = secretOfArg(entry.args, i);
    if (secret) add(secret);
    for (const url of arg.match(/[a-z][a-z0-9+.-]*:\/\/[^\s"']+/gi) ?? []) addUrl(url, add);
  });
  if (entry.url) addUrl(entry.url, add);
  if (entry.credential) add(entry.credential.value);
  return [...found].sort((a, b) => b.length - a.length);
}

function addUrl(url: string, add: (value: string) => void): void {
  mapUrl(url, (value) => {
    add(value);
    try {
      add(decodeURIComponent(value));
    } catch {
      // Not encoded text: the raw form is hidden already.
    }
    for (const part of value.split(":")) add(part);
    return value;
  });
}

/** The text without any of these values. */
export function hideValues(text: string, secrets: readonly string[]): string {
  let hidden = text;
  for (const secret of secrets) if (hidden.includes(secret)) hidden = hidden.replaceAll(secret, MASK);
  return hidden;
}
