/** Positions of messages on the strip, as a share of its width. Idle stretches are compressed: the strip shows what happened. */
import type { Transcript } from "./transcript/model.ts";

/** In a longer pause nothing was written: a person was away, or a sub-agent worked. In ms. */
const IDLE = 2 * 60_000;
/** Width of a pressed gap, as a share of the active time; and of all gaps together, at most. */
const PRESSED = 0.02;
const ALL_PRESSED = 0.2;

/** A mark of the axis: a time (ms), or a message where the strip is spaced by message. */
export type Tick = { place: number } & ({ time: number } | { seq: number });

/** Messages between two pauses; in it places go with time. */
interface Stretch {
  place: number;
  end: number;
  time: number;
}

/** What rounding may take off a distance. */
const ALMOST = 1 - 1e-9;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** What ticks may be apart, in ms. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12, 24].map((n) => n * HOUR),
];

export interface Scale {
  place(seq: number): number;
  placeOfTime(at: number): number;
  seqAt(place: number): number;
  /** The first message at a place or after it; the number of messages where there is none. */
  first(place: number): number;
  /** Marks of the axis at round times or numbers, in order; no two nearer than `least`, a share of the whole. */
  ticks(from: number, to: number, least: number): Tick[];
  /** Places of pressed gaps. */
  breaks: number[];
}

export function createScale({ times, total }: Pick<Transcript, "times" | "total">, byTime: boolean): Scale {
  const places = new Float64Array(total);
  const breaks: number[] = [];
  let at = 0;
  let known = Number.NaN;
  const stretches: Stretch[] = [];
  const pressed = byTime ? pressedWidth(times, total) : 0;
  if (byTime) {
    for (let seq = 0; seq < total; seq++) {
      const time = times[seq] ?? Number.NaN;
      const step = Number.isNaN(time) || Number.isNaN(known) ? 0 : Math.max(0, time - known);
      const idle = step > IDLE;
      if (idle) {
        breaks.push(at + pressed / 2);
        at += pressed;
      } else at += step;
      if (!Number.isNaN(time)) {
        const last = stretches.at(-1);
        // A clock that was set back begins another stretch, so that in each one places go with time.
        if (!last || idle || time < known) stretches.push({ place: at, end: at, time });
        else last.end = at;
        known = time;
      }
      places[seq] = at;
    }
  }
  if (!byTime || at === 0) {
    for (let seq = 0; seq < total; seq++) places[seq] = seq;
    at = Math.max(1, total - 1);
    breaks.length = 0;
    stretches.length = 0;
  }
  const whole = at;
  const first = (place: number): number => {
    const wanted = place * whole;
    let low = 0;
    let high = total;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const seqAt = (place: number): number => {
    const wanted = place * whole;
    const low = Math.min(total - 1, first(place));
    return low > 0 && wanted - (places[low - 1] ?? 0) < (places[low] ?? 0) - wanted ? low - 1 : low;
  };
  return {
    place: (seq) => (places[Math.min(total - 1, Math.max(0, seq))] ?? 0) / whole,
    placeOfTime(time) {
      let low = 0;
      let high = total - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((times[middle] ?? 0) < time) low = middle + 1;
        else high = middle;
      }
      return (places[low] ?? 0) / whole;
    },
    seqAt,
    first,
    ticks(from, to, least) {
      const found: Found[] =
        stretches.length > 0
          ? timesIn(stretches, from * whole, to * whole, least * whole)
          : numbersIn(total, from * whole, to * whole, least * whole);
      const ticks: Found[] = [];
      for (const tick of found) {
        const place = tick.place / whole;
        const isNear = () => place - (ticks.at(-1)?.place ?? -Infinity) < least * ALMOST;
        // When it went on after a pause says more than the last round time before it, and no more than the end of another pause.
        if (tick.begins && ticks.length > 1 && !ticks.at(-1)?.begins && isNear()) ticks.pop();
        if (!isNear()) ticks.push({ ...tick, place });
      }
      return ticks.map(({ begins, ...tick }) => tick);
    },
    breaks: breaks.map((one) => one / whole),
  };
}

/** Width of one compressed gap, in ms: as wide as a mark needs, however little or much happened. */
function pressedWidth(times: readonly number[], total: number): number {
  let active = 0;
  let gaps = 0;
  let known = Number.NaN;
  for (let seq = 0; seq < total; seq++) {
    const time = times[seq] ?? Number.NaN;
    if (Number.isNaN(time)) continue;
    const step = Number.isNaN(known) ? 0 : Math.max(0, time - known);
    if (step > IDLE) gaps++;
    else active += step;
    known = time;
  }
  // Where only gaps are, each is as wide as the others.
  return Math.max(1, active) * Math.min(PRESSED, ALL_PRESSED / Math.max(1, gaps));
}

/** `begins`: the first of a stretch. */
type Found = Tick & { begins?: boolean };

/** The beginning of each stretch, and round local times in it. */
function timesIn(stretches: readonly Stretch[], from: number, to: number, least: number): Found[] {
  const step = STEPS.find((one) => one >= least) ?? 24 * HOUR;
  const ticks: Found[] = [];
  for (const { place, end, time } of stretches) {
    if (end < from || place > to) continue;
    if (place >= from) ticks.push({ place, time, begins: true });
    const zone = new Date(time).getTimezoneOffset() * MINUTE;
    const start = time + Math.max(0, from - place);
    for (let next = Math.ceil((start - zone) / step) * step + zone; ; next += step) {
      const at = place + next - time;
      if (at > Math.min(end, to)) break;
      ticks.push({ place: at, time: next });
    }
  }
  return ticks;
}

function numbersIn(total: number, from: number, to: number, least: number): Tick[] {
  const digit = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((n) => n * digit).find((one) => one >= least) ?? digit * 10;
  const ticks: Tick[] = [];
  for (let seq = Math.ceil(from / step) * step; seq <= Math.min(total - 1, to); seq += step)
    ticks.push({ place: seq, seq });
  return ticks;
}
