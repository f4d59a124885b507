import { definePlugin, type Nothing, type RoutesOf } from "sessarc";
import { createGit, type Git, type GitOptions } from "./git.ts";
import type { Witness } from "./history/choose.ts";
import { routes } from "./routes.ts";
import { createWitnesses, type Moment } from "./witness/witness.ts";

export type { CommitAt, Git, GitOptions, TreeAt, TreeChange, TreeFile } from "./git.ts";
export type { AddingCommit, AddingCommits } from "./history/added.ts";
export type { BlameAt, BlamedFile, LineCommit } from "./history/blame.ts";
export type { ChangeStatus } from "./history/changes.ts";
export type { SeenFile, Witness } from "./history/choose.ts";
export type { FileAt } from "./history/file.ts";
export type { FileChange } from "./history/file-changes.ts";
export type { Commit } from "./history/objects.ts";
export type { CommitPatch, FilePatch, PatchQuery } from "./history/patches.ts";
export type { Identity, IdentityOptions } from "./repository/identity.ts";
export type { GitInfo, GitStatus, StatusOptions } from "./repository/status.ts";
export { routes };

type SessionRow = Parameters<ReturnType<typeof createWitnesses>>[0];

export type { Moment };

/** What the configuration may set. */
export type GitPluginOptions = Pick<GitOptions, "binary" | "maxProcesses" | "idleMs" | "timeoutMs"> | undefined;

export default definePlugin((options: GitPluginOptions) => ({
  name: "git",
  routes,
  setup(kernel) {
    const { storage } = kernel;
    const git = createGit({
      ...options,
      env: { ...process.env, HOME: kernel.env.home },
      pool: kernel.pool,
      counts: storage.readOnly
        ? undefined
        : {
            store: storage.derived("git"),
            onError: (error) => void kernel.notify("listener:failed", error, { hook: "git" }),
          },
    });
    kernel.provide("git", { ...git, witness: createWitnesses(() => kernel.inject("archive")) });
    kernel.onClose(() => git.close());
  },
}));

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    git: Git & {
      /** What an archived session's log shows of its repository at a message, its start or its end. Reads nothing until it is asked. */
      witness(row: SessionRow, moment: Moment): Witness;
    };
  }
  interface ErrorParams {
    NO_REPOSITORY: { project: string };
    COMMIT_NOT_FOUND: { commit: string };
    FILE_NOT_FOUND: { commit: string; path: string };
    OBJECT_MISSING: { hash: string };
    GIT_MISSING: Nothing;
    GIT_FAILED: { command: string };
    GIT_TIMEOUT: { command: string; ms: number };
  }
}
