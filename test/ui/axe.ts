/** Accessibility of a page, by axe. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { LONG } from "../rounds.ts";
import type { Stage } from "./browser.ts";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What is wrong with the page as it stands, by WCAG 2.2 AA and axe's best practices. Empty when nothing. `"over"`: of what covers the
 * page alone. A selector: of what it finds alone. Of a row of like parts (a list, a chart) three are read, all in the long run: on long lists
 * that is half of the work.
 */
export async function violations(
  { page }: Pick<Stage, "page">,
  what: "all" | "over" | (string & {}) = "all",
): Promise<string[]> {
  // Half a megabyte: once for each page that is loaded.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  return page.evaluate(
    async ([runOnly, what, isWhole]) => {
      const { axe } = window as unknown as {
        axe: {
          run(
            context: unknown,
            options: unknown,
          ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
        };
      };
      const context: { include?: Element[]; exclude: Element[] } = { exclude: [] };
      if (what === "over") {
        const over = [...document.querySelectorAll("[role=dialog], [role=menu], [role=tooltip]")].filter(
          (one) => !one.closest("main, [aria-hidden=true]") && one.checkVisibility(),
        );
        if (over.length === 0) throw new Error("Nothing covers the page");
        // The page itself stays in: what is hidden meanwhile must hold nothing that takes the focus.
        const below = [...document.querySelectorAll("main, nav, header, footer")];
        context.exclude = below.filter((one) => !over.some((it) => it.contains(one) || one.contains(it)));
      } else if (what !== "all") context.include = [...document.querySelectorAll(what)];
      if (!isWhole) {
        const counts = new Map<Element | null, Map<string, number>>();
        const skipped = new Set<Element | null>(context.exclude);
        for (const one of document.querySelectorAll("body *")) {
          const parent = one.parentElement;
          if (skipped.has(parent)) skipped.add(one);
          if (one.childElementCount === 0 || skipped.has(one)) continue;
          // Alike to the style sheet, and in the same state: a row that is chosen or open is another one.
          const says = /^(class|role|aria-(checked|current|disabled|expanded|invalid|pressed|selected))$/;
          const kind = [
            one.localName,
            ...[...one.attributes].map((it) => (says.test(it.name) ? it.value : it.name)),
          ].join();
          const ofParent = counts.get(parent) ?? new Map<string, number>();
          counts.set(parent, ofParent.set(kind, (ofParent.get(kind) ?? 0) + 1));
          if ((ofParent.get(kind) ?? 0) <= 3) continue;
          skipped.add(one);
          context.exclude.push(one);
        }
      }
      const report = await axe.run(context.include || context.exclude.length > 0 ? context : document, {
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
    [RULES, what, LONG] as const,
  );
}
