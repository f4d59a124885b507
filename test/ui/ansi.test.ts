/** What programs wrote for a terminal. */
import { expect, it } from "vitest";
import { contrast, readable } from "../../ui/features/code/contrast.ts";
import { colourCodes, plain } from "../../ui/features/session/ansi.ts";

const ESC = "\u001b";

it("keeps colours of an output and none of its other codes", () => {
  const text = `${ESC}[2K${ESC}]0;title\u0007${ESC}[31mred${ESC}[0m\u0007 ${ESC}[3Aup`;
  expect(colourCodes(text)).toBe(`${ESC}[31mred${ESC}[0m up`);
  expect(plain(text)).toBe("red up");
});

it("moves colours that cannot be read on their ground, and leaves the others alone", () => {
  const style = { "--shiki-light": "#3f2200", "--shiki-light-bg": "#3f2200", "--shiki-dark": "#ffffff" };
  const { "--shiki-light": text = "", ...rest } = readable(style);
  const [r = 0, g = 0, b = 0] = text.match(/\d+/g)?.map(Number) ?? [];
  expect(contrast([r, g, b], [0x3f, 0x22, 0])).toBeGreaterThanOrEqual(4.5);
  expect(rest).toEqual({ "--shiki-light-bg": "#3f2200", "--shiki-dark": "#ffffff" });
});
