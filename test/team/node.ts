/** Nodes of a team server for tests, and machines that join, push and ask. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { SessionEvent, SessionSummary } from "sessarc";
import { loadConfig } from "sessarc/serve";
import { defaultPlugins } from "../../plugins/index.ts";
import type { Manifest } from "../../plugins/team/index.ts";
import { createNode, type NodeOptions, type TeamNode } from "../../plugins/team/server/node.ts";
import { serverPlugins } from "../../plugins/team/server/plugins.ts";
import { toDigest } from "./digest.ts";
import type { Engine } from "./postgres.ts";

export const PORT = 41_999;
export const ADDRESS = `http://127.0.0.1:${PORT}`;

export interface Answer<T = Record<string, unknown>> {
  status: number;
  body: T;
  headers: Headers;
}

export interface TestServer {
  node: TeamNode;
  folder: string;
  /** Where `database` of the options leads. */
  database: string;
  /** Lines of the log; a test that expects none checks it. */
  log: string[];
  /** Rows of the database, as its owner sees them. */
  rows<T = Record<string, unknown>>(sql: string, params?: readonly (string | number)[]): Promise<T[]>;
  /** Names of the tables in which a text of any row is `id`. */
  everywhere(id: string): Promise<string[]>;
  /** Whether the chunk's file is there. */
  blob(sha256: string): Promise<boolean>;
  /** Files of a session's transcript that are on the disk. */
  transcripts(id: string): Promise<number>;
  /** Another node on the same database and bodies. */
  another(): Promise<TeamNode>;
  close(): Promise<void>;
}

/** What a server with repositories answers of other plugins' routes. */
export const readOffers = async () => (await serverPlugins(defaultPlugins(), true)).offers;

export async function openNode(
  database: string,
  folder: string,
  log: string[],
  options: Partial<NodeOptions> = {},
): Promise<TeamNode> {
  const config = await loadConfig({
    cwd: folder,
    env: { home: folder, platform: process.platform, env: {} },
    flags: { dataDir: join(folder, "data") },
  });
  const node = await createNode({
    database,
    blobs: join(folder, "blobs"),
    folder: join(folder, "node"),
    plugins: defaultPlugins(),
    config,
    log: (line) => {
      log.push(line);
      if (process.env.TEAM_LOG) process.stderr.write(`${line}\n`);
    },
    ...options,
  });
  node.listens("127.0.0.1", PORT);
  return node;
}

