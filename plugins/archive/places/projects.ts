/** Which project a session belongs to: one repository or folder across all tools, worktrees and subfolders folded in. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, sep, win32 } from "node:path";
import type { Database, SessionSummary, Statement } from "sessarc";
import type { ProjectRow } from "../catalogue/types.ts";
import { createTreeRecords } from "./gone-trees.ts";
import { isWindowsPath, spellingKey } from "./spelling.ts";

/** What the git plugin tells about a folder; without it every folder stands for itself. */
interface FolderIdentity {
  kind: "repository" | "folder" | "missing";
  /** Root of the main work tree. */
  root?: string | undefined;
  rootCommits?: readonly string[] | undefined;
}
type Identify = (path: string) => Promise<FolderIdentity>;

interface Identity {
  kind: ProjectRow["kind"];
  key: string;
  path: string | null;
  rootCommit: string | null;
  name: string;
}

/** Folders that tools put work trees in: the part before them is the repository, even if the folder is gone. */
const WORKTREE = /^(.+?)[\\/]\.(?:claude[\\/])?worktrees[\\/][^\\/]+/;
/** Folders of work trees beside a repository, named after it: `app.worktrees/x`, `app__worktrees/x`. */
const BESIDE = /^(.+?)(?:\.|__?|--?)worktrees?[\\/].+$/;
/** One folder for the work trees of all repositories beside it: `worktrees/app/x`. */
const SHARED = /^(.+)[\\/]worktrees?[\\/]([^\\/]+)[\\/].+$/;
/** Those of an assistant below its own folder, `~/.cursor/worktrees/app/x` or `~/.codex/worktrees/x/app`: one of the two names is the repository's. */
const OF_TOOL = /[\\/]\.[^\\/]+[\\/]worktrees[\\/]([^\\/]+)[\\/]([^\\/]+)/;

export interface ProjectResolver {
  /** The project of a session; asks the file system once per folder. */
  identify(
    tool: { name: string; label: string },
    summary: Pick<SessionSummary, "cwd" | "virtualProject">,
  ): Promise<Identity>;
  /** Id of the project for `identity`, and what must be written when it is new or has moved. */
  resolve(identity: Identity): Promise<{ id: string; write: Statement[] }>;
  /** The same, writing what a running import may not have stored yet. */
  ensure(identity: Identity): Promise<{ id: string; write: Statement }>;
  /** Id of the project for `identity`, known or not; nothing is to be written. */
  idOf(identity: Identity): Promise<string>;
  /** Id of another project that a folder of work trees belongs to, as far as it is known by now. */
  projectOfWorktree(path: string): Promise<string | undefined>;
  /** Forgets what was looked up: folders come and go. */
  reset(): void;
}

