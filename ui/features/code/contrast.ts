/** Colours that a program chose for its own terminal: what could not be read here moves towards black or white until it can. */

type Rgb = readonly [number, number, number];
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
/** `--sunken`, on which output stands. */
const GROUND = { light: "#f4f4f2", dark: "#0c0d0f" };
/** What WCAG 2.2 AA asks of small text. */
const ENOUGH = 4.5;

/** Style of a stretch of text, for both themes. */
export function readable(style: Record<string, string>): Record<string, string> {
  const own = { ...style };
  for (const theme of ["light", "dark"] as const) {
    const text = rgb(style[`--shiki-${theme}`]);
    const ground = rgb(style[`--shiki-${theme}-bg`] ?? GROUND[theme]);
    if (text && ground && contrast(text, ground) < ENOUGH) own[`--shiki-${theme}`] = `rgb(${moved(text, ground)})`;
  }
  return own;
}

/** Nearest to `text` of what can be read on `ground`. */
function moved(text: Rgb, ground: Rgb): Rgb {
  const to = contrast(WHITE, ground) > contrast(BLACK, ground) ? WHITE : BLACK;
  for (let share = 0.1; share < 1; share += 0.1) {
    const mix = [0, 1, 2].map((i) => Math.round((text[i] ?? 0) * (1 - share) + (to[i] ?? 0) * share));
    const [r = 0, g = 0, b = 0] = mix;
    if (contrast([r, g, b], ground) >= ENOUGH) return [r, g, b];
  }
  return to;
}

/** Undefined for what is no `#rrggbb`; its transparency is left aside. */
function rgb(color: string | undefined): Rgb | undefined {
  const [, r = "", g = "", b = ""] = /^#(..)(..)(..)/.exec(color ?? "") ?? [];
  return b === "" ? undefined : [Number.parseInt(r, 16), Number.parseInt(g, 16), Number.parseInt(b, 16)];
}

/** Of WCAG: 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: Rgb): number {
  const [r = 0, g = 0, b = 0] = color.map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
