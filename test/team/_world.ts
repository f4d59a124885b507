/** The same sessions in a local archive and in a team's database, for tests that compare the two. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database, Kernel, Storage } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import { createKernel, loadConfig, type PluginEntry } from "sessarc/serve";
import { createBlobs } from "../../core/storage/blobs.ts";
import { createDerived } from "../../core/storage/derived.ts";
import { durableFs } from "../../core/storage/durable-fs.ts";
import { createTranscripts } from "../../core/storage/transcripts.ts";
import { openTeamDatabase } from "../../plugins/team/database/index.ts";
import { teamSearch } from "../../plugins/team/database/search.ts";
import type { TeamDatabase } from "../../plugins/team/index.ts";
import { createTestKernel, type TestKernel, testEnv } from "../kernel.ts";
import type { Engine } from "./postgres.ts";

/** Plugins that make no sense on a server: they work on the machine's files. */
const LOCAL = new Set(["live", "rescue", "replay", "rules", "feedback", "demo", "dashboard", "team", "statusline"]);
export const serverPlugins = (): PluginEntry[] =>
  defaultPlugins().filter(({ specifier }) => !LOCAL.has(specifier.split("/").at(-1) ?? ""));

export interface World {
  local: TestKernel;
  team: TeamDatabase;
  /** A local archive over the same logs that has only these sessions. */
  localOf(ids: readonly string[]): Promise<TestKernel>;
  /** What the kernels over the team's database logged. */
  lines: string[];
  /** A kernel over the team's database as `db` shows it. */
  kernel(db: Database, readOnly?: boolean): Promise<Kernel>;
  close(): Promise<void>;
}

export const TENANT = 1;

/** A new, empty team's database. */
export async function openTeam(engine: Engine): Promise<{ team: TeamDatabase; stop(): Promise<void> }> {
  const { database, stop } = await engine.open();
  return { team: await openTeamDatabase({ database }), stop };
}

/** Applies the migrations of all plugins that run on a server. */
export async function migrateAll(team: TeamDatabase): Promise<void> {
  for (const entry of serverPlugins()) {
    const plugin = (await entry.load?.())?.default(entry.options as never);
    if (plugin?.migrations?.length) await team.migrate(plugin.name, plugin.migrations);
  }
  await team.migrate("team-search", teamSearch().migrations ?? []);
}

/** Puts a session into a space, as a push does before it is imported. */
export const place = (team: TeamDatabase, session: string, space: number, tenant = TENANT): Promise<unknown> =>
  team.owner.run(
    "insert into team_session (tenant, session, space, person, machine) values (?, ?, ?, 'ada', 'laptop')",
    [tenant, session, space],
  );

/** `fill` writes the logs of all assistants into the home. `spaceOf`: where each session goes. */
export async function createWorld(
  engine: Engine,
  fill: (home: string) => Promise<void>,
  spaceOf: (id: string) => number = () => 1,
): Promise<World> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-team-"));
  await fill(home);
  const local = await createTestKernel({ plugins: serverPlugins(), home, config: { dataDir: join(home, "local") } });
  const opened = await openTeam(engine);
  const { team } = opened;
  await migrateAll(team);
  await local.send("POST", "/api/import", { all: true });
  for (const { id } of await local.kernel.storage.db.all<{ id: string }>("select id from session"))
    await place(team, id, spaceOf(id));

  const kernels: Kernel[] = [];
  const locals: TestKernel[] = [];
  const dataDir = join(home, "team");
  const lines: string[] = [];
  const world: World = {
    lines,
    local,
    team,
    async localOf(ids) {
      const dataDir = join(home, `local-${locals.length + 1}`);
      const one = await createTestKernel({ plugins: serverPlugins(), home, config: { dataDir } });
      locals.push(one);
      await one.send("POST", "/api/import", { sessions: ids });
      return one;
    },
    async kernel(db, readOnly = false) {
      const env = testEnv(home);
      const config = await loadConfig({ cwd: home, env, flags: { dataDir } });
      const storage = await storageOver(db, dataDir, readOnly);
      const kernel = await createKernel({
        plugins: [...serverPlugins(), teamSearch()],
        config,
        env,
        storage,
        log: (line) => lines.push(line),
      });
      kernels.push(kernel);
      return kernel;
    },
    async close() {
      for (const kernel of kernels) await kernel.close();
      for (const one of [local, ...locals]) await one.close();
      await team.close();
      await opened.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
  const writer = await team.write(TENANT, 5_000);
  const ingest = await world.kernel(writer.db);
  const answer = await ingest.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
  if (!answer.ok) throw new Error(`${await answer.text()}\n${lines.join("\n")}`);
  await ingest.close();
  await writer.release();
  return world;
}

async function storageOver(db: Database, dataDir: string, readOnly: boolean): Promise<Storage> {
  const { createStorage } = await import("unstorage");
  return {
    db,
    transcripts: createTranscripts({ dir: dataDir }),
    files: createStorage({ driver: durableFs({ base: join(dataDir, "files") }) }),
    path: (...names) => join(dataDir, ...names),
    derived: (name) => createDerived(join(dataDir, "index", name)),
    blobs: (...names) => createBlobs(join(dataDir, ...names)),
    dataDir,
    readOnly,
  };
}

/** Logs of all assistants that the tests have fixtures for. */
export async function fixtures(home: string, from: URL): Promise<void> {
  for (const [name, place] of [
    ["claude-code", ".claude"],
    ["codex", ".codex"],
  ] as const)
    await cp(new URL(`${name}/`, from), join(home, place), { recursive: true });
}
