import { expect } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { painted, type Stage } from "./browser.ts";
import { layoutFaults, looks } from "./probes.ts";

const LOOKS = [
  [1440, "light"],
  [1024, "dark"],
  [390, "light"],
] as const;

/**
 * The page as it stands: well laid out at three widths, accessible in one of them, which `where` chooses; in all of them in the long
 * run. Leaves it at 1440.
 */
export async function sound(stage: Stage, where: string): Promise<void> {
  for (const [i, [width, colorScheme]] of LOOKS.entries()) {
    await stage.page.emulateMedia({ colorScheme });
    await stage.page.setViewportSize({ width, height: 900 });
    await painted(stage.page);
    const isWhole = LONG || i === where.length % LOOKS.length;
    if (isWhole) expect(await violations(stage), `${where} ${width}`).toEqual([]);
    expect(await (isWhole ? looks : layoutFaults)(stage.page), `${where} ${width}`).toEqual([]);
  }
  await stage.page.setViewportSize({ width: 1440, height: 900 });
}
