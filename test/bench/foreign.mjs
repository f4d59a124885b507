// How many of other engines' test samples are found: `node test/bench/foreign.mjs FOLDER… [--missed] [--contexts]`.
// A FOLDER is a checkout of gitleaks, of trufflehog or of secretlint; it is only read. By shape: a sample as its authors wrote it,
// of values that begin as nothing else does (most of trufflehog's are 32 letters near a provider's name: those are counted in contexts).
// In contexts: each value that is in a sample, in the 31 places of test/security/_contexts.ts, under neutral names.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { missed: { type: "boolean", default: false }, limit: { type: "string", default: "40" } },
});
const jiti = createJiti(import.meta.url);
const { builtinRules, createRedactor, createScanner } = await jiti.import("../../plugins/security/secrets/engine.ts");
const { CONTEXTS, left } = await jiti.import("../security/_contexts.ts");
const scanner = createScanner(builtinRules(), { categories: ["secret"] });
const isFound = (text, value) => left(value, createRedactor(scanner).redactText(text)) === undefined;

const HEAD = /^[A-Za-z]{2,12}\d?[_.:-]|^(?:AKIA|ASIA|AIza|eyJ|ATBB|ATCTT|dapi|PMAK|T3Bl)/;
const STAND_IN =
  /example|x{4}|dummy|fake|changeme|placeholder|(?:0123456|12345678|ABCDEF){2}|FEDCBA98|abcdefghijkl|1234567890|(.)\1{7}/i;
const isUrl = (stretch) => /:\/\/[^\s/]*@/.test(stretch);

