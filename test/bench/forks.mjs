/**
 * `node test/bench/forks.mjs [--mb 2000] [--forks 30]`: a store of Codex as users describe it (a root, its forks, compactions that repeat, three
 * pictures in each), imported with raw logs and without. Prints sizes, ratio, times, and whether each log comes back byte for byte.
 */
import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { mb: { type: "string", default: "2000" }, forks: { type: "string", default: "30" } },
});
const forks = Number(values.forks);
const cli = fileURLToPath(new URL("../../dist/cli.mjs", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "sessarc-forks-"));
const sessions = join(home, ".codex/sessions/2026/01/01");
mkdirSync(sessions, { recursive: true });

const WORDS = Array.from({ length: 4_000 }, (_, n) =>
  createHash("sha256")
    .update(`${n}`)
    .digest("hex")
    .slice(0, 3 + (n % 9)),
);
let seed = 1;
function random() {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}
const text = (words) => Array.from({ length: words }, () => WORDS[Math.floor(random() ** 2 * WORDS.length)]).join(" ");
const picture = (n) => createHash("shake256", { outputLength: 450_000 }).update(`${n}`).digest("base64");
const pictures = [0, 1, 2].map(picture);

let clock = Date.UTC(2026, 0, 1);
function row(type, payload) {
  clock += 1_000;
  return `${JSON.stringify({ timestamp: new Date(clock).toISOString(), type, payload })}\n`;
}
const message = (role, type, said) => row("response_item", { type: "message", role, content: [{ type, text: said }] });
function turn() {
  const said = text(30);
  const id = randomUUID();
  return (
    row("event_msg", { type: "user_message", message: said }) +
    message("user", "input_text", said) +
    row("response_item", {
      type: "function_call",
      name: "shell",
      arguments: JSON.stringify({ command: ["cat", text(3)] }),
      call_id: id,
    }) +
    row("response_item", { type: "function_call_output", call_id: id, output: text(600) }) +
    message("assistant", "output_text", text(120))
  );
}
const withPicture = (data) =>
  row("response_item", {
    type: "message",
    role: "user",
    content: [{ type: "input_image", image_url: `data:image/png;base64,${data}` }],
  });
const head = (id, from) =>
  row("session_meta", {
    id,
    timestamp: new Date(clock).toISOString(),
    cwd: join(home, "app"),
    originator: "codex_cli_rs",
    cli_version: "0.50.0",
    ...(from && { forked_from_id: from }),
  });

const share = (Number(values.mb) * 1e6) / (forks + 1);
const rows = [];
let bytes = 0;
while (bytes < share * 0.9) {
  const next = turn();
  rows.push(next);
  bytes += next.length;
  if (rows.length % 200 === 0 && rows.length <= 600) rows.push(withPicture(pictures[rows.length / 200 - 1] ?? ""));
  // A compaction repeats what the model is given from now on.
  if (rows.length % 400 === 0)
    rows.push(
      row("compacted", {
        message: text(200),
        replacement_history: rows.slice(-40).map((one) => JSON.parse(one.slice(0, one.indexOf("\n"))).payload),
      }),
    );
}
const body = rows.join("");
const files = new Map();
const root = randomUUID();
for (let n = 0; n <= forks; n++) {
  const id = n === 0 ? root : randomUUID();
  const path = join(
    sessions,
    `rollout-2026-01-01T${String(n % 24).padStart(2, "0")}-${String(n).padStart(2, "0")}-00-${id}.jsonl`,
  );
  writeFileSync(path, head(id, n === 0 ? undefined : root));
  appendFileSync(path, body);
  appendFileSync(path, Array.from({ length: n === 0 ? 0 : 20 }, turn).join(""));
  files.set(id, { path, sum: sumOf(readFileSync(path)) });
}
const all = [...files.values()].reduce((sum, { path }) => sum + statSync(path).size, 0);
console.log(`${files.size} logs, ${(all / 1e6).toFixed(0)} MB`);

for (const logs of ["none", "keep"]) {
  const data = join(home, `data-${logs}`);
  const config = join(home, ".config/sessarc");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "sessarc.config.mjs"), `export default { rescue: { logs: "${logs}" } };\n`);
  const at = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [cli, "import", "--all"], {
    env: { ...process.env, HOME: home, SESSARC_DATA_DIR: data },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  const seconds = (performance.now() - at) / 1000;
  const stored = sizeOf(join(data, "logs"));
  console.log(
    `logs: ${logs}: import ${seconds.toFixed(1)} s, raw logs ${(stored / 1e6).toFixed(1)} MB, all ${(sizeOf(data) / 1e6).toFixed(1)} MB${stored ? `, ratio ${(all / stored).toFixed(1)}` : ""}`,
  );
}

const away = join(home, ".codex");
rmSync(away, { recursive: true });
const to = join(home, "out");
const { status, stderr } = spawnSync(process.execPath, [cli, "export", "--all", "--to", to], {
  env: { ...process.env, HOME: home, SESSARC_DATA_DIR: join(home, "data-keep") },
  encoding: "utf8",
});
if (status !== 0) throw new Error(stderr);
const back = new Set(
  listFiles(to)
    .filter((path) => path.endsWith(".jsonl"))
    .map((path) => sumOf(readFileSync(path))),
);
const lost = [...files.values()].filter(({ sum }) => !back.has(sum)).length;
console.log(`${files.size - lost} of ${files.size} logs come back byte for byte`);
rmSync(home, { recursive: true });
process.exitCode = lost === 0 ? 0 : 1;

function sumOf(data) {
  return createHash("sha256").update(data).digest("hex");
}
function listFiles(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath ?? one.path, one.name));
}
function sizeOf(dir) {
  try {
    return listFiles(dir).reduce((sum, path) => sum + statSync(path).size, 0);
  } catch {
    return 0;
  }
}
