/** What a plugin adds to the dashboard, and what the dashboard's own routes answer. */
import { definePlugin, defineRoute } from "sessarc";
import { describe, expect, it } from "vitest";
import words from "../../playground/plugins/words.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import dashboard from "../../plugins/dashboard/index.ts";
import { createTestKernel } from "../kernel.ts";
import { module } from "./_kit-module.ts";
import { violations } from "./axe.ts";
import { describeUi, load, sessionId, useStage, visit } from "./browser.ts";
import { writeLongSession } from "./long-session.ts";

const SCRIPT = `export default ({ vue: { h } }) => ({
  nav: [{ path: "/hello", label: "Hello", icon: "plug" }],
  routes: [{ path: "/hello", component: { render: () => h("h1", { tabindex: -1 }, "Hello from a plugin") } }],
  sessionPanes: [{ id: "words", label: "Words", component: { props: ["session"], render() { return h("p", this.session.session.messageCount + " counted"); } } }],
  messageRenderers: { Bash: { props: ["message"], render() { return h("p", "drawn by a plugin: " + this.message.tool_input.command); } } },
});`;
const hello = definePlugin({
  name: "hello",
  routes: [
    defineRoute({
      method: "GET",
      path: "/plugins/hello/ui.js",
      mount: "/",
      summary: "Its part of the dashboard",
      handler: () => new Response(SCRIPT, { headers: { "content-type": "text/javascript; charset=utf-8" } }),
    }),
  ],
});
const broken = definePlugin({
  name: "broken",
  routes: [
    defineRoute({
      method: "GET",
      path: "/plugins/broken/ui.js",
      mount: "/",
      summary: "Fails",
      handler: () =>
        new Response("export default () => { throw new Error('no') }", {
          headers: { "content-type": "text/javascript" },
        }),
    }),
  ],
});

const birds = definePlugin({
  name: "birds",
  routes: [
    defineRoute({
      method: "GET",
      path: "/plugins/birds/ui.js",
      mount: "/",
      summary: "Its part of the dashboard",
      handler: () =>
        new Response(`export default ${module.toString()}`, { headers: { "content-type": "text/javascript" } }),
    }),
  ],
});

const TREES = `import { h, ref } from "vue";
import { Page, Select, Table } from "sessarc/kit";
const columns = [{ title: "Tree", value: (row) => row }];
const Trees = {
  setup() {
    const kind = ref("oak");
    const options = ["oak", "elm"].map((value) => ({ value, label: value }));
    return () =>
      h(Page, { title: "Trees" }, () => [
        h(Select, { label: "Kind", value: kind.value, options, onSelect: (value) => { kind.value = value; } }),
        h(Table, { caption: "Trees", columns, rows: ["old " + kind.value] }),
      ]);
  },
};
export default () => ({ routes: [{ path: "/trees", component: Trees }] });`;
const trees = definePlugin({
  name: "trees",
  routes: [
    defineRoute({
      method: "GET",
      path: "/plugins/trees/ui.js",
      mount: "/",
      summary: "Its part of the dashboard",
      handler: () => new Response(TREES, { headers: { "content-type": "text/javascript" } }),
    }),
  ],
});

