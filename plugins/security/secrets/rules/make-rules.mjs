// Writes rules.json from a table of published token formats: `node make-rules.mjs <secret-shapes.json>`.
// The table states facts (heads, alphabets, lengths, words); the rows written here are our reading of them in the
// notation of shape.ts. Rows that need more than a reading (context, checks) are written by hand in rules-own.json.
import { readFileSync, writeFileSync } from "node:fs";

const BY_HAND = new Set([
  "generic-api-key",
  "jwt",
  "jwt-base64",
  "curl-auth-header",
  "curl-auth-user",
  "kubernetes-secret-yaml",
  "private-key",
  "hashicorp-tf-password",
  "pkcs12-file",
]);
/** Characters in front that mean something else: `video.ico-…` is a file name. */
const NOT_AFTER = { "infracost-api-token": "..", "octopus-deploy-api-key": "..", "vault-service-token": ".$)]" };
const CHECK = {
  "vault-service-token": "mixed",
  "freemius-secret-key": "reference",
  "nuget-config-password": "reference",
};
/** How words of ids are written in names. One id has a typing error; it stays, because findings are stored under it. */
const WRITTEN = {
  personnal: "personal",
  api: "API",
  jwt: "JWT",
  url: "URL",
  id: "ID",
  pat: "PAT",
  ca: "CA",
  aws: "AWS",
  oauth: "OAuth",
  cicd: "CI/CD",
  scim: "SCIM",
};

const [input] = process.argv.slice(2);
if (!input) throw new Error("Usage: node make-rules.mjs <secret-shapes.json>");
const facts = JSON.parse(readFileSync(input, "utf8"));
const rows = facts.filter((fact) => !BY_HAND.has(fact.id)).flatMap(toRows);
writeFileSync(
  new URL("rules.json", import.meta.url),
  `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`,
);
console.log(`${rows.length} rows for ${new Set(rows.map((row) => row.id)).size} rules`);

function toRows(fact) {
  const variants = fact.variants ?? [{}];
  return variants.flatMap((variant) => {
    const whole = { ...fact, ...variant, variants: undefined };
    const row = toRow(whole);
    return needsNoName(whole) ? [row, { ...row, kind: "token", names: undefined }] : [row];
  });
}

function toRow(fact) {
  const shape = shapeOf(fact);
  const row = { id: fact.id, name: nameOf(fact), kind: fact.kind === "assignment" ? "assignment" : "token", shape };
  if (row.kind === "assignment") {
    row.names = fact.identifiers;
    if (fact.identifierCase) row.nameCase = "word";
  }
  if (fact.context) {
    const { within } = fact.context;
    const words = fact.context.parts.map((part) => part.lit);
    Object.assign(row, {
      kind: "near",
      near: { words, before: fact.context.side === "before" ? 0 : within, after: within },
    });
  }
  if (!fact.caseSensitive) row.insensitive = true;
  if (fact.entropyFloor !== null) row.entropy = fact.entropyFloor;
  row.confidence = fact.confidence;
  if (CHECK[fact.id] && !fact.prefixes?.includes("hvs.")) row.check = CHECK[fact.id];
  if (NOT_AFTER[fact.id]) row.notAfter = NOT_AFTER[fact.id];
  if (fact.files) row.files = fact.files;
  return row;
}

/** A definite value with a head of its own needs no service name beside it. */
function needsNoName(fact) {
  return (
    fact.kind === "assignment" &&
    fact.confidence === "definite" &&
    fact.prefixes.every((head) => head.length >= 4) &&
    fact.prefixes.length > 0
  );
}

function shapeOf(fact) {
  if (fact.parts) return sequence(fact.parts);
  const { alphabet, min, max } = fact.body;
  return alternatives(fact.prefixes) + run(alphabet, min, max);
}

function sequence(parts) {
  // A second literal is in parentheses: joined, the two could be a complete token.
  return parts.map((part, i) => (i > 0 && part.lit && parts[i - 1].lit ? `(${partOf(part)})` : partOf(part))).join("");
}

function partOf(part) {
  const text = plainPart(part);
  return part.secret ? `<${text}>` : text;
}

function plainPart(part) {
  if (part.lit !== undefined) return literal(part.lit);
  if (part.oneOf) return alternatives(part.oneOf);
  if (part.anyOf) return `(${part.anyOf.map(sequence).join("|")})`;
  if (part.opt) return `(${sequence(part.opt)})?`;
  if (part.group) return sequence(part.group);
  if (part.chars !== undefined) return run(part.chars, part.min, part.max);
  return run(`^${part.not}`, part.min, part.max, part.lazy);
}

function alternatives(literals) {
  if (literals.length === 0) return "";
  return literals.length === 1 ? literal(literals[0]) : `(${literals.map(literal).join("|")})`;
}

function run(chars, min, max, lazy) {
  return `{${escaped(chars, /[\\}]/g)}:${min === max ? min : `${min}-${max}`}${lazy ? "?" : ""}}`;
}

function literal(text) {
  return escaped(text, /[\\{}()<>|?]/g);
}

function escaped(text, special) {
  return text.replace(special, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t");
}

function nameOf(fact) {
  const service = fact.service.toLowerCase().split(/[^a-z0-9]+/);
  const rest = fact.id
    .split("-")
    .filter((word) => !service.some((own) => own.startsWith(word) || word.startsWith(own || "?")));
  return [fact.service, ...rest.map((word) => WRITTEN[word] ?? word)].join(" ");
}
