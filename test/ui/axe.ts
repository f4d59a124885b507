/** Accessibility of a page, by axe. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Stage } from "./browser.ts";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What is wrong with the page as it stands, by WCAG 2.2 AA and axe's best practices. Empty when nothing. `"over"`: where something stands
 * over the page, that and what frames it, without the screen below.
 */
export async function violations({ page }: Stage, what: "all" | "over" = "all"): Promise<string[]> {
  // Half a megabyte: once for each page that is loaded.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  return page.evaluate(
    async ([runOnly, what]) => {
      const { axe } = window as unknown as {
        axe: {
          run(
            context: unknown,
            options: unknown,
          ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
        };
      };
      const isOver = (element: Element) => !element.closest("main, [aria-hidden=true]") && element.checkVisibility();
      const over = [...document.querySelectorAll("[role=dialog], [role=menu], [role=tooltip]")].some(isOver);
      const context = what === "over" && over ? { exclude: ["main"] } : document;
      const report = await axe.run(context, {
        runOnly,
        // Nothing is collected of what passes, no selector is made for what fails, and no style sheet is loaded again:
        // a third of the work, and none of it is read below.
        resultTypes: ["violations"],
        selectors: false,
        preload: false,
      });
      return report.violations.flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)} — ${node.failureSummary.slice(0, 200)}`),
      );
    },
    [RULES, what] as const,
  );
}
