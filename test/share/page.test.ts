import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { HtmlValidate } from "html-validate";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { type Row, SESSION, startWith } from "../security/_kernel.ts";
import { letters } from "../security/_samples.ts";
import { NO_BROWSER, openBrowser } from "../ui/chromium.ts";

const ROWS: Row[] = [
  {
    role: "user",
    text: `Why does the upload fail? The key is ghp_${letters(36, 88)} and the page https://example.org/a?b=1`,
  },
  {
    role: "assistant",
    text: "I look at **three** places:\n\n1. the `upload()` call\n2. its retries\n\n- a\n- b\n\n> quoted\n\n## Plan\n\n```ts\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nSee [the docs](https://example.org/docs).",
  },
  { role: "call", input: { command: "npm test -- upload", description: "Run the tests" }, id: "a" },
  { role: "result", id: "a", text: `FAIL upload.test.ts\n${"expected 200, got 500 ".repeat(30)}`, failed: true },
  {
    role: "call",
    name: "Edit",
    input: { file_path: "/w/app/src/upload.ts", old_string: "<a>", new_string: "<b>" },
    id: "b",
  },
  { role: "result", id: "b", text: "ok" },
  { role: "assistant", text: "Fixed." },
];

async function pageOf(rows: readonly Row[]): Promise<string> {
  const t = await startWith(rows);
  return (await t.fetch(`/api/sessions/${SESSION}/export-redacted?format=html`)).text();
}

describe("share: page", () => {
  it("is valid HTML, without a script", async () => {
    const page = await pageOf(ROWS);
    expect(page).not.toMatch(/<script|<link|<img|\son\w+=/i);
    const validate = new HtmlValidate({
      extends: ["html-validate:recommended"],
      rules: {
        "long-title": "off",
        "no-trailing-whitespace": "off",
        "no-inline-style": "off",
        "doctype-style": "off",
        "prefer-native-element": "off",
      },
    });
    const report = await validate.validateString(page);
    expect(
      report.results.flatMap(({ messages }) =>
        messages.map(({ ruleId, message, line }) => `${line} ${ruleId}: ${message}`),
      ),
    ).toEqual([]);
  });

  it.skipIf(NO_BROWSER)("has no accessibility fault, asks for nothing, and fits a phone", async () => {
    const page = await pageOf(ROWS);
    const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    const browser = await openBrowser(inject("browser"));
    onTestFinished(() => browser.close());
    // axe itself is a script, and the page allows none.
    const tab = await browser.newPage({ bypassCSP: true });
    const requests: string[] = [];
    const problems: string[] = [];
    tab.on("request", (request) => requests.push(request.url()));
    tab.on("console", (message) => problems.push(message.text()));
    await tab.setContent(page);
    await tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    await tab.addScriptTag({ content: axe });
    for (const colorScheme of ["light", "dark"] as const) {
      await tab.emulateMedia({ colorScheme });
      for (const width of [1280, 390, 320]) {
        await tab.setViewportSize({ width, height: 800 });
        const faults = await tab.evaluate(async () => {
          const { violations } = await (
            globalThis as unknown as {
              axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
            }
          ).axe.run();
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
        });
        expect(faults, `${colorScheme} ${width}`).toEqual([]);
        expect(await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(
          0,
        );
        if (process.env.SESSARC_SHOTS)
          await tab.screenshot({ path: `${process.env.SESSARC_SHOTS}/${colorScheme}-${width}.png`, fullPage: true });
      }
    }
    expect([requests, problems]).toEqual([[], []]);
  });

  it.skipIf(NO_BROWSER)("is styled under its own policy, and shows folded parts in print", async () => {
    const page = await pageOf(ROWS);
    const browser = await openBrowser(inject("browser"));
    onTestFinished(() => browser.close());
    const tab = await browser.newPage({ colorScheme: "dark" });
    const problems: string[] = [];
    tab.on("console", (message) => problems.push(message.text()));
    await tab.setContent(page);
    expect(await tab.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(17, 18, 20)");
    await tab.emulateMedia({ media: "print" });
    expect(
      await tab.evaluate(
        "[...document.querySelectorAll('pre')].filter((one) => one.getBoundingClientRect().height === 0).length",
      ),
    ).toBe(0);
    expect(problems).toEqual([]);
  });
});
