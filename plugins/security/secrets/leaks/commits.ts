/** Commits that added a secret, in the repositories of its projects. */
import { isSessarcError, type Kernel } from "sessarc";
import { readValue } from "./read-value.ts";
import type { LeakCommits } from "./types.ts";

export async function commitsOf(kernel: Kernel, id: string, signal?: AbortSignal): Promise<LeakCommits> {
  // A line is what a commit adds: the longest one.
  const value = (await readValue(kernel, id))?.split("\n").sort((a, b) => b.length - a.length)[0];
  const found: LeakCommits = { commits: [], partial: value === undefined };
  if (value === undefined) return found;
  const projects = await kernel.storage.db.all<{ id: string; path: string }>(
    `select distinct p.id, p.path from security_leak l join session s on s.id = l.session join project p on p.id = s.project_id
     where l.fingerprint = ? and p.path is not null`,
    [id],
  );
  for (const project of projects)
    try {
      const { commits, partial } = await kernel.inject("git").commitsAdding(project.path, value, signal);
      found.commits.push(...commits.map((one) => ({ projectId: project.id, ...one })));
      found.partial ||= partial;
    } catch (error) {
      if (!isSessarcError(error)) throw error;
      // A folder without a repository holds no commits; what git cannot read is unknown.
      if (error.code !== "NO_REPOSITORY") found.partial = true;
    }
  return found;
}
