/** An assistant has one name in the dashboard: the one that its adapter declares. */
import { expect, it } from "vitest";
import { TOOLS, toolInitials, toolLabel } from "../../ui/components/base/tools.ts";
import { describeUi, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: names of assistants", () => {
  const get = useSharedStage();

  it("calls each as its adapter does, before the service has answered and after", async () => {
    const { tools } = (await (await get().served.kernel.fetch("/api/status")).json()) as {
      tools: Record<string, string>;
    };
    expect(Object.fromEntries(TOOLS.map((tool) => [tool, toolLabel(tool)]))).toEqual(
      Object.fromEntries(TOOLS.map((tool) => [tool, tools[tool]])),
    );
    expect(new Set(TOOLS.map(toolInitials)).size).toBe(TOOLS.length);
  });

  it.each([
    "/",
    "/sessions",
    "/sessions?q=tide",
    "/sessions?view=hidden",
    "/usage?by=tool",
    "/import",
    "/tools/secrets?view=guard",
    "/tools/servers",
    "/tools/skills",
    "/tools/advanced",
    "/settings/sources",
    "/settings/data",
  ])("says no other name at %s", async (path) => {
    const stage = get();
    await visit(stage, path);
    const text = await stage.page.locator("body").innerText();
    expect(text.match(/\bCodex\b(?! CLI).{0,30}/g) ?? []).toEqual([]);
    expect(stage.problems()).toEqual([]);
  });
});
