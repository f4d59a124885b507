/** Whatever is done in whatever order, names, associations and deletions are what a simple model says. */
import { mkdirSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { rounds } from "../rounds.ts";
import { FOLDERS, LOGS, type Log, Model, Real, toId } from "./model-world.ts";

type Command = fc.AsyncCommand<Model, Real>;

/** A command: its words, what it does to the model, what it asks the archive, and the status expected. */
function command(
  words: string,
  run: (model: Model, real: Real) => Promise<unknown>,
  check: (model: Model) => boolean = () => true,
): Command {
  return {
    check,
    toString: () => words,
    async run(model, real) {
      await run(model, real);
      await compare(model, real);
    },
  };
}

async function expectStatus(answer: Promise<{ status: number; body: unknown }>, status: number): Promise<void> {
  const got = await answer;
  expect(got.status, JSON.stringify(got.body)).toBe(status);
}

async function compare(model: Model, real: Real): Promise<void> {
  const { body: list } = await real.call<{ sessions: Listed[] }>("GET", "/sessions?limit=1000");
  const sessions = list.sessions.map(({ id, name, messageCount, projectId }) => ({
    id,
    name,
    messageCount,
    projectId,
  }));
  const expected = [...model.archived].map(([n, one]) => ({
    id: toId(n),
    name: one.name,
    messageCount: one.rows.size,
    projectId: model.placeOf(one),
  }));
  expect(sessions.sort(byId)).toEqual(expected.sort(byId));
  const { body: projects } = await real.call<ListedProject[]>("GET", "/projects");
  const wanted = [...model.projects].flatMap(([id, name]) => {
    const inside = [...model.archived.values()].filter((one) => model.placeOf(one) === id);
    const from = [...model.associations].filter(([, target]) => target === id).map(([virtual]) => virtual);
    const named = name === null ? [] : [name];
    return inside.length > 0 ? [{ id, named, sessions: inside.length, from: from.sort() }] : [];
  });
  const got = projects.map((project) => ({
    id: project.id,
    named: project.name.startsWith("named ") ? [project.name] : [],
    sessions: project.sessionCount,
    from: [...(project.associatedFrom ?? [])].sort(),
  }));
  expect(got.sort(byId)).toEqual(wanted.sort(byId));
  for (const n of model.archived.keys()) await expectStatus(real.call("GET", `/sessions/${toId(n)}`), 200);
  for (const n of model.deleted) await expectStatus(real.call("GET", `/sessions/${toId(n)}`), 404);
}

interface Listed {
  id: string;
  name: string | null;
  messageCount: number;
  projectId: string;
}
interface ListedProject {
  id: string;
  name: string;
  sessionCount: number;
  associatedFrom: string[] | null;
}
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** What can happen beside a sync: the outcome is the same whichever comes first. `waits`: for the sync's end. */
const beside = {
  renameSession: (n: number, name: string | null) => ({
    words: `rename ${n} ${name}`,
    waits: false,
    async run(model: Model, real: Real) {
      const one = model.archived.get(n);
      if (one) one.name = name;
      await expectStatus(real.call("PATCH", `/sessions/${toId(n)}`, { name }), one ? 200 : 404);
    },
    check: (model: Model) => model.archived.has(n),
  }),
  renameProject: (p: number, name: string | null) => ({
    words: `rename project ${p} ${name}`,
    waits: false,
    async run(model: Model, real: Real) {
      const id = model.ids()[p] as string;
      const known = model.projects.has(id);
      if (known) model.projects.set(id, name);
      await expectStatus(real.call("PATCH", `/projects/${id}`, { name }), known ? 200 : 404);
    },
    check: (model: Model) => model.projects.has(model.ids()[p] as string),
  }),
  associate: (p: number, folder: (typeof FOLDERS)[number]) => ({
    words: `associate ${p} ${folder}`,
    waits: false,
    async run(model: Model, real: Real) {
      const id = model.ids()[p] as string;
      const known = model.projects.has(id);
      const status = !known ? 404 : p < FOLDERS.length ? 409 : 200;
      if (status === 200) {
        const target = model.idOfFolder(folder);
        model.associations.set(id, target);
        if (!model.projects.has(target)) model.projects.set(target, null);
      }
      await expectStatus(real.call("POST", `/projects/${id}/associate`, { path: model.pathOf(folder) }), status);
    },
    check: (model: Model) => model.projects.has(model.ids()[p] as string),
  }),
  unlink: (p: number) => ({
    words: `unlink ${p}`,
    waits: true,
    async run(model: Model, real: Real) {
      const id = model.ids()[p] as string;
      const links = model.linksOf(id);
      const status = !model.projects.has(id) ? 404 : links.length === 0 ? 409 : 200;
      if (status === 200) for (const [virtual] of links) model.associations.delete(virtual);
      await expectStatus(real.call("POST", `/projects/${id}/unlink`), status);
    },
    check: (model: Model) => model.linksOf(model.ids()[p] as string).length > 0,
  }),
  remove: (n: number) => ({
    words: `delete ${n}`,
    waits: true,
    async run(model: Model, real: Real) {
      const known = model.archived.has(n);
      if (known) model.remove(n);
      await expectStatus(real.call("DELETE", `/sessions/${toId(n)}`), known ? 200 : 404);
    },
    check: (model: Model) => model.archived.has(n),
  }),
};

const log = fc.nat(LOGS.length - 1);
const project = fc.nat(3);
const virtual = fc.integer({ min: 2, max: 3 });
const name = fc.constantFrom("named one", "named two", null);
const folder = fc.constantFrom(...FOLDERS);

const side = fc.oneof(
  fc.tuple(log, name).map(([n, value]) => beside.renameSession(n, value)),
  fc.tuple(project, name).map(([p, value]) => beside.renameProject(p, value)),
  fc.tuple(virtual, folder).map(([p, value]) => beside.associate(p, value)),
  fc.tuple(project, folder).map(([p, value]) => beside.associate(p, value)),
  project.map((p) => beside.unlink(p)),
  log.map((n) => beside.remove(n)),
);

async function grow(model: Model, real: Real, n: number): Promise<void> {
  const one = model.logs[n] as Log;
  const row = `more ${one.rows.length}`;
  real.write(n, one.folder, [row], false);
  one.rows.push(row);
  one.edition++;
}
const sync = (real: Real) => expectStatus(real.call("POST", "/sync?wait=1"), 200);

const commands = [
  log.map((n) => command(`grow ${n}`, (model, real) => grow(model, real, n))),
  fc.tuple(log, fc.integer({ min: 1, max: 4 }), fc.constantFrom(...FOLDERS, null)).map(([n, count, to]) =>
    command(`replace ${n} ${count} ${to}`, async (model, real) => {
      const one = model.logs[n] as Log;
      one.folder = LOGS[n]?.tool === "codex" ? null : to;
      one.edition++;
      one.rows = Array.from({ length: count }, (_, i) => `edition ${one.edition}, ${i}`);
      real.write(n, one.folder, one.rows, true);
    }),
  ),
  fc.constant(
    command("import all", async (model, real) => {
      model.import(() => true);
      await expectStatus(real.call("POST", "/import", { all: true }), 200);
    }),
  ),
  log.map((n) =>
    command(`import ${n}`, async (model, real) => {
      model.import((other) => other === n, true);
      await expectStatus(real.call("POST", "/import", { sessions: [toId(n)] }), 200);
    }),
  ),
  project.map((p) =>
    command(`import project ${p}`, async (model, real) => {
      const id = model.ids()[p] as string;
      const chosen = model.logsIn(new Set([id]));
      model.import((n) => chosen.has(n));
      await expectStatus(real.call("POST", "/import", { projects: [id] }), 200);
    }),
  ),
  fc.constant(
    command("sync", async (model, real) => {
      model.import(() => true);
      await sync(real);
    }),
  ),
  log.map((n) =>
    command(`sync ${n}`, async (model, real) => {
      const known = model.archived.has(n);
      if (known) model.import((other) => other === n, true);
      await expectStatus(real.call("POST", `/sessions/${toId(n)}/sync`), known ? 200 : 404);
    }),
  ),
  project.map((p) =>
    command(`sync project ${p}`, async (model, real) => {
      const id = model.ids()[p] as string;
      const known = model.projects.has(id);
      const ids = new Set([id, ...[...model.associations].flatMap(([from, to]) => (to === id ? [from] : []))]);
      const chosen = model.logsIn(ids);
      if (known) model.import((n) => chosen.has(n));
      await expectStatus(real.call("POST", `/projects/${id}/sync`), known ? 200 : 404);
    }),
  ),
  side.map((one) => command(one.words, one.run)),
  side.map((one) => command(one.words, one.run)),
  fc.tuple(side, fc.nat(3)).map(([one, after]) =>
    command(
      `sync, after ${after} logs ${one.words}`,
      async (model, real) => {
        let read = 0;
        let other: Promise<void> | undefined;
        real.whenRead = () => {
          if (read++ !== after) return undefined;
          other = one.run(model, real);
          return one.waits ? undefined : other;
        };
        await sync(real);
        real.whenRead = undefined;
        await (other ?? one.run(model, real));
        model.import(() => true);
      },
      one.check,
    ),
  ),
  project.map((p) =>
    command(`delete project ${p}`, async (model, real) => {
      const id = model.ids()[p] as string;
      const known = model.projects.has(id);
      if (known) model.removeProject(id);
      await expectStatus(real.call("DELETE", `/projects/${id}`), known ? 200 : 404);
    }),
  ),
  fc.constant(
    command("scan", async (model, real) => {
      const { body } = await real.call<{ projects: { key: string; sessions: { id: string; state: string }[] }[] }>(
        "GET",
        "/scan",
      );
      const got = body.projects.flatMap(({ key, sessions }) => sessions.map(({ id, state }) => ({ id, state, key })));
      const expected = model.logs.map((log, n) => {
        const one = model.archived.get(n);
        const absent = model.deleted.has(n) ? "deleted" : "new";
        const state = !one ? absent : one.edition === log.edition ? "imported" : "changed";
        return { id: toId(n), state, key: model.groupOf(n) };
      });
      expect(got.sort(byId)).toEqual(expected.sort(byId));
    }),
  ),
  fc.constant(command("restart", (_model, real) => real.open())),
];

it("D4, D7: any interleaving of imports and changes by hand ends as the model says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 25, size: "max" }), async (list) => {
      const home = await makeTempDir();
      const real = new Real(home);
      const model = new Model(home);
      for (const name of FOLDERS) mkdirSync(model.pathOf(name), { recursive: true });
      model.logs.forEach((one, n) => {
        one.rows = ["first"];
        real.write(n, one.folder, one.rows, true);
      });
      await real.open();
      try {
        await fc.asyncModelRun(() => ({ model, real }), list);
      } finally {
        await real.kernel?.close();
      }
    }),
    { numRuns: rounds(40, 6), endOnFailure: false },
  );
});
