/** Databases for tests of the team server: PGlite in a folder, and a real PostgreSQL where Debian's packages are installed. */
import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { chown, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { openEngine } from "../../plugins/team/database/engine.ts";

const run = promisify(execFile);

export interface Opened {
  /** For `openTeamDatabase` and `--database`. */
  database: string;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

export interface Engine {
  name: string;
  /** A new, empty database. */
  open(): Promise<Opened>;
}

/** A cluster that a test can kill and start again. */
export interface Cluster {
  /** Makes an empty database and answers its address. */
  create(): Promise<string>;
  /** Kills every process of the server at once, as a power failure does. */
  kill(): Promise<void>;
  /** Starts it again after `kill`. */
  start(): Promise<void>;
  /** Copies its files into a folder while it is stopped. */
  save(folder: string): Promise<void>;
  /** Replaces its files by those of such a folder. */
  restore(folder: string): Promise<void>;
  stop(): Promise<void>;
}

/** What a suite runs against. Without PostgreSQL on this machine it prints so, and answers PGlite alone. */
export function engines(): Engine[] {
  const pglite: Engine = {
    name: "PGlite",
    async open() {
      const folder = await mkdtemp(join(tmpdir(), "sessarc-pglite-"));
      prepared ??= prepare();
      await cp(await prepared, join(folder, "db"), { recursive: true });
      return { database: join(folder, "db"), stop: () => rm(folder, { recursive: true, force: true }) };
    },
  };
  if (!binaries()) {
    process.stderr.write(
      "PostgreSQL is not installed (/usr/lib/postgresql): the team server is tested against PGlite alone\n",
    );
    return [pglite];
  }
  return [
    pglite,
    {
      name: "PostgreSQL",
      async open() {
        const cluster = await startCluster();
        return { database: await cluster.create(), stop: cluster.stop };
      },
    },
  ];
}

/** An empty database of PGlite: to make one takes many times as long as to copy it. */
let prepared: Promise<string> | undefined;
async function prepare(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sessarc-pglite-empty-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const engine = await openEngine(join(folder, "db"));
  await engine.close();
  return join(folder, "db");
}

/** Folder of the newest PostgreSQL's programs; undefined where none is installed. */
export function binaries(): string | undefined {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).filter((name) => existsSync(join(root, name, "bin", "initdb")));
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  return newest && join(root, newest, "bin");
}

/** A cluster in a temporary folder that listens on a socket in it, and nowhere else. It refuses to run as root: then it runs as `postgres`. */
export async function startCluster(): Promise<Cluster> {
  const bin = binaries();
  if (!bin) throw new Error("PostgreSQL is not installed");
  const folder = await mkdtemp(join(tmpdir(), "sessarc-pg-"));
  const root = userInfo().uid === 0;
  const data = join(folder, "data");
  await mkdir(data, { mode: 0o700 });
  if (root) {
    const id = async (flag: string) => Number((await run("id", [flag, "postgres"])).stdout);
    const [uid, gid] = [await id("-u"), await id("-g")];
    for (const path of [folder, data]) await chown(path, uid, gid);
  }
  const as = (program: string, args: readonly string[]): [string, string[]] =>
    root ? ["runuser", ["-u", "postgres", "--", join(bin, program), ...args]] : [join(bin, program), [...args]];
  await run(
    ...as("initdb", ["-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]),
    { cwd: folder },
  );
  const settings = `listen_addresses = ''\nunix_socket_directories = '${folder}'\nmax_connections = 60\nshared_buffers = '64MB'\n`;
  await writeFile(join(data, "postgresql.auto.conf"), settings);

  let server: ReturnType<typeof spawn> | undefined;
  const ended = (child: ReturnType<typeof spawn>) =>
    new Promise<void>((resolve) =>
      child.exitCode === null && child.signalCode === null ? child.once("exit", () => resolve()) : resolve(),
    );
  const psql = (sql: string) =>
    run(...as("psql", ["-h", folder, "-U", "postgres", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAtc", sql]), {
      cwd: folder,
    });

  const start = async () => {
    server = spawn(...as("postgres", ["-D", data]), { cwd: folder, stdio: "ignore" });
    for (let tries = 0; tries < 600; tries++) {
      if (
        await psql("select 1").then(
          () => true,
          () => false,
        )
      )
        return;
      if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("postgres does not answer");
  };
  const end = async (mode: "immediate" | "fast") => {
    if (!server) return;
    await run(...as("pg_ctl", ["-D", data, "stop", "-m", mode, "-w"]), { cwd: folder });
    await ended(server);
    server = undefined;
  };
  await start();
  let databases = 0;
  return {
    async create() {
      const name = `team${++databases}`;
      await psql(`create database ${name}`);
      return `postgres://postgres@localhost/${name}?host=${encodeURIComponent(folder)}`;
    },
    kill: () => end("immediate"),
    start,
    async save(to) {
      await end("immediate");
      await run("cp", ["-a", data, to]);
      await start();
    },
    async restore(from) {
      await end("immediate");
      await rm(data, { recursive: true });
      await run("cp", ["-a", from, data]);
      await start();
    },
    async stop() {
      await end("immediate");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
