import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { definePlugin, defineRoute, type Plugin, SessarcError, VERSION } from "sessarc";
import { defineAdapter } from "sessarc/adapter";
import { createKernel, loadConfig } from "sessarc/serve";
import { describe, expect, it } from "vitest";
import { deferred, makeTempDir } from "../_setup.ts";
import { createTestKernel, testEnv } from "../kernel.ts";

declare module "sessarc" {
  interface Services {
    clock: { now(): number };
    unheard: string;
  }
  interface KernelHooks {
    "tea:made": (cup: string) => void;
  }
}

const plugin = (name: string, rest: Partial<Plugin> = {}): Plugin => ({ name, ...rest });

async function failure(plugins: readonly Plugin[], timeoutMs?: number): Promise<SessarcError> {
  const error = await createTestKernel({ plugins, timeoutMs }).catch((it: unknown) => it);
  if (!(error instanceof SessarcError)) throw new Error(`Expected a SessarcError, not ${String(error)}`);
  return error;
}

describe("boot order", () => {
  it("starts every plugin after those it depends on, otherwise in the given order", async () => {
    const order: string[] = [];
    const make = (name: string, dependsOn: string[] = []) =>
      plugin(name, { dependsOn, setup: () => void order.push(name) });
    await createTestKernel({ plugins: [make("c", ["b"]), make("x"), make("b", ["a"]), make("a")] });
    expect(order).toEqual(["a", "b", "c", "x"]);
  });

  it("waits for one setup before the next starts", async () => {
    const order: string[] = [];
    const slow = plugin("slow", {
      async setup() {
        await new Promise((resolve) => setImmediate(resolve));
        order.push("slow");
      },
    });
    await createTestKernel({ plugins: [slow, plugin("fast", { setup: () => void order.push("fast") })] });
    expect(order).toEqual(["slow", "fast"]);
  });

  it("names the chain to a missing plugin", async () => {
    const error = await failure([plugin("share", { dependsOn: ["security"] }), plugin("ui", { dependsOn: ["share"] })]);
    expect(error.code).toBe("PLUGIN_MISSING");
    expect(error.message).toContain("share → security");
  });

  it("names the circle of plugins that depend on each other", async () => {
    const error = await failure([
      plugin("a", { dependsOn: ["b"] }),
      plugin("b", { dependsOn: ["c"] }),
      plugin("c", { dependsOn: ["b"] }),
    ]);
    expect(error.code).toBe("PLUGIN_CYCLE");
    expect(error.message).toContain("b → c → b");
  });

  it("names the plugin whose setup is late", async () => {
    const error = await failure([plugin("sleepy", { setup: () => new Promise(() => {}) })], 20);
    expect(error.code).toBe("PLUGIN_TIMEOUT");
    expect(error.message).toContain('"sleepy"');
    expect(error.message).toContain("setup");
  });

  it("lets migrations take what they take: a large archive's are no hang", async () => {
    const count = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)";
    const migrations = [`create table tally as ${count} select count(*) as n from n`];
    const { kernel } = await createTestKernel();
    const { config, env, storage } = kernel;
    const guest = await createKernel({
      config,
      env,
      storage,
      plugins: [plugin("patient", { migrations })],
      timeoutMs: 1,
    });
    expect(await storage.db.get("select n from tally")).toEqual({ n: 200_000 });
    // What it opened itself has a millisecond, too.
    await guest.close().catch((error) => expect(error).toMatchObject({ code: "CLOSE_FAILED" }));
  });

  it("names the plugin whose setup throws, keeps the cause, and closes what was started", async () => {
    const closed: string[] = [];
    const cause = new Error("no luck");
    const error = await failure([
      plugin("first", { setup: (kernel) => kernel.onClose(() => void closed.push("first")) }),
      plugin("second", {
        setup() {
          throw cause;
        },
      }),
    ]);
    expect(error.code).toBe("PLUGIN_FAILED");
    expect(error.message).toContain('"second"');
    expect(error.cause).toBe(cause);
    expect(closed).toEqual(["first"]);
  });

  it("gives the archive free after a start that failed", async () => {
    const home = await makeTempDir();
    const broken = plugin("broken", { setup: () => Promise.reject(new Error("no")) });
    await expect(createTestKernel({ home, plugins: [broken] })).rejects.toThrow("broken");
    await createTestKernel({ home });
  });

  it("runs migrations before setup, once per data directory", async () => {
    const home = await makeTempDir();
    const seen: number[] = [];
    const counting = (migrations: string[]) =>
      plugin("counting", {
        migrations,
        async setup({ storage }) {
          seen.push((await storage.db.all("select * from cup")).length);
        },
      });
    const first = ["create table cup (id integer primary key)", "insert into cup values (1)"];
    const one = await createTestKernel({ home, plugins: [counting(first)] });
    await one.close();
    await createTestKernel({ home, plugins: [counting([...first, "insert into cup values (2)"])] });
    expect(seen).toEqual([1, 2]);
  });

  it("tells kernel:ready after every plugin, and plugin:loaded for each", async () => {
    const told: string[] = [];
    const listening = plugin("listening", {
      hooks: {
        "kernel:ready": () => void told.push("ready"),
        "plugin:loaded": ({ name }) => void told.push(name),
      },
    });
    await createTestKernel({ plugins: [listening, plugin("late")] });
    expect(told).toEqual(["listening", "late", "ready"]);
  });
});

