/** What the user typed: as typed, with code as code. And the row of filters, which fits where it stands. */
import { expect, it } from "vitest";
import { toPromptParts } from "../../ui/features/session/prompt-parts.ts";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, sessionId, useStage, visit } from "./browser.ts";
import { writeStory } from "./stories.ts";

const PROMPT = [
  "Rename `limit` to ``a ` b`` in # this *file*:",
  "",
  "```ts",
  "const limit = 1;",
  "  <b>not bold</b>",
  "```",
  "1. keep   spaces",
  "- and [links](https://example.com) ` as they are",
].join("\n");

it("splits a prompt at backticks only", () => {
  expect(toPromptParts(PROMPT)).toEqual([
    { type: "text", text: "Rename " },
    { type: "code", text: "limit" },
    { type: "text", text: " to " },
    { type: "code", text: "a ` b" },
    { type: "text", text: " in # this *file*:\n" },
    { type: "block", text: "const limit = 1;\n  <b>not bold</b>" },
    { type: "text", text: "1. keep   spaces\n- and [links](https://example.com) ` as they are" },
  ]);
  for (const text of ["", "plain", "one ` tick", "```\nnever closed", "`over\nlines`", "a `` b ` c"])
    expect(
      toPromptParts(text)
        .map((part) => part.text)
        .join(""),
    ).toBe(text);
  expect(toPromptParts("````\n```\n````")).toEqual([{ type: "block", text: "```" }]);
});

describeUi("dashboard: prompts and filters of a session", () => {
  const get = useStage({
    fill: (home) =>
      writeStory(home, {
        n: 1,
        cwd: "/home/dev/quay",
        prompt: PROMPT,
        at: new Date(Date.UTC(2026, 10, 10)),
        calls: 40,
      }),
  });
  const open = async (width: number, query = "") => {
    const stage = get();
    await stage.page.setViewportSize({ width, height: 800 });
    await visit(stage, `/sessions/${await sessionId(stage, "Rename")}${query}`);
    return { stage, page: stage.page };
  };

  it("shows a prompt as typed, code as code", async () => {
    const { stage, page } = await open(1440);
    const prompt = page.locator('article[data-seq="0"]');
    expect(await prompt.locator("pre code").innerText()).toBe("const limit = 1;\n  <b>not bold</b>");
    expect(await prompt.locator(":not(pre) > code").allInnerTexts()).toEqual(["limit", "a ` b"]);
    expect(await prompt.locator("li, em, a, b, h1").count()).toBe(0);
    expect(await prompt.innerText()).toContain("1. keep   spaces\n- and [links](https://example.com) ` as they are");
    expect(await violations(stage)).toEqual([]);
    expect(stage.problems()).toEqual([]);
  });

  it("has every filter and the whole field in view at any width, found or not", async () => {
    for (const width of LONG ? [320, 390, 800, 1110, 1440] : [320, 800, 1440]) {
      const { stage, page } = await open(width);
      if (width < 700) await page.getByRole("button", { name: "Filter", exact: true }).click();
      const bar = page.getByRole("toolbar", { name: "Filters" });
      const field = bar.getByRole("searchbox");
      const height = async () => (await bar.boundingBox())?.height;
      const outside = () =>
        bar.evaluate((one) => {
          const box = one.getBoundingClientRect();
          return [...one.querySelectorAll("button, input")].filter((part) => {
            const { left, right, bottom } = part.getBoundingClientRect();
            return left < box.left || right > box.right || bottom > box.bottom;
          }).length;
        });
      expect(await outside(), `${width}`).toBe(0);
      const before = await height();
      await field.fill("file");
      await page.waitForURL(/q=file/);
      await bar.getByRole("status").waitFor();
      expect(await outside(), `${width}, found`).toBe(0);
      expect(await height()).toBe(before);
      expect((await field.boundingBox())?.width).toBeGreaterThanOrEqual(80);
      expect(await violations(stage, "[role=toolbar]")).toEqual([]);
    }
  });

  it("reaches the field by keyboard on a small screen", async () => {
    const { page } = await open(390);
    await page.locator("main h1").focus();
    await page.keyboard.press("f");
    await page.keyboard.type("Done");
    await page.getByText("1 match", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/m=\d+/);
    await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Next match");
  });
});