export function createResolver(db: Database, identify: Identify | undefined): ProjectResolver {
  const folders = new Map<string, Promise<Identity>>();
  const repositories = new Set<string>();
  const trees = createTreeRecords();
  /** Repositories and folders by the last part of their path. */
  const byName = new Map<string, { kind: string; path: string }[]>();
  /** Ids of keys that the archive does not know: asked for with each log of a scan. */
  const fresh = new Map<string, string>();
  let known: Map<string, string> | undefined;

  async function load(): Promise<Map<string, string>> {
    if (known) return known;
    const map = new Map<string, string>();
    repositories.clear();
    byName.clear();
    type Row = Pick<ProjectRow, "key" | "id" | "kind" | "path">;
    for (const row of await db.all<Row>("select key, id, kind, path from project order by created_at")) {
      map.set(row.key, row.id);
      // A project of an earlier version is known by its first spelling.
      if (row.path !== null && !map.has(toKey(row.path))) map.set(toKey(row.path), row.id);
      if (row.kind === "repository") repositories.add(row.key);
      remember(row);
    }
    for (const row of await db.all<{ path: string; project_id: string }>(
      "select path, project_id from project_alias",
    )) {
      if (!map.has(toKey(row.path))) map.set(toKey(row.path), row.project_id);
    }
    known = map;
    return map;
  }

  function remember({ kind, path }: Pick<ProjectRow, "kind" | "path">): void {
    if (path === null || path.includes("worktrees")) return;
    const name = toName(path);
    byName.set(name, [...(byName.get(name) ?? []), { kind, path }]);
  }

  /** The repository of a work tree that is gone: beside its folder, else the one project of its name. */
  async function findRepository(cwd: string): Promise<string | undefined> {
    if (existsSync(cwd)) return undefined;
    const [, beside] = BESIDE.exec(cwd) ?? [];
    const [, parent, name] = SHARED.exec(cwd) ?? [];
    await load();
    for (const path of [beside, parent && name && `${parent}${cwd.includes("\\") ? "\\" : "/"}${name}`])
      if (path && (repositories.has(toKey(path)) || (await identify?.(path))?.kind === "repository")) return path;
    const recorded = trees.repositoryOf(cwd) ?? (await findEarlier(db, cwd));
    if (recorded !== undefined) return recorded;
    const names = OF_TOOL.exec(cwd)?.slice(1) ?? [];
    const named = names.flatMap((one) => byName.get(one) ?? []);
    const known = named.filter(({ kind }) => kind === "repository");
    const [only, ...others] = known.length > 0 ? known : named;
    return others.length === 0 ? only?.path : undefined;
  }

  async function identifyFolder(cwd: string): Promise<Identity> {
    const found = await identify?.(cwd);
    if (found?.kind === "repository" && found.root) {
      return {
        kind: "repository",
        key: toKey(found.root),
        path: found.root,
        rootCommit: found.rootCommits?.[0] ?? null,
        name: toName(found.root),
      };
    }
    const folded = WORKTREE.exec(cwd)?.[1];
    if (folded) return identifyFolder(folded);
    const repository = await findRepository(cwd);
    if (repository !== undefined) return identifyFolder(repository);
    await load();
    const path = knownParent(cwd, repositories) ?? cwd;
    return { kind: "folder", key: toKey(path), path, rootCommit: null, name: toName(path) };
  }

  return {
    identify(tool, { cwd, virtualProject }) {
      if (cwd === undefined || cwd === "" || !(isAbsolute(cwd) || isWindowsPath(cwd))) {
        const scope = virtualProject?.shared ? "shared" : `virtual:${tool.name}`;
        const key = virtualProject ? `${scope}:${virtualProject.key}` : scope;
        return Promise.resolve({
          kind: "virtual",
          key,
          path: null,
          rootCommit: null,
          name: virtualProject?.name ?? `${tool.label} (no folder)`,
        });
      }
      const path = trimSlash(cwd);
      const key = spellingKey(path);
      let identity = folders.get(key);
      if (!identity) {
        identity = identifyFolder(path);
        folders.set(key, identity);
      }
      return identity;
    },

    async projectOfWorktree(path) {
      const folded = WORKTREE.exec(path)?.[1] ?? (await findRepository(path));
      return folded === undefined ? undefined : (await load()).get((await identifyFolder(folded)).key);
    },

    async resolve(identity) {
      const map = await load();
      const id = map.get(identity.key);
      if (id) return { id, write: [] };
      const moved = identity.rootCommit ? await findMoved(db, identity) : undefined;
      if (moved) {
        map.set(identity.key, moved.id);
        return {
          id: moved.id,
          write: [
            [
              "insert into project_alias (path, project_id) values (?, ?) on conflict (path) do update set project_id = excluded.project_id",
              [identity.path, moved.id],
            ],
            [
              "insert into project_alias (path, project_id) values (?, ?) on conflict (path) do update set project_id = excluded.project_id",
              [moved.path, moved.id],
            ],
            ["update project set path = ?, derived_name = ? where id = ?", [identity.path, identity.name, moved.id]],
          ],
        };
      }
      const fresh = projectId(identity.key);
      map.set(identity.key, fresh);
      if (identity.kind === "repository") repositories.add(identity.key);
      remember(identity);
      return { id: fresh, write: [insertion(fresh, identity)] };
    },

    async ensure(identity) {
      const id = await this.idOf(identity);
      return { id, write: insertion(id, identity) };
    },

    async idOf(identity) {
      const moved = async () => (identity.rootCommit ? (await findMoved(db, identity))?.id : undefined);
      const { key } = identity;
      const known = (await load()).get(key) ?? (await moved()) ?? fresh.get(key);
      if (known) return known;
      const id = projectId(key);
      fresh.set(key, id);
      return id;
    },

    reset() {
      folders.clear();
      fresh.clear();
      trees.reset();
      known = undefined;
    },
  };
}

const insertion = (id: string, { kind, key, path, rootCommit, name }: Identity): Statement => [
  "insert into project (id, kind, key, path, root_commit, derived_name, created_at) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  [id, kind, key, path, rootCommit, name, new Date().toISOString()],
];

/** Stable over imports and machines with the same paths. */
export function projectId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 12);
}

/** The repository that other sessions in this folder were in when the folder was there. */
async function findEarlier(db: Database, cwd: string): Promise<string | undefined> {
  const rows = await db.all<{ path: string }>(
    `select distinct p.path from session s join project p on p.id = s.origin_id
      where p.kind = 'repository' and p.path is not null and s.cwd = ?`,
    [cwd],
  );
  const [only, ...others] = rows.filter(({ path }) => path !== cwd && existsSync(path));
  return others.length === 0 ? only?.path : undefined;
}

/** The same repository at a path that is gone: it was moved. Two clones that both exist are two projects. */
async function findMoved(db: Database, identity: Identity): Promise<{ id: string; path: string } | undefined> {
  const rows = await db.all<{ id: string; path: string }>(
    "select id, path from project where kind = 'repository' and root_commit = ? and path is not null",
    [identity.rootCommit],
  );
  const gone = rows.filter((row) => !existsSync(row.path));
  return gone.length === 1 ? gone[0] : undefined;
}

/** A folder that is gone belongs to the repository it was in. */
function knownParent(cwd: string, known: ReadonlySet<string>): string | undefined {
  if (existsSync(cwd)) return undefined;
  const up = isWindowsPath(cwd) ? win32.dirname : dirname;
  for (let path = up(cwd); path !== up(path); path = up(path)) if (known.has(toKey(path))) return path;
  return undefined;
}

/** Names a project by its folder. */
const toKey = (path: string) => `path:${spellingKey(path)}`;
const trimSlash = (path: string) =>
  path.length > 1 && (path.endsWith(sep) || (isWindowsPath(path) && /[^:][\\/]$/.test(path)))
    ? path.slice(0, -1)
    : path;
const toName = (path: string) => basename(path.replaceAll("\\", "/")) || path;
