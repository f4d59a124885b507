/** Whether a value looks generated, where a name, a place or a number would be as usual. */

/** A word, a number, or a word with its number: `linux`, `2024`, `node18`, `x86`. */
const PLAIN = /^(?:[a-z]+\d{0,4}|[A-Z]+\d{0,4}|[A-Z][a-z]+\d{0,4}|(?:[A-Z]?[a-z]+)+\d{0,2}|\d+[a-z]{0,2})$/;
const DURATION = /^(?:\d+(?:ms|[smhdwy]))+$/i;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?$/;

/** Some part of it has letters and digits that take turns, or signs among them. */
export function isOpaque(value: string): boolean {
  if (value.length < 6 || /^[[{]|[()]/.test(value) || !/\d/.test(value) || !/[a-z]/i.test(value)) return false;
  // `TOKEN=` without a value, and the next line read as one.
  if (DURATION.test(value) || DATE.test(value) || /^[A-Za-z_]\w*=[^=]/.test(value)) return false;
  return value.split(/[-_./:,]/).some((part) => !PLAIN.test(part) && isMixed(part));
}

function isMixed(part: string): boolean {
  const turns = (part.match(/\d(?=[a-z])|[a-z](?=\d)/gi) ?? []).length;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(part)).length;
  return /\d/.test(part) && (turns >= 3 || kinds >= 3 || (kinds === 2 && /[!@#$%^&*+=?~]/.test(part)));
}

/** Names of settings that are no secret. */
const SETTING = new RegExp(
  `(?:^|[\\s_.\\-/"'{,])(?:${[
    "user(?:name)?|login|host(?:name)?|port|url|uri|endpoint|address|region|zone|env(?:ironment)?|mode|level|log_level|version|tag|image|name|id|type|kind|role",
    "polic(?:y|ies)|ttl|max_ttl|period|timeout|path|file|dir|bucket|database|db|schema|table|driver|ssid|email|mail|from|to|date|size|count|limit|replicas|concurrency",
    "domain|locale|lang|tz|title|category|description|vault|project|cluster|namespace|branch|commit|sha|build|channel|rack_env|node_env",
  ].join("|")})\\W{0,4}$`,
  "i",
);

/** `identifier` with its operator, in lower case. */
export function isSetting(identifier: string): boolean {
  return SETTING.test(identifier);
}

const UNIT =
  "(?:char|digit|bit|byte|day|hour|minute|second|time|round|iteration|zeichen|stelle|tag|caract|cifra|znak|знак|символ|цифр)\\p{L}*|fa|[hdmsx]|ms|px|[kmg]b|st|nd|rd|th|%|位|個|文字|자";
const AMOUNT = new RegExp(`^\\d{1,4}(?:[-–~.:/]\\d{1,4})?\\+?-?(?:${UNIT})?$`, "iu");
/** Ciphers, protocols, encodings, systems. */
const TECHNICAL =
  /^(?:p?sha|md|(?:var)?char|u?int|float|bigint|aes|rsa|des|\d?des|utf|utf-|base|bcrypt|b?crypt|argon|s?crypt|pbkdf|hmac|hs|rs|es|ed|x|tls|ssl|oauth|oidc|saml|http|ip|ipv|iso|rfc|cve|win|windows|k|s|ec|h|mp|python|py|node|java|php|vue|go|ubuntu|debian|postgres|mysql|redis|smtp|ssh|log4j|web|v)-?\d+[a-z]{0,3}(?:[-_/.]\w+)*$/i;
const VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
const ADDRESS = /^[\w.+-]+@[\w-]+\.[\w.]+$/;

/** What sentences about passwords name without being one: amounts, ciphers, dates, variables, addresses. */
export function isTechnical(value: string): boolean {
  if (AMOUNT.test(value) || DATE.test(value) || DURATION.test(value)) return true;
  return TECHNICAL.test(value) || VARIABLE.test(value) || ADDRESS.test(value);
}

/** `step2`, `User12`: a word and its number, unless it is long enough to be chosen as a password. */
export function isNumbered(value: string): boolean {
  return /^[A-Z]?[a-z]+[-_]?\d{1,4}$/.test(value) && !(value.length >= 8 && /\d{2}$/.test(value));
}
