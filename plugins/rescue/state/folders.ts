/** Folders that sessions worked in and that are not there any more, one row each. */
import { basename } from "node:path";
import { eachInLanes, type Kernel } from "sessarc";
import { isFolder } from "sessarc/files";
import type { States } from "./states.ts";

export interface GoneFolder {
  path: string;
  /** Sessions that a person started in it. */
  sessions: number;
  /** Of them, those that can be copied into another folder. */
  copyable: number;
  /** Their assistants, the one with most sessions first. */
  tools: string[];
  /** The end of the newest session, as ISO 8601. */
  endedAt: string | null;
  /** Where it may be now: the folder of its project, else a project's folder of the same name. */
  now: string | null;
}

interface Row {
  cwd: string;
  tool: string;
  project: string;
  n: number;
  stored: number;
  ended: string | null;
  sort_at: number;
}

/** Folders that are checked at once. */
const WIDTH = 16;

/** The folder of the newest session first. */
export async function readGoneFolders(kernel: Kernel, states: States): Promise<GoneFolder[]> {
  const { sql, params } = await states.condition("folder-gone");
  const rows = await kernel.storage.db.all<Row>(
    `select cwd, tool, project_id as project, count(*) as n, max(ended_at) as ended, max(sort_at) as sort_at,
       sum(exists (select 1 from rescue_log where rescue_log.session = session.id and files is not null)) as stored
       from session where coalesce(parent_id, '') = '' and ${sql} group by cwd, tool, project_id order by n desc`,
    params,
  );
  const places = await readPlaces(kernel);
  const folders = new Map<string, Row[]>();
  for (const row of rows) folders.set(row.cwd, [...(folders.get(row.cwd) ?? []), row]);
  const newest = (parts: readonly Row[]) => Math.max(...parts.map((part) => part.sort_at));
  return [...folders]
    .sort(([, a], [, b]) => newest(b) - newest(a))
    .map(([path, parts]) => ({
      path,
      sessions: sum(parts, ({ n }) => n),
      copyable: sum(parts, ({ tool, stored }) =>
        kernel.registry.adapters.get(tool)?.rescue?.copy === undefined ? 0 : stored,
      ),
      tools: [...new Set(parts.map(({ tool }) => tool))],
      endedAt:
        parts
          .flatMap(({ ended }) => ended ?? [])
          .sort()
          .at(-1) ?? null,
      now:
        (
          places.find(({ id }) => parts.some(({ project }) => project === id)) ??
          places.find((place) => basename(place.path) === basename(path))
        )?.path ?? null,
    }));
}

const sum = (rows: readonly Row[], count: (row: Row) => number) => rows.reduce((all, row) => all + count(row), 0);

/** Folders of projects that are there. */
async function readPlaces(kernel: Kernel): Promise<{ id: string; path: string }[]> {
  const known = await kernel.storage.db.all<{ id: string; path: string }>(
    "select id, path from project where path is not null order by path",
  );
  const there = new Set<string>();
  await eachInLanes(known, WIDTH, async ({ id, path }) => {
    if (await isFolder(path)) there.add(id);
  });
  return known.filter(({ id }) => there.has(id));
}