describe("names", () => {
  const route = (path: string) => defineRoute({ method: "GET", path, summary: "Cups", handler: () => [] });
  const command = {
    name: "brew",
    summary: "",
    usage: "",
    options: {},
    help: {},
    load: async () => ({ run: () => 0 }),
  };
  it.each<[string, Plugin, Plugin]>([
    ["plugin", plugin("a"), plugin("a")],
    ["route", plugin("a", { routes: [route("/cups/:id")] }), plugin("b", { routes: [route("/cups/:cup")] })],
    ["command", plugin("a", { commands: [command] }), plugin("b", { commands: [command] })],
    [
      "service",
      plugin("a", { setup: (kernel) => kernel.provide("clock", { now: () => 1 }) }),
      plugin("b", { setup: (kernel) => kernel.provide("clock", { now: () => 2 }) }),
    ],
  ])("refuses two with one %s", async (what, a, b) => {
    const error = await failure([a, b]);
    const shown = error.code === "PLUGIN_FAILED" ? (error.cause as SessarcError) : error;
    expect(shown.code).toBe("DUPLICATE_NAME");
    expect(shown.message).toContain(what);
  });

  it("says which plugin would provide a missing service", async () => {
    const { kernel } = await createTestKernel();
    expect(() => kernel.inject("unheard")).toThrow(SessarcError);
    expect(() => kernel.inject("unheard")).toThrow('"unheard"');
  });

  it("checks the machine and asks the plugins for checks of their own", async () => {
    const { json } = await createTestKernel({
      plugins: [
        definePlugin({
          name: "worrier",
          version: "1.2.3",
          hooks: {
            "doctor:check": (report) => void report.checks.push({ name: "moon", status: "warn", detail: "full" }),
          },
        })(),
      ],
    });
    const { checks } = await json<{ checks: { name: string; status: string }[] }>("/api/doctor");
    expect(checks.map((check) => check.name)).toEqual(
      expect.arrayContaining(["runtime", "data directory", "catalogue", "moon"]),
    );
    expect(checks.find((check) => check.name === "catalogue")?.status).toBe("ok");
    const { plugins } = await json<{ plugins: { name: string; version: string | null }[] }>("/api/plugins");
    expect(plugins.find((one) => one.name === "worrier")?.version).toBe("1.2.3");
    expect(plugins.find((one) => one.name === "kernel")?.version).toBe(VERSION);
  });

  it("hands a provided service to others and lists it", async () => {
    const { kernel, json } = await createTestKernel({
      plugins: [plugin("time", { setup: (it) => it.provide("clock", { now: () => 42 }) })],
    });
    expect(kernel.inject("clock").now()).toBe(42);
    const { plugins } = await json<{ plugins: { name: string; services: string[] }[] }>("/api/plugins");
    expect(plugins.find(({ name }) => name === "time")?.services).toEqual(["clock"]);
  });
});

