/** Revoked secrets are removed from all that is stored, and on request from logs; figures, and all other bytes, stay. */
import { createHash } from "node:crypto";
import { appendFile, copyFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it } from "vitest";
import type { LeakPage, Scrubbed, ScrubState, Unscrubbed } from "../../plugins/security/index.ts";
import { toForms } from "../../plugins/security/secrets/redact/forms.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { letters } from "./_samples.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const CODEX = "bbbbbbbb-0000-4000-8000-000000000002";
const secret = (n: number) => `ghp_${letters(36, 500 + n)}`;
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
const lines = (rows: readonly (object | string)[]) =>
  rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join("");
const hex4 = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** One secret in the places that a row has for it. */
const CLAUDE_FORMS: readonly ((value: string, n: number) => (object | string)[])[] = [
  (value, n) => [claude(n, "user", `use ${value} here`)],
  (value, n) => [claude(n, "user", "say X").replace("X", [...value].map((c, i) => (i % 2 ? c : hex4(c))).join(""))],
  (value, n) => [claude(n, "user", `b64 ${Buffer.from(`${"x".repeat(n % 3)} ${value} end`).toString("base64")}`)],
  (value, n) => [
    claude(n, "assistant", [
      {
        type: "tool_use",
        id: `t${n}`,
        name: "Bash",
        input: { command: `curl -H "X: ${value}" https://a.b`, [value]: 1 },
      },
    ]),
    claude(n, "user", [
      { type: "tool_result", tool_use_id: `t${n}`, content: JSON.stringify({ out: JSON.stringify({ token: value }) }) },
    ]),
  ],
  (value, n) => [
    claude(n, "assistant", [{ type: "text", text: `first ${value.slice(0, 15)}` }], "a"),
    claude(n, "assistant", [{ type: "text", text: `${value.slice(15)} last` }], "b"),
  ],
  (value, n) => [
    claude(n, "assistant", [
      { type: "tool_use", id: `w${n}`, name: "Write", input: { file_path: `/w/${value}.txt`, content: `${value}\n` } },
    ]),
    claude(n, "user", [
      { type: "tool_result", tool_use_id: `w${n}`, content: [{ type: "text", text: `a\n${value}\nb` }] },
    ]),
  ],
];

function claude(n: number, type: "user" | "assistant", content: unknown, part = ""): string {
  const usage = { input_tokens: 10 + n, output_tokens: 5 };
  return JSON.stringify({
    ...{
      sessionId: KEY,
      cwd: "/w/app",
      timestamp: at(n),
      isSidechain: false,
      type,
      uuid: `${type}${n}${part}`,
      gitBranch: "main",
    },
    ...(type === "assistant" && { requestId: `r${n}${part}` }),
    message: {
      role: type,
      content,
      ...(type === "assistant" && { id: `m${n}${part}`, model: "claude-sonnet-4-5", usage }),
    },
  });
}

const codexMessage = (n: number, role: string, type: string, text: string) => ({
  timestamp: at(n),
  type: "response_item",
  payload: { type: "message", role, content: [{ type, text }] },
});
const CODEX_FORMS: typeof CLAUDE_FORMS = [
  (value, n) => [codexMessage(n, "user", "input_text", `use ${value} here`)],
  (value, n) => [
    {
      timestamp: at(n),
      type: "response_item",
      payload: {
        type: "function_call",
        name: "shell",
        call_id: `c${n}`,
        arguments: JSON.stringify({ command: ["echo", value] }),
      },
    },
    {
      timestamp: at(n),
      type: "response_item",
      payload: {
        type: "function_call_output",
        call_id: `c${n}`,
        output: JSON.stringify({ output: `${value}\n`, metadata: { exit_code: 0 } }),
      },
    },
  ],
  (value, n) =>
    value
      .match(/.{1,7}/g)
      ?.map((delta) => ({ timestamp: at(n), type: "event_msg", payload: { type: "agent_message_delta", delta } })) ??
    [],
];

async function age(path: string): Promise<void> {
  const time = new Date(Date.now() - 86_400_000);
  await utimes(path, time, time);
}

