/**
 * Three machines, five people, two spaces: the totals of the server are those of the logs, in every order of arrival, whatever is killed on the way,
 * and after a backup is restored.
 */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { SessionUsage } from "sessarc";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import type { UsageReport } from "../../plugins/insights/index.ts";
import security from "../../plugins/security/index.ts";
import team, { type PushReport } from "../../plugins/team/index.ts";
import { makeTempDir } from "../_setup.ts";
import { create, family, type Log, toTokens, write } from "../archive/families.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { LONG } from "../rounds.ts";
import { freePort, type Process, startNode, startPush } from "./fleet.ts";
import { type Cluster, type Engine, engines, startCluster } from "./postgres.ts";

/** Who pushes which projects from which machine. */
const PEOPLE = [
  { name: "olga", machine: 0, projects: { app: "Team", lib: "Libraries" } },
  { name: "mika", machine: 0, projects: { lib: "Libraries" } },
  { name: "noor", machine: 1, projects: { app: "Team", lib: "Team" } },
  { name: "pete", machine: 1, projects: { app: "Libraries" } },
  { name: "quin", machine: 2, projects: { app: "Team" } },
] as const;

interface Machine {
  home: string;
  logs: Log[];
  /** Rows of each log that are written. */
  lengths: number[];
}

