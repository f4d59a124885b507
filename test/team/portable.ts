/** Sessions of one archive, written as they leave a machine and imported by another archive. */
import { join } from "node:path";
import type { Services, SessionRef } from "sessarc";
import type { Adapter, AdapterPlugin } from "sessarc/adapter";
import type { SessionFacts } from "../../plugins/archive/index.ts";
import type { Manifest } from "../../plugins/team/index.ts";
import { readText, textsToImport } from "../../plugins/team/portable/read.ts";
import { toPortable, writeSession } from "../../plugins/team/portable/write.ts";
import type { TestKernel } from "../kernel.ts";

/** Inflated chunks by their SHA-256. */
export type Chunks = Map<string, Buffer>;

/** All sessions of an archive. */
export async function writeAll(t: TestKernel, chunks: Chunks): Promise<Manifest[]> {
  const archive = t.kernel.inject("archive");
  const rows = await t.kernel.storage.db.all<{ id: string }>("select id from session order by id");
  const manifests: Manifest[] = [];
  for (const { id } of rows) manifests.push(await write(archive, id, chunks));
  return manifests;
}

export async function write(archive: Services["archive"], id: string, chunks: Chunks): Promise<Manifest> {
  const row = await archive.get(id);
  const { summary, born, texts } = await archive.asLogged(id);
  const project = await archive.project(row.projectId);
  const { kind, key } = project.identity;
  const head = {
    id,
    tool: row.tool,
    toolLabel: archive.adapter(row.tool)?.label ?? row.tool,
    project: { kind, name: project.name, key },
    name: row.name,
    born,
    summary: toPortable(summary),
  };
  const read = texts.map((parts) => archive.events({ id, parts }));
  return writeSession(head, summary.replies ?? [], read, ({ sha256, bytes }) => void chunks.set(sha256, bytes));
}

/** A session that was pushed from a machine. */
export interface Pushed {
  machine: string;
  manifest: Manifest;
}

/** What has arrived, and the adapters that read it, as a server has them. */
export class Arrivals {
  readonly chunks: Chunks;
  readonly #known = new Map<string, Manifest>();
  readonly #now = new Map<string, { pushed: Pushed; text: number; version: number }>();
  #version = 0;

  constructor(chunks: Chunks) {
    this.chunks = chunks;
  }

  /** `like` with what has arrived instead of logs. */
  adapter(like: AdapterPlugin): AdapterPlugin {
    const { adapter } = like;
    const here: Adapter = {
      ...adapter,
      roots: ({ home }) => [join(home, "..")],
      scan: () => this.#scan(adapter.name),
      read: (ref) => {
        const one = this.#now.get(`${ref.tool}:${ref.key}`);
        if (!one) throw new Error(`${ref.key} has not arrived`);
        return readText(one.pushed.manifest, one.text, async (sha256) => this.#chunk(sha256), {
          key: (key) => toKey(one.pushed.machine, key),
        });
      },
      async *readMany(refs, env) {
        for (const ref of refs) yield [ref, here.read(ref, env)];
      },
      appends: () => false,
      at: () => here,
    };
    return { name: like.name, adapter: here };
  }

  /** Imports a session, one text after the other. */
  async take(t: TestKernel, pushed: Pushed): Promise<void> {
    const { manifest, machine } = pushed;
    const id = serverId(machine, manifest);
    for (const text of textsToImport(this.#known.get(id), manifest)) {
      this.#now.set(id, { pushed, text, version: ++this.#version });
      await t.json("/api/scan");
      const { status, body } = await t.send<{ failed: unknown[] }>("POST", "/api/import", { sessions: [id] });
      if (status !== 200 || body.failed.length > 0) throw new Error(JSON.stringify(body));
    }
    this.#known.set(id, manifest);
  }

  #chunk(sha256: string): Buffer {
    const bytes = this.chunks.get(sha256);
    if (!bytes) throw new Error(`no chunk ${sha256}`);
    return bytes;
  }

  async *#scan(tool: string): AsyncGenerator<SessionRef> {
    for (const { pushed, version } of this.#now.values()) {
      const { manifest, machine } = pushed;
      if (manifest.tool !== tool) continue;
      const key = toKey(machine, manifest.id.slice(tool.length + 1));
      yield {
        tool,
        key,
        path: `/pushed/${tool}/${key}`,
        born: manifest.born,
        version: String(version),
        exclusive: true,
        size: 0,
        mtime: 0,
      };
    }
  }
}

const toKey = (machine: string, key: string) => (machine === "" ? key : `${machine}~${key}`);
export const serverId = (machine: string, { id, tool }: Manifest) =>
  `${tool}:${toKey(machine, id.slice(tool.length + 1))}`;

/** What is counted and shown of each session. */
export async function readCounted(t: TestKernel) {
  const rows = await t.kernel.storage.db.all<Record<string, string | number | null>>(
    `select id, parent_id, forked_from, title, first_prompt, git_branch, copied, message_count, error_count, active_ms, usage, inherited,
       evidence, logged, skipped, started_at, ended_at, lineage >= 8 as open from session order by id`,
  );
  const parsed = new Set(["usage", "inherited", "evidence", "logged", "skipped"]);
  const all: ({ facts: SessionFacts } & Record<string, unknown>)[] = [];
  for (const row of rows) {
    const values = Object.entries(row).map(([name, value]) => [
      name,
      parsed.has(name) ? JSON.parse(String(value)) : value,
    ]);
    all.push({ ...Object.fromEntries(values), facts: await t.kernel.inject("archive").facts(String(row.id)) });
  }
  return all;
}

/** Messages of all texts of a session, oldest text first. */
export async function readMessages(t: TestKernel, id: string) {
  const archive = t.kernel.inject("archive");
  const { texts } = await archive.asLogged(id);
  const all = [];
  for (const parts of texts) {
    const events = [];
    for await (const batch of archive.events({ id, parts })) events.push(...batch);
    all.push(events);
  }
  return all;
}
