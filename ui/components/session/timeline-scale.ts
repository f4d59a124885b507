/** Positions of messages on the strip, as a share of its width. Idle stretches over ten minutes are compressed. */
import type { Transcript } from "../../transcript/model.ts";

const IDLE = 10 * 60_000;
/** Width of a pressed gap, in ms of active time. */
const PRESSED = 60_000;

export interface Scale {
  place(seq: number): number;
  placeOfTime(at: number): number;
  seqAt(place: number): number;
  /** Places of pressed gaps. */
  breaks: number[];
}

export function createScale({ times, total }: Transcript, byTime: boolean): Scale {
  const places = new Float64Array(total);
  const breaks: number[] = [];
  let at = 0;
  let known = Number.NaN;
  if (byTime) {
    for (let seq = 0; seq < total; seq++) {
      const time = times[seq] ?? Number.NaN;
      const step = Number.isNaN(time) || Number.isNaN(known) ? 0 : Math.max(0, time - known);
      if (step > IDLE) {
        breaks.push(at + PRESSED / 2);
        at += PRESSED;
      } else at += step;
      if (!Number.isNaN(time)) known = time;
      places[seq] = at;
    }
  }
  if (!byTime || at === 0) {
    for (let seq = 0; seq < total; seq++) places[seq] = seq;
    at = Math.max(1, total - 1);
    breaks.length = 0;
  }
  const whole = at;
  const seqAt = (place: number): number => {
    const wanted = place * whole;
    let low = 0;
    let high = total - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
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
    breaks: breaks.map((one) => one / whole),
  };
}
