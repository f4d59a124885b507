/** The systemd unit and the compose file of the guide: their commands are run as processes, with their environment, until they are ready. */
import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { openEngine } from "../../plugins/team/database/engine.ts";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, CLI } from "../built.ts";
import { freePort } from "./fleet.ts";
import { binaries, startCluster } from "./postgres.ts";

const run = promisify(execFile);
const read = (name: string) => readFileSync(new URL(`../../docs/team/${name}`, import.meta.url), "utf8");

/** `Name=value` lines of a section, the last of each name. */
function toSection(unit: string, section: string): Record<string, string> {
  const [, text = ""] = unit.split(`[${section}]`);
  const [own = ""] = text.split(/^\[/m);
  return Object.fromEntries(
    own.split("\n").flatMap((line) => {
      const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A folder with programs of these names, and the one of Node. */
async function programs(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = await makeTempDir();
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return [folder, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
}
const SESSARC = `exec "${process.execPath}" "${CLI}" "$@"`;

interface Running {
  lines: string[];
  /** Resolves with the code once it has ended. */
  stop(): Promise<number | null>;
}

/** Starts a command, and waits until it prints that it is ready. */
async function start(command: readonly string[], env: Record<string, string>): Promise<Running> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { env, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    const take = (text: Buffer) => {
      lines.push(String(text));
      if (lines.join("").includes("sessarc team ready")) resolve();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    void ended.then((code) => reject(new Error(`${command.join(" ")} ended with ${code}: ${lines.join("")}`)));
  });
  return {
    lines,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

const isReady = async (port: number) => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return [answer.status, await answer.text()];
};

describe.skipIf(!binaries())("the files of docs/team", () => {
  it("the systemd unit starts a node that is ready, and stops it", async () => {
    await builtPackage();
    const cluster = await startCluster();
    onTestFinished(cluster.stop);
    const state = await makeTempDir();
    const unit = read("sessarc-team.service");
    const service = toSection(unit, "Service");
    const known = new Set(["Unit", "Service", "Install"]);
    expect([...unit.matchAll(/^\[(.*)\]$/gm)].filter(([, name = ""]) => !known.has(name))).toEqual([]);
    expect(service).toMatchObject({ StateDirectory: "sessarc-team", DynamicUser: "yes", Restart: "on-failure" });
    // Its comment says what the file of `EnvironmentFile` holds.
    const [, name = ""] = /^# \/etc\/sessarc-team\.env .*has ([A-Z]+)=postgres:/m.exec(unit) ?? [];
    expect(service.EnvironmentFile).toBe("/etc/sessarc-team.env");
    const file: Record<string, string> = { [name]: await cluster.create() };

    const exec = service.ExecStart ?? "";
    // The service may only write to its state directory.
    const paths = exec.match(/ \/var\/\S+/g) ?? [];
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect(path.trim()).toMatch(/^\/var\/lib\/sessarc-team\//);
    const port = await freePort();
    const words = exec.split(/\s+/).map((word) =>
      word
        .replace(/^\$\{(\w+)\}$/, (_, variable: string) => file[variable] ?? "")
        .replace("/var/lib/sessarc-team", state)
        .replace("41730", String(port)),
    );
    expect(words).toContain(String(port));
    const node = await start(words, { PATH: await programs({ sessarc: SESSARC }), ...file });
    expect(await isReady(port)).toEqual([200, "ready\n"]);
    expect(node.lines.join("")).toContain("sessarc team join https://team.example.com/join#");
    expect(await node.stop()).toBe(0);
  });

  it("the command of the compose file starts a node whose health check passes", async () => {
    await builtPackage();
    const cluster = await startCluster();
    onTestFinished(cluster.stop);
    const { services } = parse(read("compose.yaml")) as {
      services: {
        database: { environment: { POSTGRES_USER: string; POSTGRES_DB: string }; env_file: string };
        node: {
          command: string[];
          env_file: string;
          volumes: string[];
          ports: string[];
          depends_on: object;
          healthcheck: { test: string[] };
        };
      };
    };
    const { database, node } = services;
    expect([node.env_file, database.env_file]).toEqual(["team.env", "team.env"]);
    expect(Object.keys(node.depends_on)).toEqual(["database"]);
    // As the image of PostgreSQL makes them.
    const { POSTGRES_USER: user, POSTGRES_DB: db } = database.environment;
    const first = await cluster.create();
    const engine = await openEngine(first);
    const connection = await engine.connect();
    await connection.execute(`create role ${user} superuser login`);
    await connection.execute(`create database ${db} owner ${user}`);
    connection.release();
    await engine.close();

    const data = await makeTempDir();
    await mkdir(data, { recursive: true });
    const [port, installed] = [await freePort(), join(await makeTempDir(), "installed")];
    expect(node.ports).toEqual(["127.0.0.1:41730:41730"]);
    expect(node.volumes).toEqual(["bodies:/data"]);
    const host = new URL(first).searchParams.get("host") ?? "";
    const command = node.command.map((word) =>
      word
        // The name of the other container; what compose does with `$$`; the volume.
        .replace(`@database/${db}`, `@localhost/${db}?host=${encodeURIComponent(host)}`)
        .replaceAll("$$", "$")
        .replaceAll("/data/", `${data}/`)
        .replace("41730", String(port)),
    );
    const env = {
      PATH: await programs({ sessarc: SESSARC, npm: `echo "$@" > "${installed}"` }),
      HOME: await makeTempDir(),
      POSTGRES_PASSWORD: "swordfish",
    };
    const running = await start(command, env);
    expect(readFileSync(installed, "utf8")).toBe("install --global sessarc pg\n");
    expect(await isReady(port)).toEqual([200, "ready\n"]);
    const [kind, program = "", ...args] = node.healthcheck.test;
    expect(kind).toBe("CMD");
    await run(
      program,
      args.map((arg) => arg.replace("41730", String(port))),
      { env },
    );
    // `exec`: the signal of `docker stop` reaches the node itself.
    expect(await running.stop()).toBe(0);
    await expect(
      run(
        program,
        args.map((arg) => arg.replace("41730", String(port))),
        { env },
      ),
    ).rejects.toThrow();
  });
});