describe("plugin entries", () => {
  const echo = defineAdapter((options: { dir?: string } | undefined) => ({
    name: "echo",
    label: "Echo",
    roots: () => [options?.dir ?? "/nowhere"],
    async *scan() {},
    parse: () => ({ row: () => undefined, finish: () => ({ usage: {} }) }),
  }));

  it("keeps for a loaded adapter where workers find it again, and not for one written in place", async () => {
    const entry = { specifier: "echo-package", load: async () => ({ default: echo }), options: { dir: "/logs" } };
    const { kernel } = await createTestKernel({ plugins: [entry] });
    expect(kernel.registry.adapterSource("echo")).toEqual({ specifier: "echo-package", options: { dir: "/logs" } });
    expect(kernel.registry.adapters.get("echo")?.roots(kernel.env)).toEqual(["/logs"]);
    const inline = await createTestKernel({ plugins: [echo()] });
    expect(inline.kernel.registry.adapterSource("echo")).toBeUndefined();
  });

  it("imports an entry by its specifier", async () => {
    const dir = await makeTempDir();
    const file = join(dir, "tea.mjs");
    await writeFile(file, "export default (options) => ({ name: options.name })");
    const { kernel } = await createTestKernel({
      plugins: [{ specifier: pathToFileURL(file).href, options: { name: "tea" } }],
    });
    expect(kernel.registry.describe().some(({ name }) => name === "tea")).toBe(true);
  });

  it.each([
    ["no default export", "export const plugin = 1"],
    ["a value instead of a factory", "export default { name: 'x' }"],
    ["a factory that throws", "export default () => { throw new Error('cannot') }"],
    ["a factory of nothing", "export default () => undefined"],
  ])("names the module with %s", async (_, text) => {
    const dir = await makeTempDir();
    const specifier = pathToFileURL(join(dir, "bad.mjs")).href;
    await writeFile(join(dir, "bad.mjs"), text);
    await expect(createTestKernel({ plugins: [{ specifier }] })).rejects.toMatchObject({ code: "PLUGIN_INVALID" });
    await expect(createTestKernel({ plugins: [{ specifier }] })).rejects.toThrow(join(dir, "bad.mjs"));
  });
});

describe("hooks", () => {
  it("notify runs every listener and reports the one that throws", async () => {
    const t = await createTestKernel();
    const heard: string[] = [];
    t.kernel.hooks.hook("tea:made", () => {
      throw new Error("spilled");
    });
    t.kernel.hooks.hook("tea:made", (cup) => void heard.push(cup));
    await t.kernel.notify("tea:made", "green");
    expect(heard).toEqual(["green"]);
    expect(t.errors.splice(0)).toMatchObject([{ message: "spilled" }]);
  });

  it("callHook stops at the listener that throws", async () => {
    const t = await createTestKernel();
    t.kernel.hooks.hook("tea:made", () => {
      throw new Error("not this one");
    });
    await expect((async () => t.kernel.hooks.callHook("tea:made", "green"))()).rejects.toThrow("not this one");
  });
});

