/** The drawing of the timeline: all messages in bars of four pixels, stacked by kind. */
import { KINDS } from "../../components/base/tools.ts";
import type { Scale } from "./timeline-scale.ts";

interface Strip {
  /** Of each message, its place in KINDS. */
  kinds: ArrayLike<number>;
  /** Messages drawn. */
  count: number;
  scale: Scale;
  /** Part on show, as shares of the whole. */
  zoom: readonly [number, number];
  /** In CSS pixels. */
  width: number;
  commits: readonly { at: number }[];
  matches: readonly number[];
}
type Colour = (name: string) => string;
const HEIGHT = 40;
/** Width of a bar, in CSS pixels. */
export const BIN = 4;

/** Linear in the messages. */
export function drawStrip(canvas: HTMLCanvasElement, strip: Strip): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const { scale, zoom, width } = strip;
  const xOf = (place: number) => ((place - zoom[0]) / (zoom[1] - zoom[0])) * width;
  const style = getComputedStyle(document.documentElement);
  const colour: Colour = (name) => style.getPropertyValue(name).trim();
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = HEIGHT * ratio;
  context.scale(ratio, ratio);
  drawBars(context, strip, colour);
  context.fillStyle = colour("--ink-3");
  for (const gap of scale.breaks) {
    const x = xOf(gap);
    context.fillRect(x - 2, HEIGHT - 10, 1, 10);
    context.fillRect(x + 1, HEIGHT - 10, 1, 10);
  }
  context.fillStyle = colour("--ok");
  for (const commit of strip.commits) context.fillRect(xOf(scale.placeOfTime(commit.at)) - 2, 0, 5, 5);
  context.fillStyle = colour("--warn");
  for (const seq of strip.matches) context.fillRect(xOf(scale.place(seq)), 6, 1.5, 5);
}

function drawBars(context: CanvasRenderingContext2D, strip: Strip, colour: Colour): void {
  const { kinds, scale, zoom, width } = strip;
  const bins = Math.ceil(width / BIN);
  const counts = KINDS.map(() => new Uint32Array(bins));
  const sums = new Uint32Array(bins);
  const perPlace = width / (zoom[1] - zoom[0]) / BIN;
  for (let seq = 0; seq < strip.count; seq++) {
    const bin = Math.floor((scale.place(seq) - zoom[0]) * perPlace);
    const row = counts[kinds[seq] ?? 5];
    if (!row || bin < 0 || bin >= bins) continue;
    row[bin] = (row[bin] ?? 0) + 1;
    sums[bin] = (sums[bin] ?? 0) + 1;
  }
  const top = Math.max(1, ...sums);
  const base = HEIGHT - 2;
  const room = HEIGHT - 12;
  const heights = new Float64Array(bins);
  for (const [index, kind] of KINDS.entries()) {
    context.fillStyle = colour(`--kind-${kind}`);
    for (let bin = 0; bin < bins; bin++) {
      const n = counts[index]?.[bin] ?? 0;
      if (n === 0) continue;
      const all = sums[bin] ?? 1;
      // Square roots keep a lone message visible beside a burst.
      const height = (n / all) * Math.sqrt(all / top) * room;
      const below = heights[bin] ?? 0;
      context.fillRect(bin * BIN, base - below - height, BIN - 1, height);
      heights[bin] = below + height;
    }
  }
}
