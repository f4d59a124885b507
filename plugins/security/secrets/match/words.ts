/** Words that tell a sample, a variable or ordinary code from a secret. Our own list. */
import { createHash } from "node:crypto";
import everyday from "./everyday-words.json" with { type: "json" };

/** One expression of several, upper and lower case alike. */
const anyOf = (parts: readonly RegExp[]): RegExp => new RegExp(parts.map((part) => part.source).join("|"), "i");

const PLACEHOLDER = anyOf([
  /EXAMPLE|[xX]{5}|\*{3}|\.{3}/,
  /(?:^|[-_ ])(?:your|my|the|some|insert|enter|replace|put)[-_ ](?:own[-_ ])?(?:\w+[-_ ])?(?:key|token|secret|password|pass|id|here|value)/,
  /placeholder|redacted|changeme|change[-_]me|dummy|sample[-_]|process\.env|os\.environ|getenv|import\.meta|\$\{/,
  /\{\{|\$\(|^\$[A-Za-z_]|^%\w+%$|^<[^>]*>?$|^ENC\[|^%(?:\(\w+\))?[sdvq]$|^#?\{\w*\}$|\[REDACTED|secrets\.[A-Za-z]/,
  /33f!!lloppa|hal\+9ooo_da/,
]);
const RUN = /^(.)\1*$|([xX0*.#-])\2{7}/;
const SEQUENCE = /0123456789abcdef|abcdefghijklm|1234567890123|ABCDEFGHIJKLM/i;

/** Several rules ask the same of one value in succession. */
function kept(answer: (value: string) => boolean): (value: string) => boolean {
  let last: string | undefined;
  let known = false;
  return (value) => {
    if (value !== last) {
      known = answer(value);
      last = value;
    }
    return known;
  };
}

/** A sample, a reference to a variable, or one character repeated. */
export const isPlaceholder = kept((value) => PLACEHOLDER.test(value) || RUN.test(value) || SEQUENCE.test(value));

const EVERYDAY = new RegExp(everyday.join("|"), "i");

/** An everyday or programming word inside: chosen by a person, so not random. Words of five letters and more, and a few short ones. */
export const hasEverydayWord = kept((value) => EVERYDAY.test(value));

/** A published example or a filled-in blank, in whatever form a token has. */
export function isSample(value: string): boolean {
  return /EXAMPLE|[xX]{6}|\*{4}|\.{4}|0{8}|[_-](?:YOUR|your)[_-]/.test(value) || isPublished(value);
}

/**
 * Keys that are in vendors' own documentation and are copied from there: the first half of their SHA-256, since a list of the keys
 * would itself be found by scanners.
 */
const PUBLISHED = new Set([
  "7f75367e78812551",
  "da816f9f2c16e6c5",
  "2cafc0970149a84f",
  "b1471f544ceeea31",
  "1021ad463a161d69",
]);

const isPublished = kept(
  (value) => value.length >= 24 && PUBLISHED.has(createHash("sha256").update(value).digest("hex").slice(0, 16)),
);
