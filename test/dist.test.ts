import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessarcError } from "../core/index.ts";
import { makeTempDir } from "./_setup.ts";
import { builtPackage, packedTarball, ROOT } from "./built.ts";

const exec = promisify(execFile);
let consumer: string;

/** Another project that has the package installed. */
beforeAll(async () => {
  await builtPackage();
  consumer = await mkdtemp(join(tmpdir(), "sessarc-consumer-"));
  await mkdir(join(consumer, "node_modules/@types"), { recursive: true });
  await symlink(ROOT, join(consumer, "node_modules/sessarc"), "junction");
  const { dependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { dependencies: object };
  for (const name of ["@types/node", "undici-types", ...Object.keys(dependencies)]) {
    await mkdir(dirname(join(consumer, "node_modules", name)), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), join(consumer, "node_modules", name), "junction");
  }
  await writeFile(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
});
afterAll(() => rm(consumer, { recursive: true, force: true }));

async function runScript(code: string): Promise<string> {
  const { stdout } = await exec(process.execPath, ["--input-type=module", "-e", code], { cwd: consumer });
  return stdout;
}

async function pluginNames(): Promise<string[]> {
  const names = (await readdir(join(ROOT, "dist/plugins"))).filter((name) => name.endsWith(".mjs"));
  return names.map((name) => name.slice(0, -4));
}

/** Types a file of the consumer; answers the compiler's complaints. */
async function compile(name: string, code: string, more: object = {}): Promise<string> {
  await writeFile(join(consumer, name), code);
  const options = {
    target: "ES2023",
    lib: ["ESNext"],
    module: "NodeNext",
    strict: true,
    noEmit: true,
    // What the package's types name must come with it: nothing of this checkout's node_modules is in reach.
    skipLibCheck: false,
    preserveSymlinks: true,
    types: ["node"],
    ...more,
  };
  await writeFile(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: [name] }));
  const tsc = join(ROOT, "node_modules/typescript-native/bin/tsc");
  return exec(process.execPath, [tsc, "-p", consumer, "--checkers", "1"]).then(
    () => "",
    (error: { stdout?: string }) => error.stdout ?? String(error),
  );
}

