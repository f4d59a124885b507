/** What a shape cannot say: is this value a secret after all? Each check sees one match and answers in bounded time. */
import type { Candidate, Verdict } from "./candidate.ts";
import { kubernetes, kubernetesJson, kubernetesString } from "./kubernetes.ts";
import { isNumbered, isOpaque, isSetting, isTechnical } from "./opaque.ts";
import { hasEverydayWord, isPlaceholder } from "./words.ts";

export const CHECKS = {
  basic,
  card,
  databaseUrl,
  email,
  env,
  generic,
  homeUser,
  iban,
  ipv4,
  jwt,
  jwtBase64,
  kubernetes,
  kubernetesJson,
  kubernetesString,
  mixed,
  opaque,
  opaqueAssigned,
  opaquePair,
  pair,
  password,
  pem,
  phone,
  phrase,
  quotedMixed,
  random,
  reference,
  scrambled,
  stated,
  tfPassword,
  urlPassword,
  userinfo,
  wide,
} satisfies Record<string, (candidate: Candidate) => Verdict>;

export type CheckName = keyof typeof CHECKS;

function toSecret({ text, start, end }: Candidate): string {
  return text.slice(start, end);
}

/** The whole identifier, lower case: extended to the left, and right up to the operator. */
function toIdentifier({ text, from, start }: Candidate): string {
  let left = from;
  while (left > 0 && left > from - 64 && /[\w.-]/.test(text.charAt(left - 1))) left--;
  return text.slice(left, Math.min(start, from + 80)).toLowerCase();
}

const PUBLIC_IDENTIFIER = new RegExp(
  [
    "(?:public|primary|foreign|schema|partition|sort|cache|sequence|idempotency|object|bucket|registry|translation)[_.-]?key",
    "pub[_.-]?key|key[_.-]?(?:hash|code|name|id\\b|file|ring|size|length|chars?|board|down|up|press|frame|tab|store\\.?file|str\\b|map|path|event|type|usage|spec)",
    "keyhash|monkey|turkey|keyword|hotkey|keying|master-keying|key[_.-]?vault[_.-]?(?:name|id|to)|kms[_.-]?key|ssh[_.-]?key[_.-]?(?:name|path)",
    "api[_.-]?(?:version|url|base|host|endpoint|name|path|level)|(?:token|api|auth|access[_.-]?token|credentials?)[_.-]?(?:url|uri|endpoint|host|file|path|type|name|count|limit|budget|ttl)",
    "public[_.-]?token|csrf|xsrf|max[_.-]?tokens?|tokens[_.-]|tokeniz|token[_.-]?(?:length|index|ids?\\b)|secrets?[_.-]?(?:ids?\\b|name|path|manager|size|ref|key[_.-]?ref)",
    "credentials?[_.-]?ids?\\b|author|accessib|access[_.-]?(?:ids?\\b|or\\b|level|log|point|time)|accessor|random[_.-]?access|authentication-results|authsource|authority|authn[_.-]?type",
    "rapid(?!api)|-api:|slf4j|message-api|withcredentials|securityidentifier|key tag|entry key|ssh-|fingerprint|checksum|sha\\d|digest|etag|integrity|revision|version",
  ].join("|"),
);

