/** The sandbox beside the commit the session led to. */
import { createHash } from "node:crypto";
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { type Services, SessarcError } from "sessarc";
import { findHead, findTree } from "./sandbox/repository.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { Base } from "./session.ts";

export interface EndState {
  /** Null when the session led to no commit that is known. */
  commit: Base | null;
  /** Files that the session's steps, or the commits since its start, changed. `extra`: only in the sandbox. `missing`: only in the commit. */
  files: { path: string; state: "same" | "differs" | "missing" | "extra" }[];
  same: number;
  differs: number;
  missing: number;
  extra: number;
  /** What the sandbox's own repository led to; null when no command made commits in it. */
  head: {
    commit: string;
    branch: string | null;
    /** Whether its tree is the tree of `commit`, file for file; null when the session led to no commit that is known. */
    sameTree: boolean | null;
  } | null;
}

interface EndStateRequest {
  sandbox: Sandbox;
  git: Services["git"] | undefined;
  repository: string | null;
  base: Base | null;
  outcome: Base | null;
  /** Files to compare beside those that the commits since the start changed. */
  paths: Iterable<string>;
}

export async function compareTrees(request: EndStateRequest): Promise<EndState> {
  const { sandbox, git, repository, base, outcome } = request;
  const head = await committed(sandbox, base, outcome);
  const none = { commit: outcome, files: [], same: 0, differs: 0, missing: 0, extra: 0, head };
  if (!git || repository === null || !base || !outcome) return { ...none, commit: null };
  const [before, after] = await Promise.all([
    git.hashesAt(repository, base.commit),
    git.hashesAt(repository, outcome.commit),
  ]);
  const paths = new Set(request.paths);
  for (const path of new Set([...before.keys(), ...after.keys()]))
    if (before.get(path) !== after.get(path)) paths.add(path);
  const state: EndState = none;
  const bytes = outcome.commit.length === 64 ? "sha256" : "sha1";
  for (const path of [...paths].sort()) {
    const wanted = after.get(path);
    const here = await blobHash(sandbox, path, bytes);
    if (wanted === undefined && here === undefined) continue;
    const verdict =
      wanted === undefined ? "extra" : here === undefined ? "missing" : here === wanted ? "same" : "differs";
    state.files.push({ path, state: verdict });
    state[verdict]++;
  }
  return state;
}

async function committed(sandbox: Sandbox, base: Base | null, outcome: Base | null): Promise<EndState["head"]> {
  const head = await findHead(sandbox.path);
  if (!head || head.commit === base?.commit) return null;
  const wanted = outcome ? await findTree(sandbox.path, outcome.commit) : undefined;
  return { commit: head.commit, branch: head.branch, sameTree: wanted === undefined ? null : wanted === head.tree };
}

/** As git hashes the content; undefined when there is no file. */
async function blobHash(sandbox: Sandbox, path: string, algorithm: "sha1" | "sha256"): Promise<string | undefined> {
  try {
    const target = await readlink(join(sandbox.path, path)).catch(() => undefined);
    const data = target === undefined ? (await sandbox.tree.read(path))?.data : Buffer.from(target);
    return data && createHash(algorithm).update(`blob ${data.length}\0`).update(data).digest("hex");
  } catch (error) {
    // A folder or device has the name of the commit's file.
    if (error instanceof SessarcError) return undefined;
    throw error;
  }
}
