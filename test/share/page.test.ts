import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { HtmlValidate } from "html-validate";
import { describe, expect, it, onTestFinished } from "vitest";
import { pagePolicy } from "../../plugins/security/export/policy.ts";
import { makeTempDir } from "../_setup.ts";
import { type Row, SESSION, startWith } from "../security/_kernel.ts";
import { letters } from "../security/_samples.ts";
import { NO_BROWSER, openBrowser } from "../ui/chromium.ts";

const PATCH = "*** Begin Patch\n*** Update File: /w/app/src/a.ts\n@@ here\n-old\n+new\n*** End Patch";

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

async function readPage(rows: readonly Row[]): Promise<string> {
  const t = await startWith(rows);
  return (await t.fetch(`/api/sessions/${SESSION}/export-redacted?format=html`)).text();
}

describe("share: page", () => {
  it("renders the Markdown that the transcript renders", async () => {
    const text = [
      "| a | b |\n|:--|---|\n| 1 | `2` |",
      "~~gone~~ and [a file](src/a.ts) and ![a picture](https://example.org/p.png)",
      "- [x] done\n- [ ] open\n  - nested\n\n    continued",
      "1. one\n   ```\n   code\n   ```\n2. two",
      "[x](javascript:alert(1)) <b>raw</b> https://example.org/a_b_c",
    ].join("\n\n");
    const page = await readPage([{ role: "assistant", text }]);
    expect(page).toContain("<th>a</th>");
    expect(page).toContain("<td><code>2</code></td>");
    expect(page).toContain("<s>gone</s> and a file and a picture");
    expect(page).toContain('<li class="task">☑ done</li>');
    expect(page).toMatch(/<li>\n<p>nested<\/p>\n<p>continued<\/p>\n<\/li>/);
    expect(page).toMatch(/<li>\s*(?:<p>)?one(?:<\/p>)?\n?<pre [^>]+>\ncode<\/pre>\n<\/li>/);
    expect(page).toContain("x &lt;b&gt;raw&lt;/b&gt;");
    expect(page).toContain('<a href="https://example.org/a_b_c" rel="noopener noreferrer nofollow">');
    expect(page).not.toMatch(/style=|javascript:|<img|<b>raw/);
  });

  it("names the folder from the redacted name of its user on", async () => {
    const home = await makeTempDir();
    const t = await startWith([{ role: "user", text: "hello" }], { home, cwd: `/mnt/${basename(home)}/code/app` });
    const page = await (await t.fetch(`/api/sessions/${SESSION}/export-redacted?format=html`)).text();
    expect(page).toContain("<dt>Folder</dt><dd>…/code/app</dd>");
  });

  it("says how much it leaves out of a long text, of a change in one line too", async () => {
    const page = await readPage([
      { role: "call", name: "Write", input: { file_path: "/w/app/a.json", content: "ab ".repeat(7_000) }, id: "a" },
      { role: "result", id: "a", text: "cd ".repeat(8_000) },
    ]);
    expect(page.match(/\d+ more [a-z ]+ left out here/g)).toEqual([
      "1000 more characters were left out here",
      "4000 more characters were left out here",
    ]);
  });

  it("is valid HTML, with no script and nothing from elsewhere", async () => {
    const page = await readPage(ROWS);
    expect(page).not.toMatch(/<link|<img|\ssrc=|\son\w+=/i);
    expect(page).not.toMatch(/<script/i);
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
    const page = await readPage(ROWS);
    const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    const browser = await openBrowser();
    // axe itself is a script, and the page allows none.
    const tab = await browser.newPage({ bypassCSP: true });
    onTestFinished(() => tab.close());
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

  it("says the assistant's name, paths from the project on, and what an edit changed as a diff", async () => {
    const page = await readPage([
      { role: "user", text: "Rename it" },
      {
        role: "call",
        name: "Edit",
        input: {
          file_path: "/w/app/src/upload.ts",
          old_string: "one\ntwo <b>\nthree\n",
          new_string: "one\nTWO\nthree\n",
        },
        id: "b",
      },
      { role: "result", id: "b", text: "ok" },
      { role: "call", name: "Write", input: { file_path: "/w/app/new.ts", content: "first\nsecond\n" }, id: "c" },
      { role: "call", name: "apply_patch", input: PATCH, id: "d" },
    ]);
    expect(page).toContain("<dd>Claude Code</dd>");
    expect(page).toContain("<b>Edit</b> <code>src/upload.ts</code>");
    expect(page).toContain(
      "<span> one\n</span><del>-two &lt;b&gt;\n</del><ins>+TWO\n</ins><span> three\n</span></pre>",
    );
    expect(page).toContain("<ins>+first\n</ins><ins>+second\n</ins></pre>");
    expect(page).toContain("<b>apply_patch</b> <code>src/a.ts</code>");
    expect(page).toContain("<span>@@ here\n</span><del>-old\n</del><ins>+new\n</ins></pre>");
    expect(page).not.toContain("Arguments");
  });

  it.skipIf(NO_BROWSER)("says when its link ends, and times with their zone, wherever its reader is", async () => {
    const t = await startWith(ROWS);
    const { body } = await t.send<{ token: string; expiresAt: string }>("POST", `/api/sessions/${SESSION}/share`, {});
    const answer = await t.fetch(`/share/${body.token}`);
    const page = await answer.text();
    expect(page).toContain(`<dt>Link expires</dt><dd><time datetime="${body.expiresAt}">`);
    const browser = await openBrowser();
    const tab = await browser.newPage({ timezoneId: "Asia/Tokyo", locale: "en-GB" });
    onTestFinished(() => tab.close());
    const problems: string[] = [];
    tab.on("console", (message) => problems.push(message.text()));
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).not.toContain("script-src");
    const headers = { "content-security-policy": `${policy}; script-src 'none'` };
    await tab.route("http://share.test/", (route) => route.fulfill({ body: page, contentType: "text/html", headers }));
    await tab.goto("http://share.test/");
    expect(problems).toEqual([]);
    const at = new Date(page.match(/<time datetime="([^"]+)"/)?.[1] ?? "");
    const shown = await tab.locator("time").allInnerTexts();
    expect(shown[0]).toBe(`${at.toISOString().slice(0, 16).replace("T", " ")} UTC`);
    expect(shown.filter((time) => !time.endsWith(" UTC"))).toEqual([]);
  });

  it("keeps the policy of a page that an earlier version froze, and gives any other none", () => {
    const old = `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${"a".repeat(43)}='; base-uri 'none'; form-action 'none'">\n`;
    expect(pagePolicy(old)).toBe(
      `default-src 'none'; style-src 'sha256-${"a".repeat(43)}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    for (const bad of ["", "<script>1</script>", old.replace("style-src", "script-src *; style-src")])
      expect(pagePolicy(bad)).toBe("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  });

  it.skipIf(NO_BROWSER)("is styled under its own policy, and shows folded parts in print", async () => {
    const page = await readPage(ROWS);
    const browser = await openBrowser();
    const tab = await browser.newPage({ colorScheme: "dark" });
    onTestFinished(() => tab.close());
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
