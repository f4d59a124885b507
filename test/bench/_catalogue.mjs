/**
 * Homes with archives of any size, without importing each log: some real sessions are imported once, and copied with other names, times
 * and replies. Their logs and transcripts are hard links, so a hundred thousand of them take no room; what a service sees is an archive
 * that is up to date.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, linkSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { CLI, environment, scratch } from "./_service.mjs";

/** Sessions that are really imported. */
const TOKENS = "input, output, cache_write_5m, cache_write_1h, cache_read";
/** Columns after the session, by table, moved by so many days. */
const FIGURES = {
  session: `tool, kind, project, parent, :id, ended - :days * 86400000, first - :days * 96, last - :days * 96, messages, active_ms,
    errors, prompt, records, requests, duplicates, inherited`,
  work: "quarter - :days * 96, messages, active_ms, errors",
  tokens: `quarter - :days * 96, model, ${TOKENS}`,
  total: `model, ${TOKENS}`,
  call: "name, calls, errors",
  kind: "kind, messages",
  skill: "name, calls, failures, last_at - :days * 86400000",
  context: "model, tokens, most",
  files: "files",
  state: "state",
};
const TEMPLATES = 120;
const DAYS = 360;
const PROJECTS = 24;
/** Links of one file: file systems take some ten thousand. */
const LINKS = 20_000;
const WORDS =
  "the error session plugin function return file config value import test server message cache handler parse client user commit token table column route branch merge review schema".split(
    " ",
  );

const random = (seed) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
const uuid = (n) => `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`;
const folder = (n) => `-w-project-${n % PROJECTS}`;
const logOf = (home, n) => join(home, ".claude/projects", folder(n), `${uuid(n)}.jsonl`);

/** A log of about 85 messages, as the sessions of a usual corpus have. */
function log(n, end) {
  const next = random(n + 1);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const text = (words) =>
    Array.from({ length: words }, () => (next() < 0.1 ? `rare${Math.floor(next() * 90_000)}` : pick(WORDS))).join(" ");
  const began = end - Math.floor(next() * 3_600_000);
  const rows = [];
  const turns = 4 + Math.floor(next() * 34);
  const put = (type, message, extra = {}) =>
    rows.push(
      JSON.stringify({
        type,
        uuid: `u${n}-${rows.length}`,
        timestamp: new Date(began + rows.length * 20_000).toISOString(),
        cwd: `/w/project-${n % PROJECTS}`,
        sessionId: uuid(n),
        ...extra,
        message,
      }),
    );
  for (let turn = 0; turn < turns; turn++) {
    put("user", { role: "user", content: text(20) });
    for (let step = 0; step < 2; step++) {
      const id = `t${n}-${turn}-${step}`;
      const path = `/w/project-${n % PROJECTS}/src/${pick(WORDS)}/${pick(WORDS)}.ts`;
      const usage = {
        input_tokens: 20,
        output_tokens: 100 + Math.floor(next() * 900),
        cache_read_input_tokens: 20_000,
        cache_creation_input_tokens: 700,
      };
      const content = [
        { type: "text", text: text(40) },
        {
          type: "tool_use",
          id,
          name: pick(["Read", "Edit", "Grep"]),
          input: { file_path: path, pattern: pick(WORDS) },
        },
      ];
      const model = pick(["claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5"]);
      put("assistant", { id: `m${id}`, role: "assistant", model, content, usage }, { requestId: `r${id}` });
      put("user", { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text(120) }] });
    }
  }
  return `${rows.join("\n")}\n`;
}

/** Sets hashes of replies apart: a copy's replies are its own. The book of the archive: see plugins/archive/counting/book.ts. Puts them into `hashes`. */
function otherReplies(stored, n, hashes) {
  const bytes = Buffer.from(stored);
  let at = 0;
  const take = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  at = take() + at;
  for (let left = take(); left > 0; left--) {
    bytes.writeUInt32LE((bytes.readUInt32LE(at) ^ Math.imul(n, 0x9e3779b1)) >>> 0, at);
    hashes.push(bytes.readUIntLE(at, 4) + bytes.readUIntLE(at + 4, 3) * 2 ** 32);
    at += 8;
    for (let i = 0; i < 7; i++) take();
  }
  return bytes;
}

const partPath = (data, id, generation) => {
  const digest = createHash("sha256").update(id).digest("hex");
  return join(data, "transcripts", digest.slice(0, 2), `${digest.slice(0, 32)}.${generation}`);
};

