/** Pushed logs that a server parses again with a newer adapter, and logs that must not be. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it, onTestFinished } from "vitest";
import { validate } from "../../core/contract/schema.ts";
import { canonicalJson } from "../../core/utils/canonical.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import security from "../../plugins/security/index.ts";
import type { Manifest } from "../../plugins/team/index.ts";
import team, { type PushReport } from "../../plugins/team/index.ts";
import { manifestSchema, type PushedManifest } from "../../plugins/team/server/ingest/manifest-schema.ts";
import { parseAgain } from "../../plugins/team/server/ingest/parse-again.ts";
import { makeTempDir } from "../_setup.ts";
import { create, family, write } from "../archive/families.ts";
import { claudeTurn, minute } from "../claude-turn.ts";
import { runCommand } from "../command.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { LONG, rounds } from "../rounds.ts";
import { toLog } from "../security/_kernel.ts";
import { toDigest } from "./digest.ts";
import { freePort, startNode } from "./fleet.ts";
import { asVersion, withAdapters } from "./misread.ts";
import { joinBy, type Machine, openNode, type TestServer } from "./node.ts";
import { type Engine, engines } from "./postgres.ts";
import { plant, readable, rowsWith } from "./secrets.ts";
import { joinWithSamples, serveTeam } from "./served.ts";
import { WireServer } from "./wire-server.ts";

const KEY = "dddddddd-0000-4000-8000-000000000001";
const sessionFile = (home: string, key: string) => join(home, ".claude/projects/-w-app", `${key}.jsonl`);
function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

interface MachineOptions {
  home: string;
  link: string;
  adapters?: readonly AdapterPlugin[];
  data?: string;
}

/** A machine that has joined and chosen all its projects. */
async function readMachine({
  home,
  link,
  adapters = [claude(), codex()],
  data = "data",
}: MachineOptions): Promise<TestKernel> {
  const t = await createTestKernel({
    home,
    plugins: [archive(), ...adapters, security(), team({ retryMs: 1 })],
    env: { USER: "annamueller" },
    config: { dataDir: join(home, data) },
  });
  await t.send("POST", "/api/import", { all: true });
  expect((await t.send("POST", "/api/team/join", { link })).status).toBe(200);
  const projects = await t.json<{ id: string }[]>("/api/projects?git=0");
  await t.send("PUT", "/api/team/projects", { add: projects.map(({ id }) => id), space: "Team" });
  return t;
}

async function pushFrom(t: TestKernel): Promise<PushReport> {
  const { status, body } = await t.send<PushReport>("POST", "/api/team/push", {});
  expect([status, body.failed]).toEqual([200, []]);
  return body;
}

const VERSION = "1.4.0";
const toAdapters = () => [asVersion(claude(), VERSION), asVersion(codex(), VERSION)];

let machines = 0;

interface Sent {
  /** As they leave, and as a server reads them. */
  sent: Manifest[];
  manifests: PushedManifest[];
  blobs: Map<string, Buffer>;
  text: string;
}

/** What a machine with this home sends. */
async function sentFrom(home: string, adapters: readonly AdapterPlugin[] = toAdapters()): Promise<Sent> {
  const wire = await new WireServer().start();
  const t = await readMachine({ home, link: wire.link, adapters, data: `data-${++machines}` });
  await pushFrom(t);
  await t.close();
  await wire.stop();
  const manifests: PushedManifest[] = [];
  for (const { manifest } of wire.sessions.values())
    manifests.push(await validate(manifestSchema, manifest, "manifest"));
  const sent = Array.from(wire.sessions.values(), ({ manifest }) => manifest);
  return { manifests, sent, blobs: wire.blobs, text: [...wire.blobs.values()].join("\n") };
}

const parse = (manifest: PushedManifest, blobs: ReadonlyMap<string, Buffer>) => {
  const { adapter } = manifest.tool === "codex" ? codex() : claude();
  return parseAgain(
    manifest,
    adapter,
    async (sha256) => blobs.get(sha256) ?? Buffer.alloc(0),
    async () => {},
  );
};