describe("the built package", () => {
  it("resolves every export, by name, from outside", async () => {
    const { exports } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      exports: Record<string, string | Record<string, string>>;
    };
    const plugins = await pluginNames();
    for (const [key, target] of Object.entries(exports)) {
      for (const path of typeof target === "string" ? [target] : Object.values(target)) {
        const files = path.includes("*") ? plugins.map((name) => path.replace("*", name)) : [path];
        for (const file of files) expect((await stat(join(ROOT, file))).isFile(), `${key} ${file}`).toBe(true);
      }
    }
    const names = ["sessarc", "sessarc/plugins", ...plugins.map((name) => `sessarc/plugins/${name}`)];
    const script = `for (const name of ${JSON.stringify(names)}) { const m = await import(name); console.log(name, Object.keys(m).length > 0); }`;
    expect(await runScript(script)).toBe(names.map((name) => `${name} true\n`).join(""));
  });

  it("holds one copy of the kernel: a plugin's errors are the kernel's", async () => {
    const script = `
      import { ERRORS, SessarcError } from "sessarc";
      const before = Object.keys(ERRORS).length;
      const { default: archive } = await import("sessarc/plugins/archive");
      archive();
      console.log(Object.keys(ERRORS).length > before, "SOURCE_SHARED" in ERRORS, new SessarcError("SOURCE_SHARED", { id: "x" }).status);`;
    expect(await runScript(script)).toBe("true true 422\n");
    const sources = await Promise.all(
      (await pluginNames()).map((name) => readFile(join(ROOT, `dist/plugins/${name}.mjs`), "utf8")),
    );
    for (const source of sources) expect(source).toMatch(/(from|import) ?['"]sessarc(\/adapter)?['"]/);
  });

  it("can import in a worker every module that a pool task names", async () => {
    const files = (await readdir(join(ROOT, "plugins"), { recursive: true })).filter((name) => name.endsWith(".ts"));
    const texts = await Promise.all(files.map((name) => readFile(join(ROOT, "plugins", name), "utf8")));
    const tasks = texts.flatMap((text) => [...text.matchAll(/specifier: "(sessarc\/[^"]+)",\s*export: "([^"]+)"/g)]);
    expect(tasks.length).toBeGreaterThan(0);
    const wanted = tasks.map(([, specifier = "", name = ""]) => [specifier, name] as const);
    const script = `for (const [specifier, name] of ${JSON.stringify(wanted)}) console.log(specifier, typeof (await import(specifier))[name]);`;
    expect(await runScript(script)).toBe(wanted.map(([specifier]) => `${specifier} function\n`).join(""));
  });

  it("goes on when it is replaced under a running service: a thread that does not start fails its task alone, and the next one runs and fails in its own words", async () => {
    const copy = join(consumer, "replaced");
    const own = join(copy, "node_modules/sessarc");
    await mkdir(own, { recursive: true });
    await cp(join(ROOT, "dist"), join(own, "dist"), {
      recursive: true,
      filter: (path) => path !== join(ROOT, "dist/ui"),
    });
    await cp(join(ROOT, "package.json"), join(own, "package.json"));
    await symlink(join(ROOT, "node_modules"), join(own, "node_modules"), "junction");
    const none = "kind notKind model notModel path notPath tool notTool project notProject terms".split(" ");
    const script = `
      import { rename } from "node:fs/promises";
      import { createTestKernel } from "sessarc/test";
      const t = await createTestKernel({ plugins: [] });
      const task = { specifier: "sessarc/plugins/archive/count-job", export: "countSessions", inline() {} };
      const query = { after: null, before: null, error: null, ${none.map((name) => `${name}: []`).join(", ")} };
      const run = () => t.kernel.pool.run(task, { dir: ".", query, work: [] });
      const worker = ${JSON.stringify(join(own, "dist/worker.mjs"))};
      await rename(worker, worker + ".old");
      const failed = await run().catch((error) => error.code);
      await rename(worker + ".old", worker);
      const own = { specifier: import.meta.resolve("./full.mjs"), export: "fill", inline() {} };
      const { status, code, fix, params, cause } = await t.kernel.pool.run(own).catch((error) => error);
      console.log(JSON.stringify([t.kernel.pool.threaded, failed, await run(), { status, code, fix, params }, cause.message]));
      await t.close();`;
    const full = new SessarcError("STORAGE_FULL", { needed: 4096 });
    const throws = `import { SessarcError } from "sessarc";
      export const fill = async () => { throw new SessarcError("STORAGE_FULL", { needed: 4096 }); };`;
    await writeFile(join(copy, "full.mjs"), throws);
    // A file, as threads are started with the flags of their process.
    await writeFile(join(copy, "run.mjs"), script);
    const { stdout } = await exec(process.execPath, ["run.mjs"], { cwd: copy });
    const { status, code, fix, params, message } = full;
    expect(JSON.parse(stdout)).toEqual([true, "ERR_MODULE_NOT_FOUND", [], { status, code, fix, params }, message]);
  });

  it("a thread that exits, or has no memory left, fails its task with an error of sessarc, as closing does; what waits goes on in another", async () => {
    const tasks = `
      export const exit = () => process.exit(7);
      export const fill = () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); };
      export const add = async (a, b) => { await new Promise((resolve) => setImmediate(resolve)); return a + b; };
      export const later = () => void setImmediate(() => process.exit(8));
      export const never = () => new Promise(() => {});`;
    const script = `
      import { createTestKernel } from "sessarc/test";
      const t = await createTestKernel({ plugins: [] });
      const { pool } = t.kernel;
      const run = (name, ...args) =>
        pool.run({ specifier: import.meta.resolve("./tasks.mjs"), export: name, inline() {} }, ...args).catch(({ code, fix }) => [code, typeof fix]);
      // Every place of every thread is taken, and some wait for one.
      const told = await Promise.all(Array.from({ length: pool.size * 3 }, () => run("exit")));
      const waiting = await Promise.all([run("exit"), run("exit"), run("add", 1, 2), run("add", 3, 4), run("add", 3, 4)]);
      const memory = await run("fill");
      await run("later");
      const after = [await run("add", 5, 6), await run("add", 7, 8)];
      const cut = Array.from({ length: pool.size * 3 }, () => run("never"));
      await t.close();
      console.log(JSON.stringify([pool.threaded, [...told, ...waiting.slice(0, 2)], memory, after.filter((sum) => typeof sum === "number").length > 0, await Promise.all(cut)]));`;
    await writeFile(join(consumer, "tasks.mjs"), tasks);
    await writeFile(join(consumer, "ended.mjs"), script);
    const { stdout } = await exec(process.execPath, ["ended.mjs"], { cwd: consumer, timeout: 60_000 });
    const [threaded, told, memory, goesOn, cut] = JSON.parse(stdout);
    const ended = ["WORKER_ENDED", "string"];
    expect(new Set(told.map(String))).toEqual(new Set([String(ended)]));
    expect([threaded, memory, goesOn]).toEqual([true, ended, true]);
    expect(new Set(cut.map(String))).toEqual(new Set(["SHUTTING_DOWN,string"]));
  });

  it("a parser that exits fails its own sessions alone; one that never ends is ended when the import is cancelled", async () => {
    const home = await makeTempDir();
    const make = (name: string, row: string) => `
      import { defineAdapter } from "sessarc/adapter";
      export default defineAdapter(() => ({
        name: "${name}", label: "${name}", roots: () => [${JSON.stringify(home)}],
        async *scan(root) { yield { key: "one", path: root + "/${name}.jsonl", size: 9, mtime: 1 }; },
        parse: () => ({ row() { ${row} }, finish: () => ({ usage: {} }) }),
      }));`;
    for (const [name, row] of [
      ["well", 'return { kind: "user", text: "hello" };'],
      ["exits", "process.exit(3);"],
      ["endless", "for (;;);"],
    ] as const) {
      await writeFile(join(consumer, `${name}.mjs`), make(name, row));
      await writeFile(join(home, `${name}.jsonl`), "{}\n");
    }
    const script = `
      import { createTestKernel } from "sessarc/test";
      import { defaultPlugins } from "sessarc/plugins";
      const own = (name) => ({ specifier: import.meta.resolve("./" + name + ".mjs") });
      const boot = (...names) => createTestKernel({ home: ${JSON.stringify(home)}, plugins: [...defaultPlugins(), ...names.map(own)] });
      const t = await boot("well", "exits");
      const { body } = await t.send("POST", "/api/import", { all: true });
      await t.close();
      const second = await boot("endless");
      const importing = second.send("POST", "/api/import", { sessions: ["endless:one"] });
      await new Promise((resolve) => setTimeout(resolve, 500));
      await second.send("POST", "/api/import/cancel");
      const cancelled = (await importing).body;
      const status = (await second.fetch("/api/status")).status;
      await second.close();
      console.log(JSON.stringify([second.kernel.pool.threaded, body, cancelled, status]));`;
    await writeFile(join(consumer, "hostile.mjs"), script);
    const { stdout } = await exec(process.execPath, ["hostile.mjs"], { cwd: consumer, timeout: 60_000 });
    const [threaded, report, cancelled, status] = JSON.parse(stdout);
    expect(threaded).toBe(true);
    expect(report).toMatchObject({ imported: 1, failed: [{ id: "exits:one", code: "WORKER_ENDED" }] });
    expect([cancelled.imported, cancelled.cancelled, status]).toEqual([0, 1, 200]);
  });

  it("loads no heavy package for its public entry", async () => {
    const script = `
      const { register } = await import("node:module");
      register("data:text/javascript," + encodeURIComponent(
        "export async function resolve(s, c, n) { const r = await n(s, c); if (r.url.includes('/node_modules/')) process._rawDebug(r.url); return r; }"));
      await import("sessarc");`;
    const { stderr } = await exec(process.execPath, ["--input-type=module", "-e", script], { cwd: consumer });
    const packages = [...stderr.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)].map((match) => match[1]);
    expect(new Set(packages)).toEqual(new Set(["valibot"]));
  });

  it("keeps names of functions without defining them while it runs, and its lines are short", async () => {
    const files = (await readdir(join(ROOT, "dist"), { recursive: true })).filter(
      (name) => name.endsWith(".mjs") && !name.startsWith("ui"),
    );
    const code = new Map<string, string>();
    for (const name of files) code.set(name, await readFile(join(ROOT, "dist", name), "utf8"));
    const all = [...code.values()].join("\n");
    expect(all).toMatch(/function importSession\(/);
    // As esbuild's `keepNames` does, for each inner function whenever the one around it runs.
    expect(all).not.toMatch(/=>\w+\(\w+,["'`]name["'`],\{value:\w+,configurable:!0\}\)/);
    // Data and expressions are long; of code a line ends where a statement begins.
    const long = [...code].filter(([, text]) => text.split("\n").filter((line) => line.length > 2_000).length > 8);
    expect(long.map(([name]) => name)).toEqual([]);
  });

  it("packs what users need and nothing else, within its size", async () => {
    const packed = await packedTarball();
    const paths = packed.files.map((file) => file.path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "LICENSE",
        "README.md",
        "package.json",
        "dist/cli.mjs",
        "dist/skill/sessarc/SKILL.md",
        "dist/ui/licenses.txt",
        "dist/ui/scripts.br",
      ]),
    );
    expect(
      paths.filter(
        (path) =>
          !/^(dist\/|docs\/[\w/-]+\.(?:md|sql|yaml|service)$|LICENSE$|CHANGELOG\.md$|((core|plugins|ui)\/)?README\.md$|package\.json$)/.test(
            path,
          ),
      ),
    ).toEqual([]);
    const report = `packed ${Math.round(packed.size / 1024)} KiB, unpacked ${Math.round(packed.unpackedSize / 1024)} KiB`;
    expect(packed.size, report).toBeLessThan(2.95e6);
    expect(packed.unpackedSize, report).toBeLessThan(8e6);
  });

  it("brings few packages along", async () => {
    type Locked = { dev?: boolean; devOptional?: boolean; peer?: boolean; cpu?: string[] };
    const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")) as {
      packages: Record<string, Locked>;
    };
    const brought = Object.entries(lock.packages).filter(
      ([path, it]) => path.startsWith("node_modules/") && !it.dev && !it.devOptional && !it.peer && !it.cpu,
    );
    expect(brought.map(([path]) => path).join(" ")).not.toContain("modelcontextprotocol");
    // And the one of @parcel/watcher's programs that fits the machine.
    expect(brought.length + 1).toBeLessThanOrEqual(60);
  });

  it("brings the notices of every package that is in the dashboard", async () => {
    await packedTarball();
    const notices = await readFile(join(ROOT, "dist/ui/licenses.txt"), "utf8");
    const names = [...notices.matchAll(/^(\S+) \d+\.\S+ \(.+\)$/gm)].map((match) => match[1]);
    for (const name of [
      "@vue/runtime-core",
      "vue-router",
      "pinia",
      "reka-ui",
      "virtua",
      "@shikijs/core",
      "markdown-it",
    ])
      expect(names, name).toContain(name);
    for (const name of [
      "dompurify",
      "diff",
      "tailwindcss",
      "@fontsource-variable/inter",
      "@iconify-json/lucide",
      "listhen",
    ])
      expect(names, name).toContain(name);
    for (const notice of notices.split(/^-{80}$/m)) expect(notice).toMatch(/copyright|licen[cs]e/i);
    expect(notices).toContain("Lucide Contributors");
  });

  it("says nothing about the machine it was built on", async () => {
    const files = (await readdir(join(ROOT, "dist"), { recursive: true })).filter((name) =>
      /\.(mjs|d\.ts)$/.test(name),
    );
    for (const name of files) expect(await readFile(join(ROOT, "dist", name), "utf8"), name).not.toContain(ROOT);
  });
});

const THIRD_PARTY = `
import { definePlugin, defineRoute, type ApiRoutes, type Kernel, type RoutesOf } from "sessarc";
import type { Project } from "sessarc/plugins";

export const routes = [
  defineRoute({ method: "GET", path: "/hello/:name", summary: "Greets", handler: ({ params }) => ({ hello: params.name }) }),
] as const;
export default definePlugin({ name: "hello", dependsOn: ["archive"], routes, setup: (kernel) => {
  kernel.inject("archive").generation.toFixed();
} });
declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}

type Answer<K extends keyof ApiRoutes> = ApiRoutes[K] extends { response: infer R } ? R : never;
export const own: Answer<"GET /hello/:name"> = { hello: "you" };
export const firstOf = (projects: Answer<"GET /projects">): Project | undefined => projects[0];
export const total = (answer: Answer<"GET /search">): number => answer.total.sessions;
export const git = (kernel: Kernel) => kernel.inject("git");
`;

describe("types for third parties", () => {
  it("hold the built-in routes and services, take one more, and refuse what is not there", async () => {
    const bad = `${THIRD_PARTY}
export const wrong: Answer<"GET /no-such-route"> = {};
export const param: Answer<"GET /hello/:name"> = { hello: 1 };
export const none = (kernel: Kernel) => kernel.inject("no-such-service");
export const field = (answer: Answer<"GET /search">) => answer.noSuchField;
`;
    const complaints = await compile("bad.ts", bad);
    expect(complaints).toContain('"GET /no-such-route"');
    expect(complaints).toContain("'number' is not assignable to type 'string'");
    expect(complaints).toContain('"no-such-service"');
    expect(complaints).toContain("noSuchField");
    // Each of the four lines, and no other: not of the plugin above them, and not of the package's types.
    const places = [...complaints.matchAll(/^(\S+)\((\d+),\d+\): error/gm)].map(([, file, line]) => `${file} ${line}`);
    const first = THIRD_PARTY.split("\n").length + 1;
    expect([...new Set(places)].map((place) => place.replace(/^.*\//, ""))).toEqual(
      [0, 1, 2, 3].map((n) => `bad.ts ${first + n}`),
    );
  });

  it("hold what every plugin adds: each route of the built-in plugins has its answer", async () => {
    const { routes } = JSON.parse(await readFile(join(ROOT, "dist/responses.json"), "utf8")) as { routes: object };
    const keys = JSON.stringify(Object.keys(routes).filter((key) => !key.includes("/api/")));
    const code = `import type { ApiRoutes } from "sessarc";
import type { KernelRoutes } from "sessarc/serve";
import type {} from "sessarc/plugins";
export const keys: readonly (keyof ApiRoutes | keyof KernelRoutes)[] = ${keys};`;
    expect(await compile("routes.ts", code)).toBe("");
  });

  it("need nothing that is not installed, and can be built upon with declarations", async () => {
    const names = await pluginNames();
    const code = [
      'import { defineAdapter } from "sessarc/adapter";',
      'import { defaultPlugins } from "sessarc/plugins";',
      ...names.map((name, n) => `import plugin${n} from "sessarc/plugins/${name}";`),
      "export const all = defaultPlugins();",
      `export const each = [${names.map((_, n) => `plugin${n}`).join(", ")}];`,
      'export const adapter = defineAdapter(() => ({ name: "x", label: "X", roots: () => [], async *scan() {}, open: () => ({ version: () => "1", async *read() { return { usage: {} }; } }) }));',
    ];
    expect(await compile("plugins.ts", code.join("\n"), { noEmit: false, declaration: true, outDir: "built" })).toBe(
      "",
    );
  });
});