/** Links `to` to `from`; a file that has as many links as it may is copied, and that copy linked from then on. */
function linker() {
  const now = new Map();
  const made = new Set();
  return (from, to, seconds) => {
    if (!made.has(dirname(to))) {
      mkdirSync(dirname(to), { recursive: true });
      made.add(dirname(to));
    }
    const known = now.get(from);
    if (!known || known.count >= LINKS) {
      copyFileSync(from, to);
      if (seconds) utimesSync(to, seconds, seconds);
      now.set(from, { path: to, count: 1 });
      return;
    }
    linkSync(known.path, to);
    known.count++;
  };
}

/** Makes a home with an archive of `sessions` sessions. Answers where both are, and a log of its own that may be appended to. */
export async function makeCatalogue(sessions) {
  const home = scratch(`catalogue-${sessions}`);
  const data = join(home, "data");
  const end = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000;
  const seconds = end / 1000;
  for (let n = 0; n < TEMPLATES; n++) {
    const path = logOf(home, n);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, log(n, end - (n % 30) * 86_400_000));
    utimesSync(path, seconds, seconds);
  }
  const run = spawnSync(process.execPath, [CLI, "import", "--all"], { env: environment(home, data), encoding: "utf8" });
  if (run.status !== 0) throw new Error(`the import ended with ${run.status}: ${run.stderr}`);

  const { resolve } = createRequire(import.meta.url);
  const { default: init } = await import(resolve("sql.js/dist/sql-wasm.js"));
  const file = join(data, "catalog.db");
  const SQL = await init();
  const db = new SQL.Database(readFileSync(file));
  const rows = (sql) => {
    const [{ columns, values }] = db.exec(sql);
    return values.map((value) => Object.fromEntries(columns.map((column, i) => [column, value[i]])));
  };
  const templates = rows("select * from session order by id");
  const books = new Map(rows("select * from session_replies").map((row) => [row.session_id, row]));
  const columns = Object.keys(templates[0]);
  const insert = db.prepare(`insert into session (${columns.join(",")}) values (${columns.map(() => "?").join(",")})`);
  const insertBook = db.prepare("insert into session_replies (session_id, tool, born, hashes) values (?,?,?,?)");
  const insertReply = db.prepare(
    "insert into reply (hash, book) select ?, n from session_replies where session_id = ?",
  );
  // The template's figures, as many days earlier.
  const figures = Object.entries(FIGURES).map(([table, list]) =>
    db.prepare(`insert into usage_${table} select :id, ${list} from usage_${table} where session = :template`),
  );
  const link = linker();
  const shiftDays = (text, by) =>
    text.replace(/\d{4}-\d\d-\d\d(?=T)/g, (day) =>
      new Date(Date.parse(day) - by * 86_400_000).toISOString().slice(0, 10),
    );
  db.exec("begin");
  for (let n = TEMPLATES; n < sessions; n++) {
    const template = templates[n % TEMPLATES];
    const by = (n * 7) % DAYS;
    const key = uuid(n);
    const id = `claude-code:${key}`;
    const path = join(dirname(template.source_path), `${key}.jsonl`);
    const row = {
      ...template,
      id,
      key,
      source_path: path,
      started_at: shiftDays(template.started_at, by),
      ended_at: shiftDays(template.ended_at, by),
      sort_at: template.sort_at - by * 86_400_000 - (n % 1000),
    };
    insert.run(columns.map((column) => row[column]));
    for (const statement of figures) statement.run({ ":id": id, ":template": template.id, ":days": by });
    const book = books.get(template.id);
    const hashes = [];
    insertBook.run([id, book.tool, book.born, otherReplies(book.hashes, n, hashes)]);
    for (const hash of hashes) insertReply.run([hash, id]);
    link(template.source_path, path, seconds);
    for (const [generation] of JSON.parse(template.parts))
      link(partPath(data, template.id, generation), partPath(data, id, generation));
  }
  db.exec("commit");
  const bytes = db.export();
  db.close();
  writeFileSync(file, bytes);
  rmSync(join(data, "catalog.db-wal"), { force: true });
  return { home, data, log: logOf(home, 3), id: `claude-code:${uuid(3)}`, catalogBytes: bytes.length };
}

/** One more message of the log that `makeCatalogue` named. */
export const appended = (n) =>
  `${JSON.stringify({
    type: "user",
    uuid: `appended-${n}`,
    timestamp: new Date().toISOString(),
    cwd: "/w/project-3",
    sessionId: uuid(3),
    message: { role: "user", content: `one more line, number ${n}` },
  })}\n`;