/** A rollout whose replies are named by the byte at which their row begins: after texts that redaction makes longer and shorter. */
function rollout(texts: readonly string[]): string {
  const row = (type: string, payload: object, n: number) => ({ timestamp: minute(n), type, payload });
  const rows = [
    row("session_meta", { id: CODEX, cwd: "/w/app", timestamp: minute(0) }, 0),
    row("turn_context", { model: "gpt-5", cwd: "/w/app" }, 0),
  ];
  for (const [i, text] of texts.entries()) {
    const total = { input_tokens: 100 * (i + 1), cached_input_tokens: 0, output_tokens: 7 * (i + 1) };
    rows.push(
      row("response_item", { type: "message", role: "user", content: [{ type: "input_text", text }] }, i),
      row(
        "response_item",
        {
          type: "function_call",
          call_id: `c${i}`,
          name: "shell",
          arguments: JSON.stringify({ command: ["sh", "-c", text] }),
        },
        i,
      ),
      row("event_msg", { type: "token_count", info: { total_token_usage: total } }, i),
    );
  }
  return lines(rows);
}
const CODEX = "cccccccc-0000-4000-8000-000000000001";
const rolloutFile = (home: string) =>
  join(home, ".codex/sessions/2026/11/20", `rollout-2026-11-20T10-00-00-${CODEX}.jsonl`);

describe("a redacted log", () => {
  const planted = plant(7);

  it("says what the log itself does: the same replies, figures and messages", async () => {
    const past = (logs: readonly { rows: readonly { turn: number }[] }[]) =>
      logs.every((log) => log.rows.every(({ turn }) => turn <= 11));
    await fc.assert(
      fc.asyncProperty(family.filter(past), async (logs) => {
        const home = join(await makeTempDir(), "home");
        mkdirSync(home);
        create(home, logs);
        for (const [n, log] of logs.entries()) write(home, logs, n, log.rows.length);
        put(sessionFile(home, KEY), toLog(rowsWith(planted), `${home}/app`, "main"));
        put(rolloutFile(home), rollout(planted.slice(0, 20).map(({ text }) => text)));
        const { manifests, blobs, text } = await sentFrom(home);
        expect(manifests).toHaveLength(logs.filter(({ rows }) => rows.length > 0).length + 2);
        for (const manifest of manifests) {
          expect(manifest.log).toMatchObject({ version: VERSION, outside: [] });
          expect(canonicalJson(await parse(manifest, blobs))).toBe(canonicalJson(manifest));
        }
        const said = text.replace(/\[REDACTED:[a-z0-9-]+\]/g, "");
        expect(planted.flatMap((one) => readable(one, said) ?? [])).toEqual([]);
      }),
      { numRuns: rounds(40, 4), endOnFailure: true },
    );
  });

  it("of the sample sessions of both assistants says it, too", async () => {
    const home = await makeTempDir();
    await writeDemo({ home });
    const { manifests, blobs } = await sentFrom(home);
    expect(manifests.length).toBeGreaterThan(8);
    for (const manifest of manifests) {
      expect(manifest.log?.version).toBe(VERSION);
      expect(canonicalJson(await parse(manifest, blobs))).toBe(canonicalJson(manifest));
    }
  });

  it("is not parsed where redaction changed what a reply is named by", async () => {
    const home = await makeTempDir();
    const [question, reply, result] = claudeTurn(1);
    const secret = planted.find(({ rule }) => rule.startsWith("github"))?.value ?? "";
    expect(secret).not.toBe("");
    const named = JSON.parse(JSON.stringify(reply).replace('"m1"', JSON.stringify(secret)));
    put(sessionFile(home, KEY), lines([question, named, result]));
    const { manifests, text } = await sentFrom(home);
    expect(manifests.map(({ log, raw }) => [log, raw.length])).toEqual([[null, 1]]);
    expect(text).not.toContain(secret);
  });

  it("is not parsed where the log was rewritten: it lacks what earlier texts have", async () => {
    const home = await makeTempDir();
    put(sessionFile(home, KEY), lines([1, 2, 3].flatMap((n) => claudeTurn(n))));
    const wire = await new WireServer().start();
    const t = await readMachine({ home, link: wire.link });
    put(sessionFile(home, KEY), lines([3, 4].flatMap((n) => claudeTurn(n))));
    await t.send("POST", "/api/import", { all: true });
    await pushFrom(t);
    const [sent] = wire.sessions.values();
    expect([sent?.manifest.earlier.length, sent?.manifest.log]).toEqual([1, null]);
  });

  it("whose archived messages another version made is parsed by any server", async () => {
    const home = await makeTempDir();
    put(sessionFile(home, KEY), lines([1, 2].flatMap((n) => claudeTurn(n))));
    const old = asVersion(claude(), "1.0.0", { event: (event) => ({ ...event, text: `${event.text}?` }) });
    const wire = await new WireServer().start();
    const before = await readMachine({ home, link: wire.link, adapters: [old] });
    await before.close();
    const t = await createTestKernel({
      home,
      plugins: [archive(), asVersion(claude(), "1.1.0"), security(), team({ retryMs: 1 })],
      config: { dataDir: join(home, "data") },
    });
    await pushFrom(t);
    const [sent] = wire.sessions.values();
    expect(sent?.manifest.log).toMatchObject({ version: "" });
  });
});