export async function startServer(engine: Engine, options: Partial<NodeOptions> = {}): Promise<TestServer> {
  const { database, stop } = await engine.open();
  const folder = await mkdtemp(join(tmpdir(), "sessarc-team-"));
  const log: string[] = [];
  const node = await openNode(database, folder, log, options);
  const others: TeamNode[] = [];
  return {
    node,
    folder,
    database,
    log,
    rows: (sql, params) => node.database.owner.all(sql, params),
    async everywhere(id) {
      const columns = await node.database.owner.all<{ t: string; c: string }>(
        `select table_name::text as t, column_name::text as c from information_schema.columns
         where table_schema = 'sessarc' and data_type = 'text' order by 1, 2`,
      );
      const found = new Set<string>();
      for (const { t, c } of columns)
        if (t !== "sqlite_master" && (await node.database.owner.get(`select 1 from ${t} where ${c} = ? limit 1`, [id])))
          found.add(t);
      return [...found];
    },
    blob: (sha256) => {
      const path = join(folder, "blobs", "files", "team", "blob", sha256.slice(0, 2), sha256);
      return access(path).then(
        () => true,
        () => false,
      );
    },
    async transcripts(id) {
      const { transcripts } = node;
      const keys = new Set(await transcripts.keys());
      return Array.from({ length: 20 }, (_, i) => transcripts.keyOf(id, i)).filter((key) => keys.has(key)).length;
    },
    async another() {
      const other = await openNode(database, folder, log, options);
      others.push(other);
      return other;
    },
    async close() {
      for (const one of [...others, node]) await one.close();
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a request to a node, without a socket. */
export async function ask<T = Record<string, unknown>>(
  node: TeamNode,
  method: string,
  path: string,
  {
    token,
    cookie,
    body,
    headers = {},
  }: { token?: string; cookie?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer<T>> {
  const isBytes = body instanceof Uint8Array;
  const answer = await node.app.fetch(
    new Request(`${ADDRESS}${path}`, {
      method,
      headers: {
        host: `127.0.0.1:${PORT}`,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(cookie && { cookie }),
        ...(body !== undefined && { "content-type": isBytes ? "application/gzip" : "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
    }),
  );
  const text = await answer.text();
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // a page
  }
  return { status: answer.status, body: parsed as T, headers: answer.headers };
}

/** A machine that has joined. */
export interface Machine {
  node: TeamNode;
  person: string;
  device: string;
  machine: string;
  privateKey: KeyObject;
  scopes: string[];
  spaces: { id: number; name: string; kind: string; mine: boolean }[];
  /** Its own private space. */
  mine: number;
  /** The team's space. */
  team: number;
  token: string;
  ask<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  /** Another token. */
  renew(): Promise<string>;
  push(session: TestSession, space?: number, extra?: object): Promise<Answer>;
}

export async function joinBy(
  node: TeamNode,
  link: string,
  name: string,
  machineName = `${name}'s laptop`,
  address = ADDRESS,
): Promise<Machine> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const invite = link.slice(link.indexOf("#") + 1);
  const joined = await ask<{
    person: { id: string };
    device: string;
    machine: string;
    scopes: string[];
    spaces: Machine["spaces"];
  }>(node, "POST", "/team/api/join", {
    body: { invite, name, machine: machineName, publicKey: publicKey.export({ format: "jwk" }).x },
  });
  if (joined.status !== 200) throw new Error(`joining answered ${joined.status} ${JSON.stringify(joined.body)}`);
  const { person, device, machine, scopes, spaces } = joined.body;
  const self: Machine = {
    node,
    person: person.id,
    device,
    machine,
    privateKey,
    scopes,
    spaces,
    mine: spaces.find((space) => space.mine)?.id ?? 0,
    team: spaces.find(({ kind }) => kind === "team")?.id ?? 0,
    token: "",
    ask: (method, path, body) =>
      ask(self.node, method, path, { token: self.token, ...(body !== undefined && { body }) }),
    async renew() {
      const answer = await ask<{ token: string }>(self.node, "POST", "/team/api/token", {
        body: tokenRequest(self, address),
      });
      if (answer.status !== 200) throw new Error(`no token: ${JSON.stringify(answer.body)}`);
      self.token = answer.body.token;
      return self.token;
    },
    async push(session, space = self.team, extra = {}) {
      for (const [sha256, bytes] of session.chunks) {
        const sent = await ask(self.node, "PUT", `/team/api/blobs/${sha256}`, {
          token: self.token,
          body: gzipSync(bytes),
        });
        if (sent.status !== 200) throw new Error(`a chunk answered ${JSON.stringify(sent.body)}`);
      }
      return self.ask("POST", "/team/api/sessions", { space, manifest: session.manifest, ...extra });
    },
  };
  await self.renew();
  return self;
}

export function tokenRequest(
  { device, privateKey }: Pick<Machine, "device" | "privateKey">,
  address = ADDRESS,
  at = new Date(),
) {
  const nonce = randomBytes(16).toString("base64url");
  const text = ["sessarc-team-token", address, device, at.toISOString(), nonce].join("\n");
  return {
    device,
    at: at.toISOString(),
    nonce,
    signature: sign(null, Buffer.from(text), privateKey).toString("base64url"),
  };
}

/** The owner, who joins by the link of the first start. */
export async function joinOwner(server: TestServer, name = "Olga"): Promise<Machine> {
  const link = await server.node.ownerLink();
  if (!link) throw new Error("a machine has joined already");
  return joinBy(server.node, link, name);
}

/** Invites a person, who joins. */
export async function invite(owner: Machine, name: string, options: object = {}): Promise<Machine> {
  const made = await owner.ask<{ link: string }>("POST", "/team/api/invites", { scopes: ["push", "read"], ...options });
  if (made.status !== 200) throw new Error(`inviting answered ${JSON.stringify(made.body)}`);
  return joinBy(owner.node, made.body.link, name);
}

export interface TestSession {
  manifest: Manifest;
  digest: string;
  chunks: Map<string, Buffer>;
}

export interface SessionOptions {
  id: string;
  texts: readonly string[];
  project?: string;
  title?: string;
  at?: string;
  parent?: string;
  /** Replies by hash of the local ledger: output tokens. */
  replies?: readonly (readonly [hash: number, output: number])[];
  /** When its log was made, ms. */
  born?: number;
  /** Name of a tool that it calls at its end. */
  tool?: string;
}

/** A session as a machine makes it of its archive. */
export function makeSession(options: SessionOptions): TestSession {
  const {
    id,
    texts,
    project = "acme",
    title,
    at = "2026-11-20T10:00:00.000Z",
    parent,
    replies = [],
    born = Date.parse(at),
  } = options;
  const tool = id.slice(0, id.indexOf(":"));
  const events = texts.map(
    (text, seq): SessionEvent => ({ seq, kind: seq % 2 === 0 ? "user" : "assistant", text, at, id: `${id}-${seq}` }),
  );
  if (options.tool !== undefined)
    events.push({
      seq: events.length,
      kind: "tool_use",
      text: "",
      at,
      tool_name: options.tool,
      tool_use_id: "call",
      model: options.tool,
    });
  const usage: SessionSummary["usage"] = {};
  const sum = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
  for (const [, output] of replies) {
    sum.output += output;
    sum.input += 10;
  }
  if (replies.length > 0) usage["claude-opus-4-5"] = sum;
  const slot = `${at.slice(0, 14)}${String(Math.floor(Number(at.slice(14, 16)) / 15) * 15).padStart(2, "0")}`;
  const chunks = new Map<string, Buffer>();
  const chunk = (lines: readonly unknown[]): string[] => {
    if (lines.length === 0) return [];
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    chunks.set(sha256, bytes);
    return [sha256];
  };
  const quarter = Math.floor(Date.parse(at) / 900_000);
  const manifest: Manifest = {
    version: 1,
    id,
    tool,
    toolLabel: tool,
    project: { kind: "repository", name: project, key: createHash("sha256").update(project).digest("hex") },
    name: null,
    summary: {
      ...(title !== undefined && { title }),
      ...(parent !== undefined && { parent }),
      startedAt: at,
      endedAt: at,
      usage,
      slots: replies.length > 0 ? { [slot]: structuredClone(usage) } : {},
      evidence: { records: replies.length, requests: replies.length, duplicatesFolded: 0, inheritedExcluded: 0 },
    },
    replies: chunk(replies.map(([hash, output]) => [hash, quarter, "claude-opus-4-5", 10, output, 0, 0, 0])),
    events: chunk(events),
    earlier: [],
    raw: [],
    log: null,
    born,
  };
  return { manifest, digest: toDigest(manifest), chunks };
}