describe("close", () => {
  it("runs every onClose, last first, also when one throws, and reports it at the end", async () => {
    const closed: string[] = [];
    const closing = (name: string, fail = false) =>
      plugin(name, {
        setup(kernel) {
          kernel.onClose(() => {
            closed.push(name);
            if (fail) throw new Error(`${name} fell over`);
          });
        },
      });
    const t = await createTestKernel({ plugins: [closing("a"), closing("b", true), closing("c")] });
    await expect(t.close()).rejects.toMatchObject({
      code: "CLOSE_FAILED",
      message: expect.stringContaining("b fell over"),
    });
    expect(closed).toEqual(["c", "b", "a"]);
  });

  it("does not wait for ever for a plugin that never closes", async () => {
    const t = await createTestKernel({
      plugins: [plugin("stuck", { setup: (kernel) => kernel.onClose(() => new Promise(() => {})) })],
      timeoutMs: 200,
    });
    await expect(t.close()).rejects.toThrow('plugin "stuck"');
    // The parts behind it close all the same, on a slow disk after their own limit: the archive is free.
    await expect.poll(() => existsSync(join(t.home, "data", "lock.json"))).toBe(false);
  });

  it("tells kernel:close while services still work, and closes once", async () => {
    let told = 0;
    const t = await createTestKernel({
      plugins: [
        plugin("watching", {
          hooks: {
            async "kernel:close"(kernel) {
              told++;
              await kernel.storage.db.all("select 1");
            },
          },
        }),
      ],
    });
    await Promise.all([t.close(), t.kernel.close()]);
    expect(told).toBe(1);
  });

  it("waits for the requests that run", async () => {
    const started = deferred();
    const go = deferred();
    const slow = plugin("slow", {
      routes: [
        defineRoute({
          method: "POST",
          path: "/brew",
          summary: "Brew",
          async handler({ kernel }) {
            started.resolve();
            await go.promise;
            await kernel.storage.db.all("select 1");
            return { brewed: true };
          },
        }),
      ],
    });
    const t = await createTestKernel({ plugins: [slow] });
    const answer = t.fetch("/api/brew", { method: "POST" });
    await started.promise;
    const closed = t.close();
    go.resolve();
    expect((await answer).status).toBe(200);
    await closed;
  });

  it("answers 503 afterwards", async () => {
    const t = await createTestKernel();
    await t.kernel.close();
    expect((await t.fetch("/api/status")).status).toBe(503);
  });
});

describe("without a request", () => {
  it("a kernel for the command line never builds the HTTP app", async () => {
    const t = await createTestKernel();
    // What the app would answer needs a Host of sessarc's; nothing was asked, so nothing listens and no address is known.
    expect(t.kernel.address).toBeUndefined();
    expect((await t.json<{ port: null }>("/api/status")).port).toBeNull();
  });

  it("a second kernel over the same data directory says who has it", async () => {
    const t = await createTestKernel();
    await expect(createTestKernel({ home: t.home })).rejects.toMatchObject({ code: "ARCHIVE_LOCKED" });
  });

  it("storage that was handed in stays open", async () => {
    const t = await createTestKernel();
    const env = testEnv(t.home);
    const config = await loadConfig({ cwd: t.home, env, flags: { dataDir: join(t.home, "other") } });
    const guest = await createKernel({ config, env, storage: t.kernel.storage });
    await guest.close();
    expect(await t.kernel.storage.db.all("select 1 as one")).toEqual([{ one: 1 }]);
  });
});

describe("definePlugin", () => {
  it("makes a factory of a value and of a function of options", async () => {
    const fixed = definePlugin({ name: "fixed" });
    const made = definePlugin((options: { name: string }) => ({ name: options.name }));
    const { kernel } = await createTestKernel({ plugins: [fixed(), made({ name: "made" })] });
    expect(kernel.registry.describe().map(({ name }) => name)).toEqual(["kernel", "fixed", "made"]);
  });
});

it("a tool whose places cannot be looked up keeps those it had, is named by the doctor, and is checked again", async () => {
  let fault: string | undefined;
  const roots = () => {
    if (fault)
      throw Object.assign(new Error(`${fault}: socket is not connected, scandir '/mnt/dead'`), { code: fault });
    return ["/mnt/tea"];
  };
  const tea = defineAdapter(() => ({
    name: "tea",
    label: "Tea",
    roots,
    async *scan() {},
    parse: () => ({ row: () => undefined, finish: () => ({ usage: {} }) }),
  }));
  const t = await createTestKernel({ plugins: [tea()] });
  const adapter = t.kernel.registry.adapters.get("tea");
  const doctor = async () =>
    (await t.json<{ checks: { name: string; status: string; detail: string }[] }>("/api/doctor")).checks.find(
      ({ name }) => name === "tea",
    );
  for (fault of ["ENOTCONN", "EIO", "ESTALE", "EMFILE"]) {
    expect(adapter?.roots(t.kernel.env)).toEqual(["/mnt/tea"]);
    expect(await doctor()).toMatchObject({ status: "warn", detail: expect.stringContaining(fault) });
  }
  fault = undefined;
  expect(await doctor()).toMatchObject({ status: "ok" });
  expect(t.kernel.registry.unreadable.size).toBe(0);
});
