/** What the newest sessions of a project say of mistakes. */
import { type Kernel, mustYield, yieldNow } from "sessarc";
import { readSession, type SessionReading } from "./session.ts";

/** Days and sessions of a project that are read, the newest. */
const DAYS = 90;
export const MOST_SESSIONS = 300;
const DAY_MS = 86_400_000;

export interface ProjectReading {
  sessions: SessionReading[];
  /** Older ones were not read. */
  isCut: boolean;
}

/** Reads each session once. Sub-agents are read for their commands. `since`: ms; default 90 days ago. */
export async function readProject(kernel: Kernel, project: string, since?: number): Promise<ProjectReading> {
  const archive = kernel.inject("archive");
  const rows = await archive.list({ project, since: since ?? Date.now() - DAYS * DAY_MS, limit: MOST_SESSIONS + 1 });
  const sessions: SessionReading[] = [];
  for (const { id } of rows.slice(0, MOST_SESSIONS)) {
    const session = await archive.find(id);
    // It was deleted meanwhile.
    if (!session) continue;
    sessions.push(await readSession(kernel, session));
    if (mustYield()) await yieldNow();
  }
  return { sessions, isCut: rows.length > MOST_SESSIONS };
}
