/** What replay reads of an archived session: its plan, its folder, the commits around it. */
import { realpath } from "node:fs/promises";
import { createCache, type Kernel, type Services, SessarcError } from "sessarc";
import { insideRoot, toRoot } from "./plan/paths.ts";
import { buildPlan } from "./plan/plan.ts";
import type { Plan } from "./plan/types.ts";
import { branchAt } from "./sandbox/branch.ts";

type Archive = Services["archive"];
type Row = Awaited<ReturnType<Archive["get"]>>;

export interface Base {
  commit: string;
  /** Of the commit, ISO 8601. */
  at: string;
}

/** Where a session's files were. */
interface SessionPlace {
  /** The session's folder as the log names it; null when the log names none. */
  root: string | null;
  /** A folder of the repository on this machine; null without one. */
  repository: string | null;
}

interface SessionReader {
  session(id: string): Promise<Row>;
  place(row: Row): Promise<SessionPlace>;
  /** Cached for the sessions asked last; rebuilt when one is imported again. */
  plan(row: Row): Promise<Plan>;
  /** The branch that was checked out at the session's start; null where nothing names one. */
  branch(row: Row): Promise<string | null>;
  /** The newest commit at or before the session's start. */
  base(row: Row): Promise<Base | null>;
  /** The commit the session led to: the newest at its end if it made one, else the first one after it. */
  outcome(row: Row, base: Base): Promise<Base | null>;
}

const KEPT = 8;

export function createSessionReader(kernel: Kernel): SessionReader {
  const plans = createCache<Plan>(KEPT);
  const archive = () => kernel.inject("archive");
  const git = () => kernel.find("git");

  async function place(row: Row): Promise<SessionPlace> {
    const projectPath = await archive().projectPath(row.projectId);
    const cwd = row.cwd ?? projectPath;
    const identity = cwd === null ? undefined : await git()?.identity(cwd, { rootCommits: false });
    if (cwd !== null && identity?.kind === "repository" && !identity.bare && identity.worktree !== null) {
      const below = insideRoot(await realpath(cwd), identity.worktree);
      if (below !== undefined) return { root: toRoot(cwd, below), repository: cwd };
    }
    // The folder is gone (a removed worktree, another machine's log): the project's repository still has its history.
    const project = projectPath === null ? undefined : await git()?.identity(projectPath, { rootCommits: false });
    const repository = project?.kind === "repository" ? projectPath : null;
    const inside = repository !== null && cwd !== null && insideRoot(cwd, repository) !== undefined;
    return { root: inside ? repository : cwd, repository };
  }

  async function make(row: Row): Promise<Plan> {
    const { root } = await place(row);
    const all = await readFamily(row);
    const sources = all.map((member) => ({
      id: member.id === row.id ? null : member.id,
      adapter: archive().adapter(member.tool),
      cwd: member.cwd ?? row.cwd,
      events: archive().events(member),
    }));
    return buildPlan(sources, root);
  }

  /** The session, then its sub-agents and theirs. */
  async function readFamily(row: Row): Promise<Row[]> {
    const rows = [row];
    for (const parent of rows) {
      const children = await kernel.storage.db.all<{ id: string }>(
        "select id from session where parent_id = ? order by id",
        [parent.id],
      );
      for (const { id } of children) if (!rows.some((known) => known.id === id)) rows.push(await archive().get(id));
    }
    return rows;
  }

  async function commit(repository: string | null, task: (git: Services["git"], path: string) => Promise<Base | null>) {
    const service = git();
    if (repository === null || !service) return null;
    try {
      return await task(service, repository);
    } catch (error) {
      if (error instanceof SessarcError && ["NO_REPOSITORY", "GIT_MISSING"].includes(error.code)) return null;
      throw error;
    }
  }

  return {
    session: (id) => archive().get(id),
    place,
    plan: async (row) => plans.get(row.id, () => make(row), `${archive().generation} ${row.revision}`),
    async branch(row) {
      const { repository } = await place(row);
      const identity = repository === null ? undefined : await git()?.identity(repository, { rootCommits: false });
      const left =
        identity?.kind === "repository" && row.startedAt !== null
          ? await branchAt(identity.gitDir, row.startedAt)
          : null;
      return left ?? row.gitBranch;
    },
    async base(row) {
      const { startedAt: start } = row;
      if (start === null) return null;
      return commit((await place(row)).repository, async (service, path) => {
        const { commit: found } = await service.commitAt(path, start, service.witness(row, "start"));
        return found && { commit: found.hash, at: found.at };
      });
    },
    async outcome(row, base) {
      const end = row.endedAt ?? row.startedAt;
      if (end === null) return null;
      return commit((await place(row)).repository, async (service, path) => {
        const witness = service.witness(row, "end");
        const { commit: at } = await service.commitAt(path, end, witness);
        const found = at && at.hash !== base.commit ? at : await service.commitAfter(path, end, witness);
        return found && { commit: found.hash, at: found.at };
      });
    },
  };
}
