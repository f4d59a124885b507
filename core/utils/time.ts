/** Times as logs have them → ISO 8601 UTC. */

const ISO = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$/;
/** Numbers below this are seconds: as milliseconds they would lie in the first years after 1970. */
const SECONDS_BELOW = 100_000_000_000;

/** A UTC time is kept as written; others (offsets, seconds, milliseconds) are converted; undefined for an invalid time. */
export function toIso(value: unknown): string | undefined {
  if (typeof value === "string") return ISO.test(value) ? value : msToIso(Date.parse(value));
  if (typeof value !== "number") return undefined;
  return msToIso(value < SECONDS_BELOW ? value * 1000 : value);
}

/** ms since the epoch; undefined for an invalid time. */
export function msToIso(ms: unknown): string | undefined {
  if (typeof ms !== "number") return undefined;
  return Number.isFinite(ms) && ms > 0 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : undefined;
}

const DAY_MS = 86_400_000;
const two = (n: number) => (n < 10 ? `0${n}` : `${n}`);
let day = Number.NaN;
let head = "";

/** Equals `new Date(ms).toISOString()`, faster for many times of one day. Throws RangeError for an invalid time. */
export function isoAt(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (!Number.isInteger(ms) || days !== day) {
    const iso = new Date(ms).toISOString();
    [day, head] = [days, iso.slice(0, iso.indexOf("T") + 1)];
    return iso;
  }
  const rest = ms - days * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  const thousandths = String((rest % 1000) + 1000).slice(1);
  return `${head}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${thousandths}Z`;
}

/** First and last time seen. */
export interface Span {
  startedAt?: string | undefined;
  endedAt?: string | undefined;
}

/** Makes `span` include `at` (ISO UTC). */
export function widen(span: Span, at: string | undefined): void {
  if (at === undefined) return;
  if (span.startedAt === undefined || isBefore(at, span.startedAt)) span.startedAt = at;
  if (span.endedAt === undefined || isBefore(span.endedAt, at)) span.endedAt = at;
}

/** First and last of some times as `toIso` gives them; gaps are left out. */
export function earliest(times: readonly (string | undefined)[]): string | undefined {
  return extreme(times, isBefore);
}
/** The last of some times as `toIso` gives them; gaps are left out. */
export function latest(times: readonly (string | undefined)[]): string | undefined {
  return extreme(times, (a, b) => isBefore(b, a));
}

function extreme(times: readonly (string | undefined)[], wins: (a: string, b: string) => boolean): string | undefined {
  let best: string | undefined;
  for (const at of times) if (at !== undefined && (best === undefined || wins(at, best))) best = at;
  return best;
}

/** Times of one length compare as text. */
export function isBefore(a: string, b: string): boolean {
  return a.length === b.length ? a < b : Date.parse(a) < Date.parse(b);
}
