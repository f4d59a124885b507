/** 0 and round numbers up to at least `max`, about `count` of them; `least` is the smallest step, 1 for what is counted. */
export function niceTicks(max: number, count: number, least = 0): number[] {
  if (max <= 0) return [0];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
  const ticks = [0];
  while ((ticks.at(-1) ?? 0) < max) ticks.push(Number(((ticks.at(-1) ?? 0) + step).toPrecision(12)));
  return ticks;
}
