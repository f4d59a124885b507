/** Makes a project's answer from its facts and the ends of its last sessions. */
import type { Kernel } from "sessarc";
import type { Fact } from "../facts/contract.ts";
import { plainLine } from "../facts/text.ts";
import { type ProjectAnswer, toKey } from "./answer.ts";
import { commandLines, fileLines } from "./known.ts";
import type { Outcomes } from "./outcomes.ts";
import { type RecentSession, startLines } from "./start.ts";

export const DAY_MS = 86_400_000;
/** Facts that are older help with no command and no file any more. */
const MOST_DAYS = 60;
/** What is said at a session's start is of the last two weeks. */
const START_DAYS = 14;
const MOST_FACTS = 500;
const MOST_FOLDERS = 20;
/** Sessions whose ends are read. */
const MOST_READ = 5;

/** Undefined where nothing can be offered. `now`: ms. Reads the facts of 60 days, and five sessions. */
export async function buildAnswer(
  kernel: Kernel,
  projectId: string,
  outcomes: Outcomes,
  now: number,
): Promise<ProjectAnswer | undefined> {
  const { db } = kernel.storage;
  const since = now - MOST_DAYS * DAY_MS;
  const sessions = await db.all<RecentSession & { cwd: string | null; parent: string | null }>(
    `select id, coalesce(nullif(name, ''), nullif(title, ''), first_prompt, '') as title, cwd, parent_id as parent, sort_at as at
     from session where project_id = ? and sort_at >= ? order by sort_at desc limit 200`,
    [projectId, since],
  );
  if (sessions.length === 0) return undefined;
  const project = await db.get<{ path: string | null }>("select path from project where id = ?", [projectId]);
  const folders = [...new Set([project?.path, ...sessions.map(({ cwd }) => cwd)])]
    .filter((one) => typeof one === "string")
    .slice(0, MOST_FOLDERS);
  const facts = await kernel.inject("recall").facts({ projectId, since, limit: MOST_FACTS });
  const recent = sessions.filter(({ at, parent }) => parent === null && at >= now - START_DAYS * DAY_MS);
  const hide = (text: string) => kernel.inject("rules").hide(text);
  const ended = [];
  for (const { id, at, title } of recent.slice(0, MOST_READ)) {
    const { todos, last } = await outcomes.read(id);
    const shown = await Promise.all(todos.slice(0, 2).map((todo) => hide(plainLine(todo.slice(0, 1_000)))));
    ended.push({ id, at, title: await hide(plainLine(title.slice(0, 1_000))), todos: shown, more: todos.length, last });
  }
  const start = startLines(facts.filter(isSince(now - START_DAYS * DAY_MS)), ended);
  const commands = commandLines(facts);
  const cwds = new Map(sessions.map(({ id, cwd }) => [id, cwd]));
  const files = fileLines(facts, (path, session) => toKey(path, folders, cwds.get(session) ?? null));
  return { folders, start, commands, files };
}

const isSince =
  (since: number) =>
  ({ at }: Fact) =>
    at !== null && Date.parse(at) >= since;
