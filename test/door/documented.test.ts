/** Code blocks of our READMEs do what the text around them says. Each names its file in its first line. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "sessarc";
import type { DashboardHost, DashboardModule, TableColumn } from "sessarc/dashboard";
import archive from "sessarc/plugins/archive";
import claude from "sessarc/plugins/claude-code";
import { writeDemo } from "sessarc/plugins/demo";
import { loadConfig } from "sessarc/serve";
import { createTestKernel } from "sessarc/test";
import { afterAll, describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { documented } from "./_packed.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READMES = ["README.md", "core/README.md", "docs/guides/plugins.md"];
/** Blocks that a test runs (`guarded.ts`: guarded.test.ts); a new one needs a test. */
const RUN = [
  "sessarc.config.mjs",
  "echo.ts",
  "echo.test.ts",
  "hello.ts",
  "embed.ts",
  "busy.js",
  "greet.ts",
  "guarded.ts",
  "busiest.ts",
  "reads.ts",
  "reads-indexer.ts",
  "lent.ts",
];

// Below the project, where `sessarc` and `sessarc/test` are what the sources say.
const folder = await mkdtemp(join(ROOT, "node_modules/.sessarc-documented-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const PAGES: Record<string, string> = { "embed.ts": "core/README.md" };
for (const name of [
  "echo.ts",
  "echo.test.ts",
  "hello.ts",
  "embed.ts",
  "greet.ts",
  "busiest.ts",
  "reads.ts",
  "reads-indexer.ts",
  "lent.ts",
]) {
  const readme = PAGES[name] ?? "docs/guides/plugins.md";
  await writeFile(join(folder, name), await documented(readme, name));
}
await mkdir(join(folder, "fixtures"));
await writeFile(
  join(folder, "fixtures/first.jsonl"),
  [1, 2, 3]
    .map((n) =>
      JSON.stringify({
        role: n === 1 ? "human" : "bot",
        text: `Message ${n}`,
        ts: `2026-11-01T10:00:0${n}Z`,
        ...(n > 1 && { id: `r${n}`, model: "echo-1", tokens: { input: 10, output: n } }),
      }),
    )
    .join("\n")
    .concat("\n"),
);

// The documented test: the whole suite of `testAdapter`.
await import(/* @vite-ignore */ join(folder, "echo.test.ts"));

/** What `h` was asked for, instead of a drawing of it. */
type Drawn = [kind: string, props: { title: string }, children: () => unknown];
const fakeHost = (projects: unknown[]) => ({ api: async () => projects }) as unknown as DashboardHost;
/** What a page imports in the dashboard, by its name there. */
const SHARED: Record<string, string> = {
  vue: "export const h = (...args) => args;\nexport const ref = (value) => ({ value });\nexport const onMounted = (run) => run();\n",
  "sessarc/kit": ["Page", "Table", "Failure", "Empty"].map((name) => `export const ${name} = "${name}";\n`).join(""),
};

describe("documented code", () => {
  it("is all run by a test", async () => {
    const texts = await Promise.all(READMES.map((name) => readFile(join(ROOT, name), "utf8")));
    const blocks = texts.flatMap((text) => [...text.matchAll(/^```(?:ts|js)\n(.*)$/gm)].map((match) => match[1]));
    expect(blocks.sort()).toEqual(RUN.map((name) => `// ${name}`).sort());
  });

  it("reads.ts fills its table while sessions are imported", async () => {
    // As a compiler leaves it: the plugin names the module by its built name.
    const built = await readFile(join(folder, "reads-indexer.ts"), "utf8");
    await writeFile(
      join(folder, "reads-indexer.js"),
      built.replace(/^import type .*$/m, "").replace(/ satisfies .*;/, ";"),
    );
    const { default: reads } = (await import(join(folder, "reads.ts"))) as { default: () => Plugin };
    const t = await createTestKernel({ plugins: [archive(), claude(), reads()] });
    const log = join(t.home, ".claude/projects/-w/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    const call = (id: string, name: string) => ({ type: "tool_use", id, name, input: { file_path: "/w/a.ts" } });
    const row = {
      type: "assistant",
      uuid: "a",
      timestamp: "2026-11-01T10:00:00Z",
      message: { id: "m", role: "assistant" },
    };
    const content = [call("1", "Read"), call("2", "Read"), call("3", "Bash")];
    await mkdir(dirname(log), { recursive: true });
    await writeFile(log, `${JSON.stringify({ ...row, message: { ...row.message, content } })}\n`);
    await t.send("POST", "/api/import", { all: true });
    expect(await t.kernel.storage.db.all("select session, reads from read_count")).toEqual([
      { session: "claude-code:aaaaaaaa-0000-4000-8000-000000000001", reads: 2 },
    ]);
  });

  it("busiest.ts prints projects by their sessions", async () => {
    const home = await makeTempDir();
    const ask = (...flags: string[]) => runCommand(["--plugin", join(folder, "busiest.ts"), "busiest", ...flags], home);
    expect(await ask("--json")).toMatchObject({ code: 3, stdout: "[]\n" });
    await writeDemo({ home, now: new Date("2026-11-20T15:00:00Z"), platform: process.platform });
    await runCommand(["import"], home);
    const { code, stdout } = await ask();
    expect(code).toBe(0);
    expect(stdout.split("\n").slice(0, 2).join("\n")).toMatch(/^project +sessions\ntidepool +\d+$/);
  });

  it("greet.ts answers its route", async () => {
    const { default: greet } = (await import(join(folder, "greet.ts"))) as { default: () => Plugin };
    const { json } = await createTestKernel({ plugins: [greet()] });
    expect(await json("/api/greet")).toEqual({ text: "hello from 127.0.0.1" });
  });

  it("lent.ts answers the rows of its table, with a field more after the steps of the guide", async () => {
    await writeFile(join(folder, "lent-ui.js"), "export default () => ({});\n");
    const { default: lent } = (await import(join(folder, "lent.ts"))) as { default: () => Plugin };
    const first = await createTestKernel({ plugins: [lent()] });
    expect(await first.json("/api/lent")).toEqual([{ what: "a book", who: "Ada" }]);
    const page = await first.fetch("/plugins/lent/ui.js");
    expect([page.headers.get("content-type"), await page.text()]).toEqual([
      "text/javascript",
      "export default () => ({});\n",
    ]);
    await first.kernel.close();

    const guide = await readFile(join(ROOT, "docs/guides/plugins.md"), "utf8");
    const step = /`"(alter table lent [^"]+)"`/.exec(guide)?.[1] ?? expect.unreachable();
    const text = await documented("docs/guides/plugins.md", "lent.ts");
    const longer = text
      .replace("'Ada')\",", `'Ada')",\n    "${step}",`)
      .replace("what, who from", "what, who, due from");
    await writeFile(join(folder, "lent-due.ts"), longer);
    const { default: due } = (await import(join(folder, "lent-due.ts"))) as { default: () => Plugin };
    const second = await createTestKernel({ plugins: [due()], home: first.home });
    expect(await second.json("/api/lent")).toEqual([{ what: "a book", who: "Ada", due: null }]);
    await second.kernel.close();

    const edited = await import(join(folder, "lent.ts")).then((module) => (module.default as () => Plugin)());
    const [, ...others] = edited.migrations ?? [];
    const changed = {
      ...edited,
      migrations: ["create table lent (id integer, what text, who text, due text)", ...others],
    };
    await expect(createTestKernel({ plugins: [changed], home: first.home })).rejects.toMatchObject({
      fix: expect.stringContaining("append another migration"),
    });
  });

  it("hello.ts answers its route", async () => {
    const { default: hello } = (await import(join(folder, "hello.ts"))) as { default: () => Plugin };
    const { json } = await createTestKernel({ plugins: [hello()] });
    expect(await json("/api/hello/you")).toEqual({ hello: "you" });
  });

  it("busy.js adds a page that lists projects by their sessions", async () => {
    let text = await documented("docs/guides/plugins.md", "busy.js");
    for (const [n, [name, source]] of Object.entries(SHARED).entries()) {
      await writeFile(join(folder, `shared-${n}.js`), source);
      text = text.replace(`from "${name}"`, `from "./shared-${n}.js"`);
    }
    await writeFile(join(folder, "busy.js"), text);
    const { default: busy } = (await import(join(folder, "busy.js"))) as { default: DashboardModule };
    const project = { name: "tidepool", sessionCount: 3 };
    const { nav, routes } = busy(fakeHost([project]));
    expect([nav?.[0]?.path, routes?.[0]?.path]).toEqual(["/busy", "/busy"]);
    const page = routes?.[0]?.component as { setup(): () => Drawn } | undefined;
    const draw = page?.setup() ?? expect.unreachable();
    await new Promise((resolve) => setImmediate(resolve));
    const [kind, { title }, children] = draw();
    expect([kind, title]).toEqual(["Page", "Busy"]);
    const [table, { columns, rows }] = children() as [string, { columns: TableColumn<unknown>[]; rows: unknown[] }];
    expect(table).toBe("Table");
    expect(rows.map((row) => columns.map((column) => column.value(row)))).toEqual([["tidepool", 3]]);
  });

  it("embed.ts asks an archive without a service", async () => {
    const { readStatus, readProjects } = (await import(join(folder, "embed.ts"))) as {
      readStatus(dir: string): Promise<{ version: string }>;
      readProjects(dir: string): Promise<unknown[]>;
    };
    const dataDir = join(folder, "data");
    expect(await readStatus(dataDir)).toMatchObject({ version: expect.stringMatching(/^\d/) });
    expect(await readProjects(dataDir)).toEqual([]);
  });

  it("sessarc.config.mjs is a configuration", async () => {
    await writeFile(join(folder, "sessarc.config.mjs"), await documented("README.md", "sessarc.config.mjs"));
    const config = await loadConfig({ cwd: folder, env: { home: folder, platform: process.platform, env: {} } });
    expect(config).toMatchObject({
      port: 41730,
      portFixed: true,
      roots: { "claude-code": ["/backup/claude/projects"] },
    });
    expect(config.plugins).toMatchObject([
      { specifier: "sessarc-adapter-aider" },
      { options: { dir: "/backup/echo" } },
    ]);
  });
});