const claudePath = (home: string) => join(home, ".claude/projects/-w-app", `${KEY}.jsonl`);
const codexPath = (home: string) => join(home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${CODEX}.jsonl`);

/** A session of Claude Code and one of Codex with these secrets, each as it is first, then in other forms. */
async function plant(home: string, values: readonly string[]): Promise<string[]> {
  const picture = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: Buffer.alloc(30_000, 7).toString("base64") },
  };
  const one = [
    claude(0, "user", `deploy with ${values[0]} please`),
    claude(1, "user", [picture]),
    ...values.flatMap((value, n) => [
      claude(n * 3 + 2, "user", `token ${value}`),
      ...(CLAUDE_FORMS[n % CLAUDE_FORMS.length]?.(value, n * 3 + 3) ?? []),
      claude(n * 3 + 4, "assistant", [{ type: "text", text: `reply ${n}` }]),
    ]),
  ];
  const meta = {
    id: CODEX,
    timestamp: at(0),
    cwd: "/w/app",
    originator: "codex_cli_rs",
    cli_version: "0.50.0",
    source: "cli",
  };
  const other = [
    { timestamp: at(0), type: "session_meta", payload: meta },
    { timestamp: at(1), type: "event_msg", payload: { type: "user_message", message: `go on with ${values[1]}` } },
    ...values.flatMap((value, n) => [
      codexMessage(n * 2 + 1, "assistant", "output_text", `token ${value}`),
      ...(CODEX_FORMS[n % CODEX_FORMS.length]?.(value, n * 2 + 2) ?? []),
    ]),
  ];
  const written: string[] = [];
  for (const [path, rows] of [
    [claudePath(home), one],
    [codexPath(home), other],
  ] as const) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, lines(rows));
    await age(path);
    written.push(path);
  }
  return written;
}

const start = (home: string) => createTestKernel({ home, plugins: defaultPlugins() });

async function importAll(t: TestKernel): Promise<void> {
  const { body } = await t.send<{ failed: unknown[] }>("POST", "/api/import", { all: true });
  expect(body.failed).toEqual([]);
  await t.kernel.inject("importer").prepare();
}

async function revokeAll(t: TestKernel): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = "0"; cursor !== null; ) {
    const page: LeakPage = await t.json(`/api/security/leaks?whole=1&possible=1&limit=200&cursor=${cursor}`);
    ids.push(...page.leaks.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  await t.send("POST", "/api/security/leaks/mark", { state: "rotated", ids });
  return ids;
}

interface Told {
  id: string;
  messageCount: number;
  errorCount: number;
  usage: object;
  cost: unknown;
}
const figures = async (t: TestKernel) => ({
  sessions: (await t.json<{ sessions: Told[] }>("/api/sessions?limit=100&sort=oldest")).sessions.map(
    ({ id, messageCount, errorCount, usage, cost }) => ({ id, messageCount, errorCount, usage, cost }),
  ),
  usage: (await t.json<{ totals?: unknown }>("/api/insights/summary").catch(() => ({}))) as object,
});

async function filesBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

/** Where one of the values can be read below the data directory, in any form, also in what is compressed. */
async function heldIn(t: TestKernel, values: readonly string[]): Promise<string[]> {
  const forms = values.flatMap((value) => toForms(value).map(({ text }) => text));
  const holds = (bytes: Buffer) => {
    const text = bytes.toString("latin1");
    return forms.some((form) => text.includes(form));
  };
  const found: string[] = [];
  const data = t.kernel.storage.dataDir;
  for (const path of await filesBelow(data)) {
    const bytes = await readFile(path);
    if (holds(bytes)) found.push(path.slice(data.length + 1));
    if (path.includes("/logs/") && holds(brotliDecompressSync(bytes))) found.push(`${path} inflated`);
  }
  const { db, transcripts } = t.kernel.storage;
  const rows = await db.all<{ id: string; parts: string }>(
    "select id, parts from session union all select session_id, parts from earlier",
  );
  const keys = new Set<string>();
  for (const { id, parts } of rows)
    for (const [generation, bytes, tail, firstSeq, count] of JSON.parse(parts) as number[][]) {
      const part = { generation, bytes, tail, firstSeq, count } as Parameters<typeof transcripts.index>[1];
      keys.add(transcripts.keyOf(id, part.generation));
      for (const entry of (await transcripts.index(id, part)).chunks)
        if (holds(await transcripts.chunkBytes(id, part, entry))) found.push(`transcript of ${id}`);
    }
  for (const key of await transcripts.keys()) if (!keys.has(key)) found.push(`left over: ${key}`);
  return found;
}

const scrub = (t: TestKernel, body: object = {}) => t.send<Scrubbed>("POST", "/api/security/scrub", body);
const plan = (t: TestKernel, body: object = {}) => t.send<Scrubbed>("POST", "/api/security/scrub/plan", body);
const undo = (t: TestKernel) => t.send<Unscrubbed>("POST", "/api/security/scrub/undo");
const state = (t: TestKernel) => t.json<ScrubState>("/api/security/scrub");

describe("a scrub", () => {
  it("leaves none of 200 secrets in the archive and the logs, and all figures and other bytes", async () => {
    const values = Array.from({ length: 200 }, (_, n) => secret(n));
    const home = await makeTempDir();
    const paths = await plant(home, values);
    const bytes = await Promise.all(paths.map((path) => readFile(path)));
    const t = await start(home);
    await importAll(t);
    const before = await figures(t);
    expect(await heldIn(t, values.slice(0, 3))).not.toEqual([]);
    const ids = await revokeAll(t);
    expect(ids.length).toBeGreaterThanOrEqual(200);
    const planned = (await plan(t, { originals: true })).body;
    expect(planned).toMatchObject({ written: false, left: [], originals: [{ backup: null }, { backup: null }] });
    expect(await readFile(paths[0] ?? "")).toEqual(bytes[0]);
    const { status, body } = await scrub(t, { originals: true });
    expect([status, body.left]).toEqual([200, []]);
    expect(body.sessions.map(({ id }) => id).sort()).toEqual([`claude-code:${KEY}`, `codex:${CODEX}`]);
    expect(body.sessions).toEqual(planned.sessions);
    const backups = body.originals.map(({ backup }) => backup ?? "");
    expect(body.named.sort()).toEqual([...backups].sort());
    const data = t.kernel.storage.dataDir;
    expect((await heldIn(t, values)).map((path) => join(data, path)).sort()).toEqual([...backups].sort());
    expect(await figures(t)).toEqual(before);
    for (const [n, path] of paths.entries()) {
      const now = await readFile(path);
      const was = bytes[n] ?? Buffer.alloc(0);
      expect(now.length).toBe(was.length);
      const text = now.toString("latin1");
      for (const value of values) for (const form of toForms(value)) expect(text.includes(form.text)).toBe(false);
      // The rows are rows, and the other fields are what they were.
      const fields = (one: Buffer) =>
        lines(
          one
            .toString()
            .trim()
            .split("\n")
            .map((line) => JSON.stringify(Object.keys(JSON.parse(line)))),
        );
      expect(fields(now)).toBe(fields(was));
    }
    const { scrubbed } = await t.json<{ scrubbed: { count: number; original: boolean } }>(
      `/api/sessions/claude-code:${KEY}`,
    );
    expect(scrubbed.original).toBe(true);
    expect(scrubbed.count).toBeGreaterThanOrEqual(200);
    // Nothing is left to be found, by the inbox neither.
    expect((await t.json<LeakPage>("/api/security/leaks?whole=1&state=all&possible=1")).leaks).toEqual([]);
    // What is read again from the changed logs is the same.
    await t.close();
    const again = await start(home);
    await again.kernel.storage.db.run("update session set format = 0");
    await importAll(again);
    expect(await figures(again)).toEqual(before);
    expect((await again.json<{ earlier: unknown[] }>(`/api/sessions/claude-code:${KEY}`)).earlier).toEqual([]);
    expect((await undo(again)).body.restored.sort()).toEqual([...paths].sort());
    for (const [n, path] of paths.entries()) expect((await readFile(path)).equals(bytes[n] as Buffer)).toBe(true);
    expect(await heldIn(again, values)).toEqual([]);
  });

  it("holds when the log, which still has the secret, is read again and goes on", async () => {
    const home = await makeTempDir();
    const values = Array.from({ length: 8 }, (_, n) => secret(n));
    const [path = ""] = await plant(home, values);
    const t = await start(home);
    await importAll(t);
    await revokeAll(t);
    expect((await scrub(t)).body).toMatchObject({ left: [], originals: [] });
    expect(await heldIn(t, values)).toEqual([]);
    const before = await figures(t);
    await appendFile(
      path,
      lines([
        claude(900, "user", `once more ${values[0]}`),
        claude(901, "user", `b64 ${Buffer.from(values[4] ?? "").toString("base64")}`),
      ]),
    );
    await importAll(t);
    await t.kernel.inject("rescue").store();
    expect(await heldIn(t, values)).toEqual([]);
    const messages = async (all: Awaited<ReturnType<typeof figures>>) =>
      all.sessions.find(({ id }) => id === `claude-code:${KEY}`)?.messageCount ?? 0;
    expect(await messages(await figures(t))).toBe((await messages(before)) + 2);
    expect((await t.json<{ earlier: unknown[] }>(`/api/sessions/claude-code:${KEY}`)).earlier).toEqual([]);
    expect((await readFile(path, "utf8")).includes(values[0] ?? "x")).toBe(true);
    await rm(path);
    const log = await t.fetch(`/api/sessions/claude-code:${KEY}/log?file=0`);
    const stored = await log.text();
    expect(stored).toContain("once more ****");
    expect(stored.length).toBeGreaterThan(1_000);
  });

  it("leaves a session that was just written, and a log that changed since it was imported", async () => {
    const home = await makeTempDir();
    const values = [secret(1), secret(2)];
    const [one = "", other = ""] = await plant(home, values);
    const t = await start(home);
    await importAll(t);
    await revokeAll(t);
    await t.send("POST", "/api/sync/pause");
    const now = new Date();
    await utimes(one, now, now);
    await importAll(t);
    await appendFile(other, "\n");
    const { body } = await scrub(t, { originals: true });
    expect(body.left.map(({ what }) => what).sort()).toEqual([other, `claude-code:${KEY}`].sort());
    expect(body.sessions.map(({ id }) => id)).toEqual([`codex:${CODEX}`]);
    expect(await readFile(one, "utf8")).toContain(values[0]);
    expect(await readFile(other, "utf8")).toContain(values[0]);
  });

  it("keeps a copy until the assistant has written to the log, and removes none that was not revoked", async () => {
    const home = await makeTempDir();
    const values = [secret(1), secret(2)];
    const [path = ""] = await plant(home, values);
    const t = await start(home);
    await importAll(t);
    const { leaks } = await t.json<LeakPage>("/api/security/leaks?whole=1&possible=1");
    const [first] = leaks;
    const refused = await t.send<{ code: string }>("POST", "/api/security/scrub", { secrets: [first?.id] });
    expect([refused.status, refused.body.code]).toEqual([409, "LEAK_NOT_REVOKED"]);
    expect((await t.send("POST", "/api/security/scrub/plan", { secrets: ["none"] })).status).toBe(404);
    expect((await scrub(t)).body).toMatchObject({ secrets: [], sessions: [] });
    await revokeAll(t);
    await scrub(t, { originals: true });
    const { backups } = await state(t);
    expect(backups.map((one) => one.path)).toContain(path);
    await appendFile(path, lines([claude(900, "user", "the assistant goes on")]));
    await importAll(t);
    expect((await state(t)).backups.map((one) => one.path)).toEqual([codexPath(home)]);
    const { body } = await undo(t);
    expect(body.restored).toEqual([codexPath(home)]);
    expect(await readFile(path, "utf8")).not.toContain(values[0]);
    expect((await t.send<{ removed: number }>("DELETE", "/api/security/scrub/backups")).body.removed).toBe(0);
  });

  it("goes on after a kill: what is left is found by the sums", async () => {
    const home = await makeTempDir();
    const values = [secret(1), secret(2), secret(3)];
    await plant(home, values);
    const t = await start(home);
    await importAll(t);
    await revokeAll(t);
    const { db } = t.kernel.storage;
    const prompt = await db.get<{ p: string }>("select first_prompt as p from session where id = ?", [
      `claude-code:${KEY}`,
    ]);
    await scrub(t);
    // As if the tables had not been reached.
    await db.run("update session set first_prompt = ? where id = ?", [prompt?.p ?? "", `claude-code:${KEY}`]);
    expect((await plan(t)).body.sessions).toMatchObject([
      { id: `claude-code:${KEY}`, transcript: 0, log: 0, catalogue: 1 },
    ]);
    expect((await scrub(t)).body.left).toEqual([]);
    expect(await heldIn(t, values)).toEqual([]);
  });

  it("removes it from files that were stored before a call destroyed them, and names other files", async () => {
    const home = await makeTempDir();
    const values = [secret(1), secret(2)];
    await plant(home, values);
    const t = await start(home);
    await importAll(t);
    await revokeAll(t);
    const net = t.kernel.storage.path("net");
    const content = Buffer.from(`A=1\nTOKEN=${values[0]}\n`);
    const hash = createHash("sha256").update(content).digest("hex");
    await mkdir(join(net, "blobs"), { recursive: true });
    await writeFile(join(net, "blobs", hash), content);
    const file = { path: join(home, ".env"), hash, size: content.length, mode: 0o600, from: null };
    const record = {
      id: "20260101000000000-abcdef",
      at: at(0),
      client: "claude-code",
      sessionId: null,
      tool: "Bash",
      command: "rm .env",
    };
    await writeFile(
      join(net, `${record.id}.json`),
      JSON.stringify({ ...record, how: ["rm"], files: [file], names: [], left: [], isPartial: false }),
    );
    const sandbox = t.kernel.storage.path("replay", "notes.txt");
    await mkdir(dirname(sandbox), { recursive: true });
    await writeFile(sandbox, `see ${values[1]}`);
    const { body } = await scrub(t);
    expect(body).toMatchObject({ left: [], named: [sandbox], elsewhere: { net: 1 } });
    const [name = ""] = await readdir(join(net, "blobs"));
    expect(await readFile(join(net, "blobs", name), "utf8")).toBe(`A=1\nTOKEN=${"*".repeat(40)}\n`);
    const version = await t.json<{ versions: { state: string }[] }>(
      `/api/files/history?path=${encodeURIComponent(file.path)}`,
    );
    expect(version.versions).toMatchObject([{ state: "exact", source: "net" }]);
    await rm(sandbox);
    expect(await heldIn(t, values)).toEqual([]);
  });

  it("`sessarc scrub` looks, removes with --yes, and puts logs back with --undo", async () => {
    const home = await makeTempDir();
    const values = [secret(1), secret(2)];
    const [path = ""] = await plant(home, values);
    const copy = join(home, "copy");
    await copyFile(path, copy);
    const t = await start(home);
    await importAll(t);
    await revokeAll(t);
    await t.close();
    const env = { SESSARC_DATA_DIR: join(home, "data") };
    const looked = await runCommand(["scrub", "--originals"], home, env);
    expect(looked.stdout).toContain(`found in claude-code:${KEY}: `);
    expect(looked.stderr).toContain("--yes removes them");
    expect((await readFile(path)).equals(await readFile(copy))).toBe(true);
    const done = await runCommand(["scrub", "--originals", "--yes"], home, env);
    expect(done.code).toBe(0);
    expect(done.stdout).toContain("its copy with the secret: ");
    expect(done.stdout + done.stderr).not.toContain(values[0]);
    expect(await readFile(path, "utf8")).not.toContain(values[0]);
    expect((await stat(path)).size).toBe((await stat(copy)).size);
    expect((await runCommand(["scrub", "--undo", "--yes"], home, env)).code).toBe(2);
    expect((await runCommand(["scrub", "--undo"], home, env)).stdout).toContain("2 logs put back");
    expect((await readFile(path)).equals(await readFile(copy))).toBe(true);
    expect((await runCommand(["scrub", "--drop-backups"], home, env)).stderr).toContain(
      "No copy of a changed log is stored",
    );
  });
});