/** `api_key = …` with nothing known about the service: keep what looks random and is not named as public. */
function generic(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  if (!/\d/.test(value) || isPlaceholder(value) || looksLikeCode(value) || hasEverydayWord(value)) return false;
  if (PUBLIC_IDENTIFIER.test(toIdentifier(candidate))) return false;
  return !/^\s*(?:import|from|use|require|#include)\b/.test(lineBefore(candidate));
}

function lineBefore({ text, from }: Candidate): string {
  const before = text.slice(Math.max(0, from - 200), from);
  return before.slice(before.lastIndexOf("\n") + 1);
}

/** As `generic`, of an alphabet in which ordinary text is written too: no word, no address, and nothing that blanks or slashes divide. */
function wide(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  const longest = Math.max(...value.split(/[/:._%~-]/).map((part) => part.length));
  return longest >= 16 && /[a-z]/i.test(value) && generic(candidate);
}

/** A path, a version, a dotted name, a call, a UUID-like id with a known non-secret look, a run of the alphabet. */
function looksLikeCode(value: string): boolean {
  if (/^(?:[\w-]*\/){2,}|^\.{0,2}\/|:\/\//.test(value) && !/[+=]/.test(value)) return true;
  if (/^v?\d+(?:\.\d+)+/.test(value) || /^[a-z]+(?:[._-][a-z]+)+[\d.]*$/i.test(value)) return true;
  if (/^[a-zA-Z_$][\w$]*(?:\.[a-zA-Z_$][\w$]*)+$/.test(value) && !/\d[a-z]+\d/i.test(value)) return true;
  return /\$\{|\{\{|\$\(|^%\w+%|%[A-Z_]+%|<\w|\.(?:js|ts|py|go|rs|java|json|ya?ml|pem|crt|cer|key|txt|md|png|com|org|net|io)$/.test(
    value,
  );
}

/** Letters and digits in no order a person would choose. */
function mixed(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  if (isPlaceholder(value) || looksLikeCode(value)) return false;
  return /\d/.test(value) && /[a-z]/i.test(value) ? true : "weak";
}

/** `password = …`: what a person or a generator chose, not a type, a variable or a stock word. */
function password(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  if (isPlaceholder(value) || looksLikeCode(value) || /^(?:\$|%|<|\{|@|&|\*|!)/.test(value)) return false;
  if (isTechnical(value) && !quoted(candidate)) return false;
  const identifier = toIdentifier(candidate);
  if (/\benv:$/.test(identifier)) return false;
  if (
    /pass(?:word|wd)?[_.-]?(?:hash|field|input|label|length|min|max|policy|reset|url|file|path|variable|hint|id\b)/.test(
      identifier,
    )
  )
    return false;
  if (/^\w+\(|\w\.\w+\(|\)$|\|.*\||^[a-z]\w*\[\w*$/i.test(value)) return false;
  if (hasEverydayWord(value)) {
    const chosen = /[^\w\s]/.test(value) || (quoted(candidate) && /[a-z]/.test(value) && /[A-Z]/.test(value));
    return /\d/.test(value) && chosen ? "weak" : false;
  }
  // A sentence is a label more often than a passphrase; in a list of texts it is one.
  if (/\s\S+\s/.test(value)) return /,\W*$/.test(identifier) ? false : "weak";
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^\p{L}\p{M}\d\s]/u].filter((test) => test.test(value)).length;
  if (/\d/.test(value)) return kinds >= 2 ? true : "weak";
  const random = kinds >= 2 && value.length >= 10 && !/[a-z]{7}|[A-Z]{7}/.test(value) && computeEntropy(value) > 3;
  return random ? "weak" : false;
}

/** Where a value may also be a name, a place or a number: only what a generator or a careful person would write. */
function opaque(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  return !isPlaceholder(value) && !looksLikeCode(value) && !hasEverydayWord(value) && isOpaque(value);
}

/** After `=` or `:`, not beside it in a list of names. */
function opaqueAssigned(candidate: Candidate): Verdict {
  const defined = /define\(\s*["'][\w.]*$/.test(lineBefore(candidate));
  return (defined || /[=:>]/.test(toIdentifier(candidate))) && opaque(candidate);
}

/** `NAME=value` among secrets: unless the name is that of a setting. */
function pair(candidate: Candidate): Verdict {
  return !isSetting(toIdentifier(candidate)) && password(candidate);
}

/** `NAME=value` among settings, of which some are secrets. */
function opaquePair(candidate: Candidate): Verdict {
  return !isSetting(toIdentifier(candidate)) && opaque(candidate);
}

/** A quoted value of any characters under a name that says secret: no sentence, no reference. */
function phrase(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  if (isPlaceholder(value) || !quoted(candidate) || /^[\w.]+\(|^\$\w/.test(value)) return false;
  return /\d/.test(value) || (value.match(/[^\w\s]/g) ?? []).length > 3;
}

/** Some words after `the password`, or before it. */
function stated(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  return value.length >= 5 && !isNumbered(value) && password(candidate);
}

/** Somewhere after the word, without a verb or a sign: only a generated value. */
function scrambled(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[!#$%&*+@^~?]/].filter((kind) => kind.test(value)).length;
  return value.length >= 6 && kinds >= 3 && !isTechnical(value) && opaque(candidate);
}

/** A line of a `.env` block: an upper-case name that ends as a secret's name does. */
function env(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  if (isPlaceholder(value) || looksLikeCode(value) || hasEverydayWord(value)) return false;
  if (!/^[A-Z0-9_]+$/.test(candidate.text.slice(candidate.from, candidate.from + 4))) return false;
  return /\d/.test(value) && /[a-z]/i.test(value);
}

function quotedMixed(candidate: Candidate): Verdict {
  return quoted(candidate) && mixed(candidate);
}

/** Outside Terraform files the general rule for passwords is the better judge. */
function tfPassword(candidate: Candidate): Verdict {
  return quoted(candidate) && password(candidate);
}

/** A cut PEM block: key material must follow, not a sentence about keys. */
function pem(candidate: Candidate): Verdict {
  return /[A-Za-z0-9+/=]{40}/.test(toSecret(candidate));
}

function quoted({ text, start, end }: Candidate): boolean {
  const quote = text.charAt(start - 1);
  return /["'`]/.test(quote) && text.charAt(end) === quote;
}

/** Anything but a variable, a template or a sample. */
function reference(candidate: Candidate): Verdict {
  return !isPlaceholder(toSecret(candidate));
}

/** `Basic …`: decodes to `user:password`. */
function basic(candidate: Candidate): Verdict {
  const decoded = Buffer.from(toSecret(candidate), "base64").toString("utf8");
  return /^[^{\s:][^\s:]*:[\x20-\x7e]*$/.test(decoded) && decoded.length > 3;
}

const STOCK = new RegExp(
  `^(?:${[
    /pass(?:word|wd|w|phrase)?|pwd|pw|token|test(?:ing)?|secret|change(?:me|it|_me|-me)|user(?:name)?|abc|xyz|123\d*/,
    /x+|\*+|\.+|-+|postgres(?:ql)?|root|admin|guest|mysql|maria(?:db)?|mongo(?:db)?|redis|rabbit(?:mq)?/,
    /minio(?:admin)?|sa|local(?:host|dev)?|dev(?:elopment)?|docker|default|demo|example|sample|foo|bar|baz|qux/,
    /hunter2|credentials?|anonymous|something|anything|hidden|removed|redacted/,
  ]
    .map((part) => part.source)
    .join("|")})$`,
  "i",
);
const REFERENCE =
  /^(?:[<[].*[>\]]|\$[\w{(].*|#?\{.*|%\w+%|%(?:\(\w+\))?[a-z]|:\w+|process\.env.*|ENC\[.*|[\w.]*\+[\w. +"']*)$/;

/** `user:password` of a URL or of curl: the password half is neither a stock word nor a reference. */
function userinfo(candidate: Candidate): Verdict {
  const value = toSecret(candidate).replace(/^["']|["']$/g, "");
  const colon = value.indexOf(":");
  const user = unquote(colon < 0 ? "" : value.slice(0, colon));
  const secret = unquote(colon < 0 ? value : value.slice(colon + 1));
  const real = (half: string) => half !== "" && !STOCK.test(half) && !REFERENCE.test(half) && !isPlaceholder(half);
  return secret === "" ? real(user) && /\d/.test(user) : real(secret);
}

/** A password for a database of another machine, which no documentation uses as a sample. */
function databaseUrl(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  const host = candidate.text.slice(candidate.end + 1, candidate.end + 64);
  if (/^(?:localhost|127\.|\[?::1|0\.0\.0\.0|host\.docker\.internal|[\w-]*\.?example\.)/i.test(host)) return false;
  return urlPassword(candidate) && /\d/.test(value) && /[a-z]/i.test(value) && !/^[a-z]+\d{1,4}$/i.test(value);
}

/** Generated, not typed: letters and digits without order, and no word. */
function random(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  if (isPlaceholder(value) || !/\d/.test(value) || !/[a-z]/i.test(value) || looksLikeCode(value)) return false;
  return !hasEverydayWord(value) && (value.match(/\d/g) ?? []).length >= 3;
}

function urlPassword(candidate: Candidate): Verdict {
  const value = toSecret(candidate);
  return !STOCK.test(value) && !REFERENCE.test(value) && !isPlaceholder(value);
}

function unquote(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}

/** The first field encodes a JSON object. Without that it may still be one that was cut or made up. */
function jwt(candidate: Candidate): Verdict {
  const header = toSecret(candidate).split(".", 1)[0] ?? "";
  return /^\{\s*"/.test(Buffer.from(header, "base64url").toString("latin1")) ? true : "weak";
}

function jwtBase64(candidate: Candidate): Verdict {
  const decoded = Buffer.from(toSecret(candidate), "base64").toString("latin1");
  return /^ey[\w-]{10,}\.ey[\w-]{10,}/.test(decoded);
}

function card(candidate: Candidate): Verdict {
  const digits = toSecret(candidate).replace(/\D/g, "");
  if (/^(\d)\1+$/.test(digits) || digits.length < 13) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits.charAt(digits.length - 1 - i)) * (i % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** ISO 13616: moved to the end, letters as numbers, the rest of division by 97 is 1. */
function iban(candidate: Candidate): Verdict {
  const compact = toSecret(candidate).replace(/\s/g, "");
  if (compact.length < 15) return false;
  let rest = 0;
  for (const char of compact.slice(4) + compact.slice(0, 4)) {
    for (const digit of String(Number.parseInt(char, 36))) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

function email(candidate: Candidate): Verdict {
  const value = toSecret(candidate).toLowerCase();
  if (/@(?:example|test|localhost)\b|\.(?:png|jpe?g|svg|gif|js|ts|py|local)$|^git@|noreply@|@\d/.test(value))
    return false;
  return !/^[-.]|\.@|\.\./.test(value);
}

function ipv4(candidate: Candidate): Verdict {
  const parts = toSecret(candidate).split(".").map(Number);
  const [a = 0, b = 0] = parts;
  if (parts.length !== 4 || parts.some((part) => part > 255)) return false;
  return (
    a === 10 || (a === 192 && b === 168) || (a === 172 && b >= 16 && b <= 31) || (a === 100 && b >= 64 && b <= 127)
  );
}

/** International numbers; a bare run behind a `+` at the start of a line is a diff. */
function phone({ text, start, end }: Candidate): Verdict {
  const value = text.slice(start, end);
  const digits = value.replace(/\D/g, "").length;
  if (digits < 9 || digits > 15 || /\d{12}/.test(value)) return false;
  const before = text.charAt(start - 1);
  return (
    (start === 0 || before === "\n" ? /\d[ ().-]+\d/.test(value) : !/[\w+=/.-]/.test(before)) && !/\.\d+\./.test(value)
  );
}

const SHARED_HOMES =
  /^(?:user|users|runner|root|ubuntu|vscode|node|app|public|shared|home|me|you|username|dev|developer|name|someone|\.+)$/i;

function homeUser(candidate: Candidate): Verdict {
  return !SHARED_HOMES.test(toSecret(candidate));
}

const counts = new Uint32Array(65_536);

/** Shannon entropy of a string in bits per character, over UTF-16 units. 0 for the empty string. */
export function computeEntropy(text: string): number {
  const { length } = text;
  let bits = 0;
  for (let i = 0; i < length; i++) (counts[text.charCodeAt(i)] as number)++;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const count = counts[code] as number;
    if (count === 0) continue;
    bits -= (count / length) * Math.log2(count / length);
    // Counted once, and clean for the next text.
    counts[code] = 0;
  }
  return bits;
}
