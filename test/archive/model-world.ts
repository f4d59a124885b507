/** A simple model of the archive, and the archive it is compared with. */
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import archive from "../../plugins/archive/index.ts";
import { projectId } from "../../plugins/archive/places/projects.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

export const FOLDERS = ["app", "lib"] as const;
const VIRTUAL = ["virtual:claude-code", "virtual:codex"] as const;
type Folder = (typeof FOLDERS)[number] | null;

export const LOGS: readonly { tool: "claude-code" | "codex"; folder: Folder }[] = [
  { tool: "claude-code", folder: "app" },
  { tool: "claude-code", folder: "app" },
  { tool: "claude-code", folder: "lib" },
  { tool: "claude-code", folder: null },
  { tool: "claude-code", folder: null },
  { tool: "codex", folder: null },
];
const toKey = (n: number) => `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`;
export const toId = (n: number) => `${LOGS[n]?.tool}:${toKey(n)}`;

export interface Log {
  folder: Folder;
  /** Its messages. */
  rows: string[];
  /** Grows with every change. */
  edition: number;
}
interface Archived {
  name: string | null;
  /** Every message that was ever imported of it: what a log no longer says stays. */
  rows: ReadonlySet<string>;
  edition: number;
  folder: Folder;
  origin: string;
}

export class Model {
  readonly logs: Log[] = LOGS.map(({ folder }) => ({ folder, rows: [], edition: 0 }));
  readonly archived = new Map<number, Archived>();
  readonly deleted = new Set<number>();
  /** Known projects and the names given to them. */
  readonly projects = new Map<string, string | null>();
  readonly associations = new Map<string, string>();
  readonly home: string;

  constructor(home: string) {
    this.home = home;
  }

  pathOf = (folder: string) => join(this.home, "work", folder);
  idOfFolder = (folder: string) => projectId(`path:${this.pathOf(folder)}`);
  /** Projects a command can name. */
  ids = () => [...FOLDERS.map(this.idOfFolder), ...VIRTUAL.map(projectId)];

  originOf(n: number, folder = (this.logs[n] as Log).folder): string {
    return folder === null ? projectId(`virtual:${LOGS[n]?.tool}`) : this.idOfFolder(folder);
  }
  /** Where an archived session is counted. */
  placeOf = (one: Archived) => this.associations.get(one.origin) ?? one.origin;
  /** The project a log is listed under. */
  groupOf(n: number): string {
    const one = this.archived.get(n);
    return one ? this.placeOf(one) : this.originOf(n);
  }
  logsIn = (ids: ReadonlySet<string>) => new Set(this.logs.flatMap((_, n) => (ids.has(this.groupOf(n)) ? [n] : [])));

  import(chosen: (n: number) => boolean, named = false): void {
    this.logs.forEach((log, n) => {
      if (!chosen(n) || (this.deleted.has(n) && !named)) return;
      const one = this.archived.get(n);
      if (one?.edition === log.edition) return;
      const folder = log.folder ?? one?.folder ?? null;
      const origin = this.originOf(n, folder);
      const rows = new Set([...(one?.rows ?? []), ...log.rows]);
      this.deleted.delete(n);
      this.archived.set(n, { name: one?.name ?? null, rows, edition: log.edition, folder, origin });
      if (!this.projects.has(origin)) this.projects.set(origin, null);
    });
  }

  remove(n: number): void {
    this.archived.delete(n);
    this.deleted.add(n);
  }

  removeProject(id: string): void {
    for (const [n, one] of [...this.archived]) if (this.placeOf(one) === id) this.remove(n);
    for (const [virtual, target] of [...this.associations]) if (target === id) this.associations.delete(virtual);
    // A project that is counted elsewhere stays known, so that it can be unlinked.
    if (!this.associations.has(id)) this.projects.delete(id);
  }

  linksOf = (id: string) => [...this.associations].filter(([virtual, target]) => virtual === id || target === id);
}

/** The archive under test: its logs and its kernel. */
export class Real {
  readonly home: string;
  kernel: TestKernel | undefined;
  /** Told when a log was read that is about to be stored. */
  whenRead: (() => Promise<void> | undefined) | undefined;
  #written = 0;

  constructor(home: string) {
    this.home = home;
  }

  async open(): Promise<void> {
    await this.kernel?.close();
    this.kernel = await createTestKernel({ home: this.home, plugins: [archive(), claude(), codex()] });
    this.kernel.kernel.hooks.hook("session:replace", () => this.whenRead?.());
  }

  async call<T = Record<string, unknown>>(method: string, path: string, body?: object) {
    if (!this.kernel) throw new Error("not open");
    return this.kernel.send<T>(method, `/api${path}`, body);
  }

  write(n: number, folder: Folder, rows: readonly string[], replace: boolean): void {
    const claudeLog = join(this.home, ".claude/projects/-x", `${toKey(n)}.jsonl`);
    const codexLog = join(this.home, ".codex/sessions/2026/11/01", `rollout-2026-11-01T10-00-00-${toKey(n)}.jsonl`);
    const isCodex = LOGS[n]?.tool === "codex";
    const path = isCodex ? codexLog : claudeLog;
    const cwd = folder === null ? {} : { cwd: join(this.home, "work", folder) };
    const timestamp = new Date(Date.now() - 3_600_000).toISOString();
    const lines = rows.map((text) =>
      isCodex
        ? { timestamp, type: "response_item", payload: message(text) }
        : { type: "user", uuid: text, timestamp, ...cwd, message: { role: "user", content: text } },
    );
    const head = isCodex && replace ? [{ timestamp, type: "session_meta", payload: { id: toKey(n), timestamp } }] : [];
    const text = [...head, ...lines].map((row) => `${JSON.stringify(row)}\n`).join("");
    mkdirSync(dirname(path), { recursive: true });
    if (replace) writeFileSync(path, text);
    else appendFileSync(path, text);
    const time = Date.now() / 1000 - 3600 + ++this.#written;
    utimesSync(path, time, time);
  }
}

const message = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