/** What is secret of a claimed stretch: a password of its URL, the value of its name; undefined for hosts, ids and stand-ins. */
function secretOf(stretch) {
  const url = /^[\w+:-]+:\/\/(?:[^\s/:@]*):?([^\s/]*)@[^@]*$/.exec(stretch.trim());
  const value = (url ? url[1] : stretch.trim().replace(/^["']?[\w.-]{2,40}["']?\s*(?:=>|:=|[:=])\s*["']?/, "")).replace(
    /["';,)\s]+$/,
    "",
  );
  const distinct = new Set(value).size;
  if (value.length < 8 || distinct < 6 || distinct < value.length / 8) return undefined;
  if (STAND_IN.test(value)) return undefined;
  // A host, a path, a word, an address or a number alone is no secret.
  if (
    /^(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:\/[\w./?=&%-]*)?$/.test(value) &&
    !/\d[a-z]+\d|[A-Z]\d|\d[A-Z]/.test(value)
  )
    return undefined;
  if (/^\/\/|^\w+:\/\/[^@]*$|^\w+:(?:\/\/)?localhost|_url$|sqlite:|^(?:\w+)?storage\w*$|@host:/i.test(value))
    return undefined;
  if (/^[A-Za-z]+(?:[_ -][A-Za-z]+)*$|^\d+$|^[\w.+-]+@[\w.-]+$|^jdbc:/.test(value)) return undefined;
  return value;
}
let dropped = 0;
const claimed = positionals.flatMap((folder) => {
  if (existsSync(join(folder, "cmd/generate/config/rules"))) return gitleaks(join(folder, "cmd/generate/config/rules"));
  if (existsSync(join(folder, "pkg/detectors"))) return trufflehog(join(folder, "pkg/detectors"));
  return secretlint(join(folder, "packages"));
});
const samples = claimed.flatMap((sample) => {
  const value = sample.value === undefined ? undefined : secretOf(sample.value);
  // Of gitleaks whole lines are known, not the value in them.
  const isNone = sample.value === undefined ? !/[\w/+=-]{16}/.test(sample.text) || STAND_IN.test(sample.text) : !value;
  if (isNone) dropped++;
  return isNone ? [] : [{ ...sample, value, url: isUrl(sample.value ?? "") }];
});
const table = {};
const missed = [];
for (const { engine, kind, text, value, url } of samples) {
  if (value !== undefined && !HEAD.test(value) && !url) continue;
  table[engine] ??= emptyRow();
  const row = table[engine];
  row.samples++;
  const { findings } = scanner.scan(text, { forms: true });
  const covers = ({ secret }) =>
    secret.includes(value) || (value.includes(secret) && secret.length > 0.8 * value.length);
  const found = value === undefined ? findings.length > 0 : findings.some(covers);
  if (found) row.found++;
  else missed.push({ engine, kind, value: value ?? text });
  row["%"] = ((100 * row.found) / row.samples).toFixed(2);
}

const contexts = Object.fromEntries(Object.keys(CONTEXTS).map((name) => [name, { places: 0, hidden: 0 }]));
const leaks = [];
const seen = new Set();
for (const { engine, kind, value, url } of samples) {
  // Only what a value in those places can be: one word, without what ends it there.
  if (value === undefined || seen.has(value) || value.length < 12 || /[\s"'`;&|<>()\\#$@]/.test(value)) continue;
  seen.add(value);
  table[engine] ??= emptyRow();
  const row = table[engine];
  row.values++;
  for (const [context, wear] of Object.entries(CONTEXTS)) {
    for (const name of url ? ["db_password"] : ["api_token", "client_secret"]) {
      row.places++;
      contexts[context].places++;
      if (isFound(wear(name, value), value)) {
        row.hidden++;
        contexts[context].hidden++;
      } else leaks.push(`${engine} ${kind}, ${context}: ${wear(name, value).slice(0, 160)}`);
    }
  }
  row["in contexts %"] = ((100 * row.hidden) / row.places).toFixed(2);
}
console.table(table);
const sum = (name) => Object.values(table).reduce((total, row) => total + row[name], 0);
console.log(`${dropped} claimed stretches left out: hosts, ids, stand-ins`);
console.log(`by shape ${((100 * sum("found")) / sum("samples")).toFixed(2)} % of ${sum("samples")}`);
console.log(`in contexts ${((100 * sum("hidden")) / sum("places")).toFixed(2)} % of ${sum("places")}`);
if (values.missed) {
  const most = Number(values.limit);
  console.table(Object.fromEntries(Object.entries(contexts).filter(([, { places, hidden }]) => hidden < places)));
  for (const { engine, kind, value } of missed.slice(0, most))
    console.log(`missed ${engine} ${kind}: ${value.slice(0, 120)}`);
  const step = Math.max(1, Math.floor(leaks.length / most));
  for (let i = 0; i < leaks.length; i += step) console.log(leaks[i]);
}

function emptyRow() {
  return { samples: 0, found: 0, "%": "", values: 0, places: 0, hidden: 0, "in contexts %": "" };
}

/** Snapshots of what must be reported, with the place of each value. */
function secretlint(folder) {
  const found = [];
  for (const dir of foldersBelow(folder).filter((path) => /\/snapshots\/ng[^/]*$/.test(path))) {
    const input = readdirSync(dir).find((name) => /^input\b/.test(name));
    if (!input || !existsSync(join(dir, "output.json"))) continue;
    const text = readFileSync(join(dir, input), "utf8");
    const kind = basename(dirname(dirname(dirname(dir)))).replace("secretlint-rule-", "");
    const { messages = [] } = JSON.parse(readFileSync(join(dir, "output.json"), "utf8"));
    for (const { range } of messages)
      found.push({ engine: "secretlint", kind, text, value: text.slice(range[0], range[1]) });
  }
  return found;
}

/** Tables of tests: `input: "…", want: []string{"…"}` with nothing computed. A value that is not in its input is left out. */
function trufflehog(folder) {
  const literal = /`[^`]*`|"(?:\\.|[^"\\])*"/g;
  const found = [];
  for (const file of filesBelow(folder).filter((path) => path.endsWith("_test.go"))) {
    const source = readFileSync(file, "utf8");
    const cases = source.matchAll(/\binput:\s*(`[^`]*`|"(?:\\.|[^"\\])*"),\s*want:\s*\[\]string\{([^}]*)\}/g);
    for (const [, input, wanted] of cases) {
      const text = unquote(input);
      for (const value of new Set((wanted.match(literal) ?? []).map(unquote))) {
        if (value.length >= 8 && text.includes(value))
          found.push({ engine: "trufflehog", kind: basename(dirname(file)), text, value });
      }
    }
  }
  return found;
}

/** True positives that are written out: lines of a list called tps, without what is generated. */
function gitleaks(folder) {
  const found = [];
  for (const file of filesBelow(folder).filter((path) => path.endsWith(".go"))) {
    const source = readFileSync(file, "utf8");
    for (const [, list] of source.matchAll(/\btps\s*:?=\s*(?:append\(tps,\n|\[\]string\{)([\s\S]*?)\n\t[})]/g)) {
      for (const line of list.split(/,\s*(?:\/\/[^\n]*)?\n/)) {
        const text = line.replace(/^\s*(?:\/\/[^\n]*\n\s*)*/, "").trim();
        if (/^(?:`[^`]*`|"(?:\\.|[^"\\])*")$/.test(text))
          found.push({ engine: "gitleaks", kind: basename(file, ".go"), text: unquote(text), value: undefined });
      }
    }
  }
  return found;
}

function unquote(text) {
  if (text.startsWith("`")) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function foldersBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
