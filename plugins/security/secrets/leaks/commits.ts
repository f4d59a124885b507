/** Commits that added a secret, in the repositories of its projects. */
import { isSessarcError, type Kernel, type PoolTask, type SessionEvent } from "sessarc";
import type { LeakCommits } from "./types.ts";

const VALUE: PoolTask<[SessionEvent, string], string | undefined> = {
  specifier: "sessarc/plugins/security/secrets/leaks/value",
  export: "valueIn",
  inline: async (event, id) => (await import("./value.ts")).valueIn(event, id),
};

export async function commitsOf(kernel: Kernel, id: string, signal?: AbortSignal): Promise<LeakCommits> {
  const value = await readValue(kernel, id);
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

/** The longest line of a secret; undefined where no archived message holds it any more. */
async function readValue(kernel: Kernel, id: string): Promise<string | undefined> {
  const place = await kernel.storage.db.get<{ session: string; seq: number }>(
    "select session, seq from security_leak where fingerprint = ? order by last_at desc limit 1",
    [id],
  );
  if (!place) return undefined;
  const archive = kernel.inject("archive");
  for await (const events of archive.events(await archive.get(place.session), place.seq)) {
    const event = events.find(({ seq }) => seq === place.seq);
    const value = event && (await kernel.pool.run(VALUE, event, id));
    return value?.split("\n").sort((a, b) => b.length - a.length)[0];
  }
  return undefined;
}
