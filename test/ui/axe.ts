/** Accessibility of a page, by axe. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Stage } from "./browser.ts";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What is wrong with the page as it stands, by WCAG 2.2 AA and axe's best practices. Empty when nothing. */
export async function violations({ page }: Stage): Promise<string[]> {
  // Half a megabyte: once for each page that is loaded.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  return page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as {
      axe: {
        run(
          options: unknown,
        ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
      };
    };
    const report = await axe.run({
      // Nothing is collected of what passes.
      resultTypes: ["violations"],
      runOnly,
    });
    return report.violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)} — ${node.failureSummary.slice(0, 200)}`),
    );
  }, RULES);
}
