// Recall and speed of the secret engine: `node test/bench/secrets.mjs [--eval FILE.jsonl.gz] [--corpus DIR] [--mb 64]`.
// The evaluation set is read packed; the corpus is one made by gen-corpus.mjs (its manifest names planted secrets).
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { createJiti } from "jiti";

const shared = fileURLToPath(new URL("../../../shared/eval/secrets.open.jsonl.gz", import.meta.url));
const { values } = parseArgs({
  options: {
    eval: { type: "string", default: process.env.SESSARC_EVAL ?? shared },
    corpus: { type: "string", default: process.env.SESSARC_CORPUS },
    mb: { type: "string", default: "64" },
  },
});
const jiti = createJiti(import.meta.url);
const { builtinRules, createScanner } = await jiti.import("../../plugins/security/secrets/engine.ts");
const { hostileTo } = await jiti.import("../security/_hostile.ts");

const started = performance.now();
const rules = builtinRules();
const secrets = createScanner(rules, { categories: ["secret"] });
const everything = createScanner(rules);
console.log(`${rules.length} rules, ready in ${(performance.now() - started).toFixed(0)} ms`);

if (existsSync(values.eval)) recall(values.eval);
else console.log("No evaluation set: give --eval FILE");
if (values.corpus) corpus(values.corpus);
else console.log("No corpus: give --corpus DIR");
hostile();
hostileToEach();

function recall(file) {
  const rows = gunzipSync(readFileSync(file))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const table = {};
  const byRule = new Map();
  for (const row of rows) {
    const { findings } = secrets.scan(row.text, row.path ? { path: row.path } : {});
    table[row.shape] ??= emptySum();
    const sum = table[row.shape];
    if (row.isSecret) {
      sum.secrets++;
      if (findings.length > 0) sum.found++;
      if (findings.some(({ ruleId }) => ruleId === row.rule)) sum["same rule"]++;
      const one = byRule.get(row.rule) ?? { all: 0, missed: 0 };
      one.all++;
      if (findings.length === 0) one.missed++;
      byRule.set(row.rule, one);
      continue;
    }
    // A near miss of one rule may be a true value of its sibling; those are counted apart.
    sum.negatives++;
    const own = findings.filter(({ ruleId }) => row.source === "own-hard-negative" || ruleId === row.rule);
    for (const confidence of ["definite", "probable", "possible"]) {
      if (own.some((finding) => finding.confidence === confidence)) sum[confidence]++;
    }
    if (own.length === 0 && findings.some(({ confidence }) => confidence !== "possible")) sum["sibling's"]++;
  }
  for (const sum of Object.values(table)) sum["recall %"] = ((100 * sum.found) / sum.secrets).toFixed(2);
  console.table(table);
  const missed = [...byRule].filter(([, { missed }]) => missed > 0);
  for (const [rule, { all, missed: n }] of missed) console.log(`  missed ${rule}: ${n} of ${all}`);
}

function emptySum() {
  const negatives = { negatives: 0, definite: 0, probable: 0, possible: 0, "sibling's": 0 };
  return { secrets: 0, found: 0, "recall %": "", "same rule": 0, ...negatives };
}

function corpus(dir) {
  const { secrets: planted } = JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8"));
  const limit = Number(values.mb) * 1e6;
  const sample = [];
  let bytes = 0;
  const open = new Set(planted.map(({ value }) => value.replace(/^(?:DB_PASSWORD=|Authorization: Bearer )/, "")));
  const total = open.size;
  let found = 0;
  for (const file of logs(dir)) {
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "") continue;
      for (const text of strings(JSON.parse(line))) {
        if (bytes < limit) {
          sample.push(text);
          bytes += text.length;
        }
        for (const finding of secrets.scan(text).findings) {
          found++;
          for (const value of open) if (finding.secret.includes(value)) open.delete(value);
        }
      }
    }
  }
  console.log(`planted secrets found: ${total - open.size} of ${total}; findings in all: ${found}`);
  for (const value of open) console.log(`  missed, of length ${value.length}`);
  for (const [name, scanner] of Object.entries({ secrets, "with personal data": everything })) {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3; round++) {
      const seconds = cpuOf(() => {
        for (const text of sample) scanner.scan(text);
      });
      best = Math.min(best, seconds);
    }
    console.log(
      `${name}: ${(bytes / 1e6 / best).toFixed(0)} MB/s of CPU time over ${(bytes / 1e6).toFixed(0)} MB in ${sample.length} strings`,
    );
  }
}

function* logs(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* logs(path);
    else if (entry.name.endsWith(".jsonl")) yield path;
  }
}

/** Every decoded string of a record that is longer than an id. */
function* strings(value) {
  if (typeof value === "string") {
    if (value.length > 16) yield value;
  } else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) yield* strings(item);
  }
}

function hostile() {
  const size = 1 << 20;
  const pieces = [
    "curl=",
    "okta-",
    "a",
    "=",
    '"',
    "{",
    "}{",
    "\\",
    '\\"',
    "QUJDREVGR0hJ+/",
    "key=",
    "token='",
    "session_token=a",
    "ey-",
    "glpat-",
    "sk-proj-",
    "://a:",
    "a@a.",
    "kind: Secret\n  a: QUJDREVGR0hJSg==\n",
  ];
  let worst = { piece: "", seconds: 0 };
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
    const seconds = cpuOf(() => everything.scan(text));
    if (seconds > worst.seconds) worst = { piece, seconds };
  }
  console.log(
    `1 MB of hostile text: at most ${(worst.seconds * 1000).toFixed(0)} ms of CPU time (${JSON.stringify(worst.piece)} repeated)`,
  );
}

/** 1 MB of what costs each rule most: the dearest of its pieces at 32 KB, then all rules over a whole MB of it. */
function hostileToEach() {
  const repeat = (piece, size) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
  const rows = [];
  for (const rule of rules) {
    const own = createScanner([{ ...rule, enabled: true }]);
    const costs = hostileTo(rule).map((piece) => {
      const text = repeat(piece, 32 * 1024);
      return {
        piece,
        seconds: Math.min(
          cpuOf(() => own.scan(text)),
          cpuOf(() => own.scan(text)),
        ),
      };
    });
    const [dearest] = costs.sort((a, b) => b.seconds - a.seconds);
    if (!dearest) continue;
    const text = repeat(dearest.piece, 1 << 20);
    rows.push({ rule: rule.id, ms: 1000 * cpuOf(() => everything.scan(text)), piece: dearest.piece.slice(0, 40) });
  }
  rows.sort((a, b) => b.ms - a.ms);
  const over = rows.filter(({ ms }) => ms > 1000).length;
  console.log(`1 MB of the worst input for each of ${rows.length} rules: ${over} over 1 s of CPU time; the dearest:`);
  console.table(rows.slice(0, 8).map((row) => ({ ...row, ms: Math.round(row.ms) })));
}

function cpuOf(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
