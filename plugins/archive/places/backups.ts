/** Copies of this home, and of an assistant's folder in it, where people and programs usually put them. */
import { basename, dirname, join, relative, sep } from "node:path";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { foldersIn, type Home, isFound, MOST, type OfferedHome, toolsIn, toPlaces } from "./neighbours.ts";

/** Where other programs show backups. */
export interface BackupPlaces {
  /** Below them mounted disks, each perhaps a restic mount (`snapshots/latest`). */
  mounts: readonly string[];
  /** Below it the disks of Time Machine. */
  volumes: string;
}

export const BACKUP_PLACES: BackupPlaces = { mounts: ["/mnt", "/media"], volumes: "/Volumes" };

/** `ann.bak`, `.claude.bak-2026-01-02`, `home_backup`, `.codex.old`. */
const COPY = /^(.+?)[._-](?:bak|backup|old|orig)(?:[._-].*)?$/i;

/** Backups with logs of an assistant that is not read there yet. Lists the home, the folder beside it and mounted disks. */
export async function findBackups(
  adapters: Iterable<Adapter>,
  env: AdapterEnv,
  read: readonly string[],
  places: BackupPlaces = BACKUP_PLACES,
): Promise<OfferedHome[]> {
  const all = [...adapters];
  const homes = (await copiesOf(env, places)).slice(0, MOST);
  const whole = await Promise.all(
    homes.map(async (home) => ({ ...home, tools: await toolsIn(home, all, read, env.platform) })),
  );
  const names = (await foldersIn(env.home)).filter((name) => COPY.test(name));
  const folders = await Promise.all(names.map((name) => folderOf(join(env.home, name), all, env, read)));
  return [...whole, ...folders].filter(({ tools }) => tools.length > 0);
}

/** Copies of the whole home. */
async function copiesOf({ home, platform }: AdapterEnv, { mounts, volumes }: BackupPlaces): Promise<Home[]> {
  const user = basename(home);
  const toHome = (path: string, name: string): Home => ({ system: "backup", name, user, path });
  const beside = (await foldersIn(dirname(home))).filter((name) => COPY.exec(name)?.[1] === user);
  const inside = (await foldersIn(home)).filter((name) => COPY.test(name) || /^backups?$/i.test(name));
  const found = [
    ...beside.map((name) => toHome(join(dirname(home), name), name)),
    ...inside.map((name) => toHome(join(home, name), name)),
  ];
  for (const mount of mounts)
    for (const disk of await foldersIn(mount))
      found.push(toHome(join(mount, disk, "snapshots", "latest", home), `restic: ${disk}`));
  if (platform !== "darwin") return found;
  for (const disk of await foldersIn(volumes))
    for (const machine of await foldersIn(join(volumes, disk, "Backups.backupdb")))
      for (const volume of await foldersIn(join(volumes, disk, "Backups.backupdb", machine, "Latest")))
        found.push(
          toHome(
            join(volumes, disk, "Backups.backupdb", machine, "Latest", volume, "Users", user),
            `Time Machine: ${disk}`,
          ),
        );
  return found;
}

/** A copy of one assistant's folder, which is in the place that its name says. */
async function folderOf(
  path: string,
  adapters: readonly Adapter[],
  env: AdapterEnv,
  read: readonly string[],
): Promise<OfferedHome> {
  const name = basename(path);
  const [, original = ""] = COPY.exec(name) ?? [];
  const tools: OfferedHome["tools"] = [];
  for (const adapter of adapters) {
    const inHome = toPlaces(() => adapter.roots(env)).map((root) => relative(env.home, root).split(sep));
    const added = toPlaces(() => adapter.at(path).roots(env));
    const roots = inHome
      .filter(([first, ...rest]) => first === original && rest.length > 0)
      .map(([, ...rest]) => join(path, ...rest))
      .filter((root) => added.includes(root) && !read.includes(root) && !read.includes(path));
    if ((await Promise.all(roots.map(isFound))).some(Boolean)) tools.push({ tool: adapter.name, label: adapter.label });
  }
  return { system: "backup", name, user: basename(env.home), path, tools };
}
