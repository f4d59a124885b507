/** Nothing that a rule finds, and nothing of this machine's user, is in what leaves it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Json } from "sessarc";
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import type { TestKernel } from "../kernel.ts";
import { left } from "../security/_contexts.ts";
import { SESSION, startWith } from "../security/_kernel.ts";
import { letters } from "../security/_samples.ts";
import { plant, readable, rowsWith } from "./secrets.ts";

const USER = "annamueller";

async function readPieces(t: TestKernel, head: Json = null, keys: string[] = []) {
  const folder = join(await makeTempDir(), "pieces");
  const archive = t.kernel.inject("archive");
  const { texts } = await archive.asLogged(SESSION);
  const { source } = await archive.get(SESSION);
  const pieces = await t.kernel.inject("redactor").pieces(SESSION, { texts, head, keys, raw: source.path, folder });
  const read = (sha256: string) => gunzipSync(readFileSync(join(folder, `${sha256}.gz`))).toString("utf8");
  return {
    ...pieces,
    files: readdirSync(folder),
    events: pieces.texts
      .flat()
      .map(({ sha256 }) => read(sha256))
      .join(""),
    log: pieces.raw
      .map(({ sha256 }) => read(sha256))
      .join("")
      .replace(/^\[\d+,(.*)\]$/gm, "$1"),
  };
}

it("no eight characters of a secret of any rule are in the pieces of messages and log", async () => {
  const planted = plant(7);
  expect(new Set(planted.map(({ rule }) => rule)).size).toBeGreaterThan(150);
  const t = await startWith(rowsWith(planted), { env: { USER } });
  const { events, log, head, masked, doubtful, messages } = await readPieces(t, {
    title: planted.map(({ text }) => text).join("\n"),
  });
  expect(messages).toBe(planted.length);
  for (const out of [events, log, JSON.stringify(head)]) {
    const leaks = planted.flatMap((one) => {
      const piece = readable(one, out);
      return piece === undefined ? [] : [`${one.rule}: ${piece} of ${one.value}`];
    });
    expect(leaks).toEqual([]);
  }
  for (const line of [...events.trim().split("\n"), ...log.trim().split("\n")])
    expect(() => JSON.parse(line)).not.toThrow();
  expect(log.trim().split("\n")).toHaveLength(planted.length);
  expect(Object.keys(masked).length).toBeGreaterThan(50);
  for (const one of doubtful) expect(planted.every((secret) => readable(secret, one.masked) === undefined)).toBe(true);
});

it("JSON inside of JSON is parsed as before", async () => {
  const token = `ghp_${letters(36, 5)}`;
  const arguments_ = JSON.stringify({ env: JSON.stringify({ TOKEN: token, n: 1 }) });
  const t = await startWith([{ role: "call", input: { arguments: arguments_ } }]);
  const { log, events } = await readPieces(t);
  for (const out of [log, events]) {
    expect(out).not.toContain(token);
    const [row] = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const input = row.tool_input ?? row.message.content[0].input;
    expect(JSON.parse(JSON.parse(input.arguments).env)).toEqual({
      TOKEN: expect.stringMatching(/^\[REDACTED:[a-z-]+\]$/),
      n: 1,
    });
  }
});

it("the user's home and name, in every spelling, are a tilde and a word", async () => {
  const home = await makeTempDir();
  const rows = (path: string) => [
    {
      role: "user" as const,
      text: `look at ${path}/work/app, file://${path}/x and /home/${USER}/y, ask ${USER} or bobby`,
    },
    {
      role: "call" as const,
      name: "Read",
      input: { file_path: `${path}/work/app/a.ts`, json: JSON.stringify({ path: `${path}\n${path}/b` }) },
    },
    { role: "assistant" as const, text: `it is C:\\Users\\${USER}\\work and /home/bobby/x` },
  ];
  const t = await startWith(rows(home), { home, env: { USER }, cwd: `${home}/work/app` });
  const { events, log } = await readPieces(t);
  for (const out of [events, log]) {
    expect(out).not.toContain(home);
    expect(out.toLowerCase()).not.toContain(USER);
    expect(out).not.toContain("bobby");
  }
  expect(events).toContain("look at ~/work/app, file://~/x and /home/user/y, ask user or user");
  expect(log).toContain('"cwd":"~/work/app"');
});

it("equal texts are equal pieces, in every session and on every machine; names of sessions that say something are hashes", async () => {
  const rows = [{ role: "user" as const, text: `password = "${plant(5)[0]?.value}9x" in ~/app` }];
  const [a, b] = [await startWith(rows), await startWith(rows)];
  const keys = [
    "aaaaaaaa-0000-4000-8000-000000000001",
    "aaaaaaaa:agent-1",
    "/w/app/log.jsonl",
    `x-${USER}-1`,
    "2026-11-01T10:00:00#1",
  ];
  const c = await startWith(rows, { env: { USER } });
  const [one, two, three] = [await readPieces(a), await readPieces(b), await readPieces(c, null, keys)];
  expect(one.events).toContain("[REDACTED:");
  expect(one.texts).toEqual(two.texts);
  expect(three.keys.slice(0, 2)).toEqual(keys.slice(0, 2));
  expect(three.keys.slice(2)).toEqual([1, 2, 3].map(() => expect.stringMatching(/^h-[0-9a-f]{32}$/)));
});

it("a secret that is cut between two messages is in neither, nor in the log", async () => {
  const token = `ghp_${letters(36, 5)}`;
  const [one, two] = [token.slice(0, 20), token.slice(20)];
  const t = await startWith([
    { role: "assistant", text: `the token is ${one}` },
    { role: "assistant", text: `${two} as said` },
  ]);
  const { events, log } = await readPieces(t);
  for (const out of [events, log]) for (const part of [one, two]) expect(left(part, out)).toBeUndefined();
});