describeUi("dashboard: plugins", () => {
  const get = useStage({ plugins: [hello(), broken(), birds(), trees(), words()] });

  it("has parts for pages that look and behave as its own", async () => {
    const stage = get();
    const { page } = stage;
    const warnings: string[] = [];
    page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
    await visit(stage, "/birds");
    await page.getByRole("heading", { level: 1, name: "Birds" }).waitFor();
    await page.getByRole("cell", { name: "R-12" }).waitFor();
    expect(
      await page.getByRole("table", { name: "Birds of this year" }).getByRole("rowheader").allTextContents(),
    ).toEqual(["chiffchaff", "wryneck"]);
    await page.getByRole("combobox", { name: "Seen from" }).click();
    await page.getByRole("option", { name: "The roof" }).click();
    await page.getByRole("cell", { name: "R-12" }).waitFor({ state: "detached" });
    await page.getByRole("cell", { name: "R-1", exact: true }).waitFor();
    await page.getByText("Nothing was seen").waitFor();
    const colour = (selector: string) => page.locator(selector).evaluate((node) => getComputedStyle(node).color);
    await page.evaluate(() => {
      document.documentElement.dataset.theme = "dark";
    });
    const dark = await colour(".birds-note");
    await page.evaluate(() => {
      document.documentElement.dataset.theme = "light";
    });
    expect(await colour(".birds-note")).not.toBe(dark);
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByRole("alert").getByText("No session codex:none").waitFor();
    await page.getByText("404 SESSION_NOT_FOUND").waitFor();
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByText("again", { exact: true }).waitFor();
    expect(await violations(stage)).toEqual([]);
    expect(
      warnings.filter((one) => one.includes('Plugin "birds": there is no icon "burd". There are archive, ')),
    ).toHaveLength(1);
    await page.getByRole("link", { name: "Birds" }).waitFor();
    stage.problems(); // the 404 that was asked for
  });

  it("lets a page import the dashboard's own Vue and its parts, and nothing of another origin", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/trees");
    await page.getByRole("rowheader", { name: "old oak" }).waitFor();
    await page.getByRole("combobox", { name: "Kind" }).click();
    await page.getByRole("option", { name: "elm" }).click();
    await page.getByRole("rowheader", { name: "old elm" }).waitFor();
    const names = (file: string) => page.evaluate<string[]>(`import("${file}").then((all) => Object.keys(all).sort())`);
    const shared = await page.evaluate(() => {
      const { vue, kit } = (globalThis as unknown as Record<symbol, { vue: object; kit: object }>)[
        Symbol.for("sessarc.dashboard")
      ] as { vue: object; kit: object };
      return [Object.keys(vue).sort(), Object.keys(kit).sort()];
    });
    expect([await names("/vue.js"), await names("/kit.js")]).toEqual(shared);
    expect(Object.keys(await import("sessarc/kit")).sort()).toEqual(shared[1]);
    expect(await violations(stage)).toEqual([]);
    stage.problems(); // of the plugin that fails
  });

  it("has its screen at once when its module is there before the screen of unknown addresses", async () => {
    const stage = get();
    const { page } = stage;
    await page.route(/\/not-found-[^/]+\.js/, async (route) => {
      await page.getByRole("link", { name: "Hello" }).waitFor();
      await route.continue();
    });
    await visit(stage, "/hello");
    await page.getByRole("heading", { name: "Hello from a plugin" }).waitFor();
    await page.unroute(/\/not-found-[^/]+\.js/);
    stage.problems(); // of the plugin that fails
  });

  it("shows the sample plugin of the playground", async () => {
    const stage = get();
    await visit(stage, "/words");
    await stage.page.getByRole("table", { name: "Words" }).first().waitFor();
  });

  it("adds a page with a place in the rail, a pane and a renderer; one that fails is left out", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/hello");
    await page.getByRole("heading", { name: "Hello from a plugin" }).waitFor();
    expect(stage.problems().filter((one) => !one.includes("/plugins/broken/ui.js"))).toEqual([]);
    await page.getByRole("link", { name: "Code", exact: true }).click();
    await page.waitForURL(/projects/);
    await page.getByRole("link", { name: "Hello" }).click();
    await page.waitForURL(/hello/);
    await visit(stage, `/sessions/${await sessionId(stage, "Write a test for extremes")}?pane=words`);
    await page.getByText("9 counted").waitFor();
    await page.getByText("drawn by a plugin: npm test").waitFor();
  });

  it("keeps two panes of one id apart, in the order of the plugins, whichever module comes first", async () => {
    const stage = get();
    const { page } = stage;
    await page.route("**/plugins/hello/ui.js", async (route) => {
      await page.getByRole("link", { name: "Words" }).waitFor();
      await route.continue();
    });
    const id = await sessionId(stage, "Write a test for extremes");
    await load(stage, `/sessions/${id}?pane=words`);
    await page.unroute("**/plugins/hello/ui.js");
    await page.getByText("9 counted").waitFor();
    const panes = page.getByRole("navigation", { name: "Side pane" });
    expect(await panes.locator("[aria-current=page]").count()).toBe(1);
    await panes.getByRole("button", { name: "Words" }).last().click();
    await page.waitForURL(/pane=words\.words/);
    await page.getByRole("table", { name: "Words" }).waitFor();
    stage.problems(); // of the plugin that fails
  });
});

