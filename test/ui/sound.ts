import { expect } from "vitest";
import { violations } from "./axe.ts";
import { painted, type Stage } from "./browser.ts";
import { looks } from "./probes.ts";

/** The page as it stands, at three widths in both themes: accessible and well laid out. Leaves it at 1440. */
export async function sound(stage: Stage, where: string): Promise<void> {
  for (const [width, colorScheme] of [
    [1440, "light"],
    [1024, "dark"],
    [390, "light"],
  ] as const) {
    await stage.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await stage.page.setViewportSize({ width, height: 900 });
    await painted(stage.page);
    expect(await violations(stage), `${where} ${width}`).toEqual([]);
    expect(await looks(stage.page), `${where} ${width}`).toEqual([]);
  }
  await stage.page.setViewportSize({ width: 1440, height: 900 });
}