/** Numbers by a seed. */
function createDraw(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Two homes of one family, the second a copy that goes on, and a third that has other sessions with some of the same replies. */
async function readMachines(seed: number): Promise<Machine[]> {
  const draw = createDraw(seed);
  const past = (logs: readonly Log[]) => logs.every((log) => log.rows.every(({ turn }) => turn <= 11));
  const [one = [], other = []] = fc.sample(family.filter(past), { seed, numRuns: 2 });
  const folder = await makeTempDir();
  const machines: Machine[] = [];
  for (const [i, logs] of [one, one, other].entries()) {
    const home = join(folder, `home${i}`);
    const [first] = machines;
    if (i === 1 && first) {
      cpSync(first.home, home, { recursive: true, preserveTimestamps: true });
      machines.push({ home, logs, lengths: [...first.lengths] });
      continue;
    }
    mkdirSync(home);
    create(home, logs);
    const lengths = logs.map((log) => draw(log.rows.length + 1));
    for (const [n, length] of lengths.entries()) write(home, logs, n, length);
    machines.push({ home, logs, lengths });
  }
  return machines;
}

/** The tokens of all replies that someone pushes, each counted once with its largest copy. */
function oracle(machines: readonly Machine[]) {
  const pushed: Log[] = [];
  for (const { machine, projects } of PEOPLE)
    for (const log of machines[machine]?.logs ?? []) if (Object.hasOwn(projects, log.project)) pushed.push(log);
  const { models, days, requests } = toTokens(
    pushed,
    pushed.map((log) => log.rows.length),
  );
  return { models, days, requests };
}

class Fleet {
  readonly engine: Engine;
  readonly machines: Machine[];
  readonly people: {
    t: TestKernel | undefined;
    name: string;
    machine: Machine;
    data: string;
    projects: Readonly<Record<string, string>>;
  }[];
  readonly #folder: string;
  readonly #port: number;
  #node: Process | undefined;
  #database = "";
  #backup: string | undefined;
  #stop: () => Promise<void> = async () => {};
  cluster: Cluster | undefined;

  constructor(engine: Engine, machines: Machine[], folder: string, port: number) {
    this.engine = engine;
    this.machines = machines;
    this.#folder = folder;
    this.#port = port;
    this.people = PEOPLE.map(({ name, machine, projects }) => ({
      t: undefined,
      name,
      machine: machines[machine] as Machine,
      data: `data-${name}`,
      projects,
    }));
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    if (this.engine.name === "PostgreSQL") {
      this.cluster = await startCluster();
      this.#database = await this.cluster.create();
      this.#stop = this.cluster.stop;
    } else ({ database: this.#database, stop: this.#stop } = await this.engine.open());
    await this.startNode();
  }

  async startNode(): Promise<string> {
    this.#node = await startNode({ database: this.#database, folder: this.#folder, port: this.#port });
    return this.#node.first.replace("ready ", "");
  }

  killNode = async () => {
    await this.#node?.kill();
    this.#node = undefined;
  };

  /** Takes a backup the first time; restores that one later. The node is killed for it. */
  async backUpOrRestore(): Promise<void> {
    await this.killNode();
    const isThere = this.#backup !== undefined;
    this.#backup ??= await makeTempDir();
    const [bodies, copy] = [join(this.#folder, "blobs"), join(this.#backup, "blobs")];
    const rows = join(this.#backup, "rows");
    if (isThere) {
      if (this.cluster) await this.cluster.restore(rows);
      else replace(rows, this.#database);
      replace(copy, bodies);
    } else {
      if (this.cluster) await this.cluster.save(rows);
      else cpSync(this.#database, rows, { recursive: true });
      cpSync(bodies, copy, { recursive: true });
    }
    await this.startNode();
  }

  get nodeErrors(): string {
    return this.#node?.errors.join("") ?? "no node";
  }

  get ownerLink(): string {
    return this.#node?.first.replace("ready ", "") ?? "";
  }

  async kernelOf(person: (typeof this.people)[number]): Promise<TestKernel> {
    person.t ??= await createTestKernel({
      home: person.machine.home,
      plugins: [archive(), claude(), security(), team({ retryMs: 20 })],
      env: { USER: person.name },
      config: { dataDir: join(person.machine.home, person.data) },
    });
    return person.t;
  }

  async release(person: (typeof this.people)[number]): Promise<void> {
    person.t?.errors.splice(0);
    await person.t?.close();
    person.t = undefined;
  }

  /** A person pushes; a line that is cut is no failure of the test. */
  async push(person: (typeof this.people)[number]): Promise<PushReport> {
    const t = await this.kernelOf(person);
    await t.send("POST", "/api/import", { all: true });
    const projects = await t.json<{ id: string; name: string }[]>("/api/projects?git=0");
    for (const { id, name } of projects) {
      const space = Object.hasOwn(person.projects, name) ? person.projects[name] : undefined;
      if (space !== undefined) await t.send("PUT", "/api/team/projects", { add: [id], space });
    }
    const { body } = await t.send<PushReport>("POST", "/api/team/push", {});
    t.errors.splice(0);
    return body;
  }

  async close(): Promise<void> {
    for (const person of this.people) await this.release(person);
    await this.killNode();
    await this.#stop();
  }
}

function replace(from: string, to: string): void {
  rmSync(to, { recursive: true });
  cpSync(from, to, { recursive: true });
}

/** None of the chosen projects has sessions on that machine. */
const isEmpty = ({ machine, projects }: Fleet["people"][number]) =>
  !machine.logs.some((log) => Object.hasOwn(projects, log.project) && log.rows.length > 0);

interface Session {
  id: string;
  usage: SessionUsage;
}

const toOutput = (usage: SessionUsage) => Object.values(usage).reduce((sum, tokens) => sum + tokens.output, 0);

/** What the owner sees, who may read both spaces. */
async function totals(fleet: Fleet, cookie: string) {
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${fleet.address}${path}`, { headers: { cookie } });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const sums = async (by: string) => {
    const { rows } = await get<UsageReport>(`/api/usage?tz=UTC&by=${by}`);
    return Object.fromEntries(rows.map((row) => [row.key, toOutput(row.usage)]).filter(([, sum]) => sum !== 0));
  };
  const { evidence } = await get<UsageReport>("/api/usage?tz=UTC&by=model");
  const { sessions } = await get<{ sessions: Session[] }>("/api/sessions?limit=500");
  return {
    models: await sums("model"),
    days: await sums("day"),
    requests: evidence.requests,
    sessions: sessions.length,
  };
}

describe.each(engines())("three machines, five people, two spaces on $name", (engine) => {
  it.each(Array.from({ length: LONG ? 50 : 2 }, (_, i) => i + 1))(
    "totals are those of the logs, seed %i",
    async (seed) => {
      const draw = createDraw(seed);
      const machines = await readMachines(seed);
      const fleet = new Fleet(engine, machines, await makeTempDir(), await freePort());
      try {
        await fleet.open();
        const signIn = await joinAll(fleet);
        for (const { logs, lengths, home } of machines) {
          for (const [n, log] of logs.entries()) {
            lengths[n] = Math.max(lengths[n] ?? 0, draw(log.rows.length + 1));
            write(home, logs, n, lengths[n] ?? 0);
          }
        }
        for (let step = 0; step < 6; step++) {
          const person = fleet.people[draw(fleet.people.length)];
          if (!person) continue;
          const kills = draw(5);
          const pushing = fleet.push(person);
          if (kills === 1) {
            await new Promise((resolve) => setTimeout(resolve, draw(700)));
            await fleet.killNode();
            await pushing;
            await fleet.startNode();
          } else if (kills === 2 && fleet.cluster) {
            await new Promise((resolve) => setTimeout(resolve, draw(700)));
            await fleet.cluster.kill();
            await fleet.cluster.start();
            await pushing;
          } else if (kills === 3) {
            await pushing;
            await fleet.release(person);
            const child = await startPush({ home: person.machine.home, data: person.data, user: person.name });
            await new Promise((resolve) => setTimeout(resolve, draw(1_500)));
            await child.kill();
          } else {
            await pushing;
            if (kills === 4) await fleet.backUpOrRestore();
          }
        }
        for (const { logs, home } of machines)
          for (const [n, log] of logs.entries()) write(home, logs, n, log.rows.length);
        for (const person of [...fleet.people].sort(() => draw(3) - 1)) {
          const report = await fleet.push(person);
          expect(report, fleet.nodeErrors).toMatchObject(
            isEmpty(person) ? { code: "TEAM_NO_PROJECTS" } : { failed: [] },
          );
        }
        for (const person of fleet.people)
          if (!isEmpty(person)) expect(await fleet.push(person)).toMatchObject({ pushed: 0, failed: [] });
        const { sessions, ...found } = await totals(fleet, await signIn());
        expect(found).toEqual(oracle(machines));
        const pushed = fleet.people.map(
          ({ machine, projects }) =>
            machine.logs.filter((log) => Object.hasOwn(projects, log.project) && log.rows.length > 0).length,
        );
        expect(sessions).toBe(pushed.reduce((a, b) => a + b, 0));
      } finally {
        await fleet.close();
      }
    },
  );
});

/** All people join; the owner makes the second space. Answers how the owner signs in. */
async function joinAll(fleet: Fleet): Promise<() => Promise<string>> {
  const [owner, ...others] = fleet.people;
  if (!owner) throw new Error("nobody");
  const joins = async (person: (typeof fleet.people)[number], link: string) => {
    const t = await fleet.kernelOf(person);
    await t.send("POST", "/api/import", { all: true });
    await ok(t.send("POST", "/api/team/join", { link, name: person.name }));
  };
  await joins(owner, fleet.ownerLink);
  const t = await fleet.kernelOf(owner);
  for (const person of others) {
    const { link } = await ok(t.send<{ link: string }>("POST", "/api/team/invites", {}));
    await joins(person, link);
  }
  await ok(t.send("POST", "/api/team/spaces", { name: "Libraries", people: PEOPLE.map(({ name }) => name) }));
  return async () => {
    const { url } = await ok((await fleet.kernelOf(owner)).send<{ url: string }>("POST", "/api/team/open", {}));
    const opened = await fetch(url, { redirect: "manual" });
    return String(opened.headers.get("set-cookie")).split(";")[0] ?? "";
  };
}

async function ok<T>(sent: Promise<{ status: number; body: T }>): Promise<T> {
  const { status, body } = await sent;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
