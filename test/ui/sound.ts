import { expect } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { painted, type Stage } from "./browser.ts";
import { layoutFaults, looks } from "./probes.ts";

const LOOKS = [
  [1440, "light"],
  [1024, "light"],
  [390, "dark"],
] as const;

/**
 * The page as it stands: well laid out and accessible on a wide screen or on a narrow one, which `where` chooses, and well laid out on the
 * other; in the long run both at three widths. Leaves it at 1440.
 */
export async function sound(stage: Stage, where: string): Promise<void> {
  const usual = LOOKS.filter(([width]) => LONG || width !== 1024);
  for (const [i, [width, colorScheme]] of usual.entries()) {
    await stage.page.emulateMedia({ colorScheme });
    await stage.page.setViewportSize({ width, height: 900 });
    await painted(stage.page);
    const isWhole = LONG || i === where.length % usual.length;
    if (isWhole) expect(await violations(stage), `${where} ${width}`).toEqual([]);
    expect(await (isWhole ? looks : layoutFaults)(stage.page), `${where} ${width}`).toEqual([]);
  }
  await stage.page.setViewportSize({ width: 1440, height: 900 });
}