describe("dashboard: its routes", () => {
  it("answers the page for deep links, files for a year, and 404 for what belongs to others", async () => {
    const t = await createTestKernel({ plugins: [archive(), dashboard()] });
    const deep = await t.fetch("/sessions/codex%3Aa?m=3");
    // A checkout that was not built reports it.
    if (deep.status === 404) return expect(((await deep.json()) as { code: string }).code).toBe("DASHBOARD_NOT_BUILT");
    expect(deep.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(deep.headers.get("cache-control")).toBe("no-cache");
    const html = await deep.text();
    expect(html).not.toMatch(/<script>(?!<)/);
    const script = /src="(\/assets\/[^"]+)"/.exec(html)?.[1] ?? "";
    expect((await t.fetch(script)).headers.get("cache-control")).toContain("immutable");
    for (const path of ["/assets/none.js", "/share/x", "/mcp", "/plugins/none/ui.js", "/api/none"])
      expect((await t.fetch(path)).status, path).toBe(404);
    expect((await t.fetch("/", { headers: { "if-none-match": deep.headers.get("etag") ?? "" } })).status).toBe(304);
    expect(await (await t.fetch("/..%2f..%2fpackage.json")).text()).not.toContain("devDependencies");
    expect(await (await t.fetch("/.vite/manifest.json")).text()).toContain("<!doctype html>");
  });

  it("outlines a session as its messages are, and finds texts in any case", async () => {
    const t = await createTestKernel({ plugins: [archive(), claude(), dashboard()] });
    const { id } = await writeLongSession(t.home, 300);
    await t.send("POST", "/api/import", { all: true });
    const { messages } = await t.json<{
      messages: {
        seq: number;
        kind: string;
        at: string;
        text: string;
        is_error?: boolean;
        tool_name?: string;
        tool_use_id?: string;
      }[];
    }>(`/api/sessions/${id}/messages`);
    const outline = await t.json<{
      total: number;
      kinds: string;
      start: number;
      steps: number[];
      tools: { name: string }[];
      calls: number[];
      results: number[];
      errors: number[];
      prompts: { seq: number }[];
    }>(`/api/sessions/${id}/outline`);
    const kinds = ["user", "assistant", "thinking", "tool_use", "tool_result", "note"];
    expect([...outline.kinds].map((digit) => kinds[Number(digit)])).toEqual(messages.map((one) => one.kind));
    const times = outline.steps.map(
      (_, seq) => outline.start + outline.steps.slice(0, seq + 1).reduce((a, b) => a + b, 0),
    );
    expect(times.map((at) => new Date(at).toISOString())).toEqual(messages.map((one) => one.at));
    expect(outline.errors).toEqual(messages.filter((one) => one.is_error).map((one) => one.seq));
    expect(outline.calls.map((call) => outline.tools[call]?.name)).toEqual(
      messages.filter((one) => one.kind === "tool_use").map((one) => one.tool_name),
    );
    const calls = new Map(messages.filter((one) => one.kind === "tool_use").map((one) => [one.tool_use_id, one.seq]));
    expect(outline.results).toEqual(
      messages.filter((one) => one.kind === "tool_result").map((one) => calls.get(one.tool_use_id)),
    );
    expect(outline.prompts.map((one) => one.seq)).toEqual(
      messages.filter((one) => one.kind === "user" || one.kind === "note").map((one) => one.seq),
    );
    const find = (q: string) =>
      t.json<{ seqs: number[]; words: string[]; relaxed: boolean }>(
        `/api/sessions/${id}/find?q=${encodeURIComponent(q)}`,
      );
    const holding = (...texts: string[]) =>
      messages.filter((one) => texts.every((text) => one.text.includes(text))).map((one) => one.seq);
    expect((await find('"STEP 3:"')).seqs).toEqual(holding("Step 3:"));
    const anyOrder = await find("3: tep");
    expect([anyOrder.seqs, anyOrder.words, anyOrder.relaxed]).toEqual([holding("3:", "tep"), ["3:", "tep"], false]);
    expect((await find('"3: Step"')).seqs).toEqual([]);
    const some = await find("3: zeppelins");
    expect([some.seqs, some.relaxed]).toEqual([holding("3:"), true]);
    expect((await find("kind:user step")).seqs).toEqual(
      messages.filter((one) => one.kind === "user" && /step/i.test(one.text)).map((one) => one.seq),
    );
    expect((await t.fetch("/api/sessions/none/outline")).status).toBe(404);
  });
});
