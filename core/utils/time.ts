/** Times as logs have them → ISO 8601 UTC. */

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** Numbers below this are seconds: as milliseconds they would lie in the first days of 1970. */
const SECONDS_BELOW = 100_000_000_000;

/** A UTC time is kept as written; others (offsets, seconds, milliseconds) are converted; undefined for what is no time. */
export function toIso(value: unknown): string | undefined {
  if (typeof value === "string") {
    if (ISO.test(value) && !Number.isNaN(Date.parse(value))) return value;
    return fromMs(Date.parse(value));
  }
  if (typeof value !== "number") return undefined;
  return fromMs(value < SECONDS_BELOW ? value * 1000 : value);
}

function fromMs(ms: number): string | undefined {
  return Number.isFinite(ms) && ms > 0 && ms < 8.64e15 ? new Date(ms).toISOString() : undefined;
}