/** A server that is updated: closed, and opened with other adapters. */
class Updated {
  readonly log: string[] = [];
  readonly #engine: Engine;
  #stop: () => Promise<void> = async () => {};
  #database = "";
  #folder = "";
  node!: TestServer["node"];
  owner!: Machine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async open(): Promise<this> {
    const { database, stop } = await this.#engine.open();
    [this.#database, this.#stop, this.#folder] = [database, stop, await makeTempDir()];
    onTestFinished(async () => {
      await this.node.close();
      await this.#stop();
    });
    // Of version 0: it has nothing to repair.
    await this.#start(asVersion(claude(), "0.0.0"));
    this.owner = await joinBy(this.node, (await this.node.ownerLink()) ?? "", "Olga");
    return this;
  }

  async update(plugin: AdapterPlugin): Promise<void> {
    await this.node.close();
    await this.#start(plugin);
    this.owner.node = this.node;
    await this.owner.renew();
  }

  async #start(plugin: AdapterPlugin): Promise<void> {
    this.node = await openNode(this.#database, this.#folder, this.log, {
      plugins: withAdapters({ "claude-code": plugin }),
      parseAgain: false,
    });
  }

  async take({ sent, blobs }: Pick<Sent, "sent" | "blobs">): Promise<void> {
    for (const manifest of sent) {
      const answer = await this.owner.push({ manifest, digest: toDigest(manifest), chunks: blobs });
      expect([answer.status, answer.body.outcome], JSON.stringify(answer.body)).toEqual([200, "imported"]);
    }
  }

  /** By key: output tokens, and texts of messages. */
  async shown(): Promise<Record<string, { output: number; texts: string[] }>> {
    const { body } = await this.owner.ask<{ sessions: { id: string; usage: Record<string, { output: number }> }[] }>(
      "GET",
      "/api/sessions?limit=100",
    );
    const all: Record<string, { output: number; texts: string[] }> = {};
    for (const { id, usage } of body.sessions) {
      const path = `/api/sessions/${encodeURIComponent(id)}/messages?limit=1000`;
      const messages = await this.owner.ask<{ messages: { text: string }[] }>("GET", path);
      all[id.replace(/.*~/, "")] = {
        output: Object.values(usage).reduce((sum, { output }) => sum + output, 0),
        texts: messages.body.messages.map(({ text }) => text),
      };
    }
    return all;
  }

  /** Runs this server's assistants in a process that is killed after `ms`, or that runs until every log is parsed. */
  async killed(ms?: number): Promise<void> {
    await this.node.close();
    const port = await freePort();
    const child = await startNode({ database: this.#database, folder: this.#folder, port });
    const waiting = async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(/sessarc_team_logs_to_parse (\d+)/.exec(metrics)?.[1] ?? -1);
    };
    const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
    if (ms !== undefined) await pause(ms);
    else while ((await waiting()) !== 0) await pause(200);
    await child.kill();
  }

  rows(sql: string) {
    return this.node.database.owner.all<Record<string, string | number>>(sql);
  }
}

