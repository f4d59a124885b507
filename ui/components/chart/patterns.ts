/** Fills that differ without colour: what a series is drawn with, by its place among the series. */
const LINE = "color-mix(in srgb, var(--bg) 38%, transparent)";
const stripes = (angle: number, width: number, step: number) =>
  `repeating-linear-gradient(${angle}deg, ${LINE} 0 ${width}px, transparent ${width}px ${step}px)`;
const PATTERNS = [
  "",
  stripes(45, 1.5, 5),
  stripes(0, 1, 4),
  stripes(-45, 1.5, 5),
  stripes(90, 1, 4),
  `radial-gradient(${LINE} 1px, transparent 1.3px) 0 0 / 4px 4px`,
];

/** Colours of series that have none of their own. */
export const HUES = [1, 2, 3, 4, 5, 6].map((n) => `var(--hue-${n})`);

export function fillOf(color: string, pattern = 0): string {
  const lines = PATTERNS[pattern % PATTERNS.length];
  return lines ? `${lines}, ${color}` : color;
}

/** The place of each series that was shown since the page was opened, in the order of their first time. */
const places = new Map<string, number>();

/** A place for each key, by which it is coloured: the same in every range and split, and no two alike among up to six. */
export function placesOf(keys: readonly string[]): Map<string, number> {
  const taken = new Set<number>();
  return new Map(
    keys.map((key) => {
      if (!places.has(key)) places.set(key, places.size);
      let place = (places.get(key) ?? 0) % HUES.length;
      for (let tries = 0; taken.has(place) && tries < HUES.length; tries++) place = (place + 1) % HUES.length;
      taken.add(place);
      return [key, place];
    }),
  );
}
