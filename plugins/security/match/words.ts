/** Words that tell a sample, a variable or ordinary code from a secret. Our own list. */
import { createHash } from "node:crypto";

const PLACEHOLDER =
  /(?:EXAMPLE|[xX]{5}|\*{3}|\.{3}|(?:^|[-_ ])(?:your|my|the|some|insert|enter|replace|put)[-_ ](?:own[-_ ])?(?:\w+[-_ ])?(?:key|token|secret|password|pass|id|here|value)|placeholder|redacted|changeme|change[-_]me|dummy|sample[-_]|process\.env|os\.environ|getenv|import\.meta|\$\{|\{\{|\$\(|^\$[A-Za-z_]|^%\w+%$|^<[^>]*>?$|^ENC\[|^%(?:\(\w+\))?[sdvq]$|^#?\{\w*\}$|\[REDACTED|secrets\.[A-Za-z]|33f!!lloppa|hal\+9ooo_da)/i;
const RUN = /^(.)\1*$|([xX0*.#-])\2{7}/;
const SEQUENCE = /0123456789abcdef|abcdefghijklm|1234567890123|ABCDEFGHIJKLM/i;

/** Several rules ask the same of one value, one after the other. */
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

const EVERYDAY =
  /password|passwd|secret|token|credential|example|default|string|number|boolean|object|undefined|function|return|const|import|export|require|module|config|setting|service|server|client|account|profile|handler|manager|factory|builder|controller|component|element|button|input|output|select|option|table|column|schema|migration|database|connection|request|response|message|event|error|warning|status|version|release|build|snapshot|package|library|vendor|source|target|content|document|template|layout|theme|style|color|width|height|image|video|audio|picture|device|display|system|process|thread|worker|queue|cache|memory|buffer|stream|socket|network|protocol|header|cookie|session|storage|bucket|region|cluster|node[-_]|instance|container|docker|kubern|github|gitlab|google|amazon|azure|android|windows|linux|mozilla|chrome|safari|python|javascript|typescript|node_modules|react|angular|webpack|vite|jest|mocha|index|test|spec|mock|fixture|staging|production|development|local|public|private|internal|external|global|static|async|await|promise|callback|listener|observer|iterator|array|vector|matrix|integer|double|float|null|true|false|nil|none|void|username|email|address|phone|country|currency|payment|invoice|order|product|customer|company|project|issue|ticket|comment|author|editor|reader|writer|parser|lexer|compiler|runtime|debug|trace|metric|monitor|alert|backup|restore|archive|upload|download|install|update|upgrade|delete|create|insert|remove|validate|verify|enable|disable|active|visible|hidden|primary|secondary|foreign|unique|random|simple|complex|basic|advanced|custom|common|shared|master|slave|branch|commit|merge|rebase|change|value|field|param|argument|property|attribute|variable|constant|method|class|interface|struct|abstract|virtual|override|extend|implement|inherit|generic|lambda|closure/i;

/** An everyday or programming word inside: chosen by a person, so not random. Words of five letters and more, and a few short ones. */
export const hasEverydayWord = kept((value) => EVERYDAY.test(value));

/** A published example or a filled-in blank, in whatever form a token has. */
export function isSample(value: string): boolean {
  return /EXAMPLE|[xX]{6}|\*{4}|\.{4}|0{8}|[_-](?:YOUR|your)[_-]/.test(value) || isPublished(value);
}

/**
 * Keys that stand in vendors' own documentation and are copied from there: the first half of their SHA-256, since a list of the keys
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
