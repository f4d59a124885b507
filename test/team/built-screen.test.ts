/** The screen People is a module that the build makes: whether the built package's works with nothing but `vue`, `sessarc/kit` and its host. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import * as vue from "vue";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, startService } from "../built.ts";
import { runCommand } from "../command.ts";
import { engines } from "./postgres.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

beforeAll(builtPackage);

/** Text of a tree as `h` makes it, with that of its slots. */
function toText(node: unknown): string {
  if (typeof node === "string" || typeof node === "number") return `${node} `;
  if (typeof node === "function") return toText(node());
  if (Array.isArray(node)) return node.map(toText).join("");
  if (typeof node !== "object" || node === null) return "";
  const { props, children } = node as { props?: Record<string, unknown> | null; children?: unknown };
  const { title, caption, columns, rows, label, options } = props ?? {};
  const cells = ((rows ?? []) as object[]).map((row) =>
    ((columns ?? []) as { title: string; value(row: object): unknown }[]).map((one) => [one.title, one.value(row)]),
  );
  const slots = vue.isVNode(node) || Array.isArray(children) ? children : Object.values(children ?? {});
  const choices = ((options ?? []) as { label: string }[]).map((one) => one.label);
  return toText([title ?? "", caption ?? "", label ?? "", choices, cells, slots].flat(3));
}

it("the screen of the built server shows usage and sessions in each language, with nothing but what the dashboard hands it", async () => {
  const [engine] = engines();
  const { database, stop } = (await engine?.open()) ?? { database: "", stop: async () => {} };
  onTestFinished(stop);
  const home = await makeTempDir();
  const laptop = await makeTempDir();
  const server = await startService(["--database", database, "--data-dir", join(home, "data")], home, {}, [
    "team",
    "serve",
  ]);
  onTestFinished(async () => void (await server.stop()));
  const link = () => /team join (http:\S+#[\w-]{43})/.exec(server.stdout())?.[1];
  await expect.poll(link).toBeDefined();
  await runCommand(["team", "join", link() ?? "", "--name", "Olga"], laptop);
  const opened = await fetch((await runCommand(["team", "open"], laptop)).stdout.trim(), { redirect: "manual" });
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  const answer = await fetch(new URL("/plugins/team-view/ui.js", server.url), { headers: { cookie } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
  const text = await answer.text();
  expect([...text.matchAll(/from ?"([^"]+)"/g)].map(([, name]) => name).sort()).toEqual(["sessarc/kit", "vue"]);
  // Below the project, where both names lead somewhere.
  const folder = await mkdtemp(join(ROOT, "node_modules/.sessarc-screen-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "people.mjs");
  await writeFile(file, text.replace('"sessarc/kit"', JSON.stringify(pathToFileURL(join(ROOT, "dist/kit.mjs")).href)));
  const kit = {
    Page: "page",
    Section: "section",
    Table: "table",
    Empty: "empty",
    Failure: "failure",
    Button: "button",
  };
  const place = Symbol.for("sessarc.dashboard");
  Object.assign(globalThis, { [place]: { vue, kit: { ...kit, Select: "select" } } });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, place));
  const { default: load } = await import(/* @vite-ignore */ pathToFileURL(file).href);

  // A page asks the server that it came from.
  const fromPage: typeof fetch = (path, init) =>
    request(new URL(String(path), server.url), { ...init, headers: { cookie } });
  const request = globalThis.fetch;
  vi.stubGlobal("fetch", fromPage);
  onTestFinished(() => void vi.unstubAllGlobals());

  for (const [language, title, person, remove] of [
    ["en", "People", "Person", "Remove"],
    ["zh-CN", "人员", "人员", "移除"],
    ["ja", "メンバー", "メンバー", "削除"],
    ["fr", "People", "Person", "Remove"],
  ]) {
    const asked: string[] = [];
    const ui = load({
      language,
      css: () => {},
      router: {
        push: async () => {},
        currentRoute: vue.shallowRef({ path: "/people", query: { by: "person" } }),
      },
      async api(key: string) {
        asked.push(key);
        if (key === "GET /team/people")
          return { people: [{ id: "p1", name: "Olga", machines: [{ machine: "m1", name: "desk" }] }] };
        if (key === "GET /team/sessions")
          return {
            sessions: [
              { id: "codex:m1~a", title: "A title", person: "p1", machine: "m1", endedAt: "2026-11-20T10:00Z" },
            ],
            nextCursor: "next",
          };
        return { rows: [{ key: "p1", name: "Olga", sessions: 3, tokens: { output: 7 }, cost: { microdollars: 2e6 } }] };
      },
    });
    expect(ui.nav).toEqual([{ path: "/people", label: title, icon: "users-round" }]);
    const render = ui.routes[0].component.setup();
    await expect.poll(() => toText(render())).toContain("A title");
    await expect.poll(() => toText(render())).toContain(`${remove} `);
    expect(new Set(asked)).toEqual(new Set(["GET /team/people", "GET /team/usage", "GET /team/sessions"]));
    expect(toText(render())).toContain(person);
    expect(toText(render())).toContain("desk");
    expect(toText(render())).toMatch(/2[.,]00/);
  }
});