describe.each(engines())("a server on $name", (engine) => {
  const OTHER = KEY.replace(/1$/, "2");
  const secret = plant(7).find(({ rule }) => rule.startsWith("github"))?.text ?? "";
  /** Takes replies whose last digit of tokens is the same for one reply, and cuts what a person said. */
  const misread = () =>
    asVersion(claude(), "1.0.0", {
      event: (event) => (event.kind === "user" ? { ...event, text: event.text.slice(0, 3) } : event),
      reply: (reply) => ({ ...reply, key: `k${reply.usage.output % 10}` }),
    });

  const writeLogs = (home: string, [mine, other]: readonly [readonly number[], readonly number[]]) => {
    const turns = (numbers: readonly number[], copy: string) =>
      numbers.flatMap((n) => {
        const [question, ...rest] = claudeTurn(n, { copy });
        return [{ ...question, message: { role: "user", content: `word${n} ${secret}` } }, ...rest];
      });
    put(sessionFile(home, KEY), lines(turns(mine, "")));
    put(sessionFile(home, OTHER), lines(turns(other, "b")));
  };

  it("repairs what an older adapter misread, without the machine; each reply counts once", async () => {
    const home = await makeTempDir();
    writeLogs(home, [
      [1, 2, 4],
      [1, 2, 14],
    ]);
    const first = await sentFrom(home, [misread()]);
    expect(first.sent.map(({ log }) => log?.version)).toEqual(["1.0.0", "1.0.0"]);
    const server = await new Updated(engine).open();
    await server.take(first);
    const before = await server.shown();
    expect(before[KEY]?.texts[0]).toBe("wor");
    expect((before[KEY]?.output ?? 0) + (before[OTHER]?.output ?? 0)).toBe(1 + 2 + 14);
    expect(await server.node.rereading.state()).toEqual({ waiting: 0, failed: 0, without: 0 });

    await server.update(asVersion(claude(), "1.1.0"));
    expect(await server.node.rereading.state()).toMatchObject({ waiting: 2 });
    await server.node.rereading.pass();
    const after = await server.shown();
    expect((after[KEY]?.output ?? 0) + (after[OTHER]?.output ?? 0)).toBe(1 + 2 + 4 + 14);
    expect(after[KEY]?.texts.filter((text) => text.startsWith("word"))).toEqual(
      [1, 2, 4].map((n) => expect.stringMatching(new RegExp(`^word${n} .*\\[REDACTED:`))),
    );
    expect(await server.node.rereading.state()).toEqual({ waiting: 0, failed: 0, without: 0 });
    expect(await server.rows("select distinct reader, problem, recount from team_session")).toEqual([
      { reader: "1.1.0", problem: "", recount: 0 },
    ]);
    // No earlier text, no leftover of what was misread.
    expect(await server.rows("select * from earlier")).toEqual([]);
    const used = await server.rows("select distinct sha256 from team_session_blob");
    const held = await server.rows("select distinct sha256 from team_blob");
    expect(held.length).toBe(used.length);

    // The machine sees no difference, and what it adds with its old adapter is repaired, too.
    const ids = first.sent.map((manifest) => ({ id: manifest.id, digest: toDigest(manifest) }));
    expect((await server.owner.ask("POST", "/team/api/have", { sessions: ids })).body.missing).toEqual([]);
    writeLogs(home, [
      [1, 2, 4, 5],
      [1, 2, 14],
    ]);
    const grown = await sentFrom(home, [misread()]);
    await server.take({ ...grown, sent: grown.sent.filter(({ id }) => id.endsWith(KEY)) });
    await server.node.rereading.pass();
    const last = await server.shown();
    expect((last[KEY]?.output ?? 0) + (last[OTHER]?.output ?? 0)).toBe(1 + 2 + 4 + 14 + 5);
    expect(server.log).toEqual([]);
  });

  it("leaves a session as it is whose log cannot be parsed, reports it, and tries again with the next version", async () => {
    const home = await makeTempDir();
    writeLogs(home, [
      [1, 15],
      [5, 7],
    ]);
    const server = await new Updated(engine).open();
    await server.take(await sentFrom(home, [misread()]));
    const before = await server.shown();
    expect([before[KEY]?.output, before[OTHER]?.output]).toEqual([16, 7]);
    const failing = asVersion(claude(), "1.1.0", {
      event(event) {
        if (event.text.startsWith("word5")) throw new Error("cannot read word5");
        return event;
      },
    });
    await server.update(failing);
    await server.node.rereading.pass();
    await server.node.rereading.pass();
    const after = await server.shown();
    expect(after[OTHER]?.texts).toEqual(before[OTHER]?.texts);
    // The reply that it had lost to the other session counts here again.
    expect([after[KEY]?.output, after[OTHER]?.output]).toEqual([16, 12]);
    expect(await server.node.rereading.state()).toEqual({ waiting: 0, failed: 1, without: 0 });
    const { body } = await server.owner.ask<{ failed: number; problems: object[] }>("GET", "/team/api/logs");
    expect(body).toMatchObject({
      failed: 1,
      problems: [{ session: expect.stringContaining(OTHER), version: "1.1.0", problem: "cannot read word5" }],
    });
    expect(server.log).toEqual([expect.stringContaining("could not be parsed again")]);

    await server.update(asVersion(claude(), "1.2.0"));
    await server.node.rereading.pass();
    expect((await server.shown())[OTHER]?.texts[0]).toMatch(/^word5 /);
    expect(await server.node.rereading.state()).toEqual({ waiting: 0, failed: 0, without: 0 });
  });

  it("goes on after kills: each session is repaired once, whole", async () => {
    const home = await makeTempDir();
    const numbers = Array.from({ length: 8 }, (_, n) => n + 1);
    for (const n of numbers)
      put(
        sessionFile(home, KEY.replace(/1$/, String(n))),
        lines([n, n + 10, n + 20].flatMap((turn) => claudeTurn(turn))),
      );
    const old = asVersion(claude(), "0.0.1", {
      event: (event) => (event.kind === "user" ? { ...event, text: event.text.slice(0, 3) } : event),
      reply: (reply) => ({ ...reply, usage: { ...reply.usage, output: 1 } }),
    });
    const server = await new Updated(engine).open();
    await server.take(await sentFrom(home, [old]));
    const before = await server.shown();
    expect(Object.values(before).map(({ output }) => output)).toEqual(numbers.map(() => 3));
    for (const ms of LONG ? [0, 50, 100, 200, 300, 400, 600, 800] : [0, 150]) {
      await server.killed(ms);
      await server.update(asVersion(claude(), "0.0.0"));
      // A session is either as it was, or repaired.
      for (const [key, { output, texts }] of Object.entries(await server.shown())) {
        const n = Number(key.at(-1));
        const right = texts[0] === `word${n}`;
        expect([texts[0], output]).toEqual(right ? [`word${n}`, 3 * n + 30] : ["wor", 3]);
      }
    }
    await server.killed();
    await server.update(asVersion(claude(), "0.0.0"));
    const after = await server.shown();
    for (const n of numbers) expect(after[KEY.replace(/1$/, String(n))]?.output).toBe(3 * n + 30);
    expect(await server.rows("select count(*) as n from session")).toEqual([{ n: 8 }]);
    expect(server.log).toEqual([]);
  });

  it("does nothing for a machine that is newer", async () => {
    const home = await makeTempDir();
    writeLogs(home, [[1], [2]]);
    const server = await new Updated(engine).open();
    await server.take(await sentFrom(home, [asVersion(claude(), "1.3.0")]));
    await server.update(asVersion(claude(), "1.2.10", { event: (event) => ({ ...event, text: "?" }) }));
    await server.node.rereading.pass();
    expect((await server.shown())[KEY]?.texts).not.toContain("?");
    expect(await server.rows("select distinct reader from team_session")).toEqual([{ reader: "1.3.0" }]);
  });
});

it("`team people` reports how many logs the server could not parse", async () => {
  const [engine] = engines();
  if (!engine) throw new Error("no engine");
  const failing = asVersion(claude(), "9.0.0", {
    event() {
      throw new Error("cannot read it");
    },
  });
  const served = await serveTeam(engine, { plugins: withAdapters({ "claude-code": failing }) });
  onTestFinished(() => served.close());
  const olga = await joinWithSamples(served.ownerLink, "Olga", { projects: ["tidepool"] });
  onTestFinished(() => olga.close());
  await served.node.rereading.idle();
  const { failed } = await served.node.rereading.state();
  expect(failed).toBeGreaterThan(1);
  expect(await olga.t.json("/api/team/people")).toMatchObject({ logs: { waiting: 0, failed, without: 0 } });
  await olga.t.close();
  const { code, stdout } = await runCommand(["team", "people", "--data-dir", join(olga.t.home, "data")], olga.t.home);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`could not parse ${failed} logs again`)]);
});
