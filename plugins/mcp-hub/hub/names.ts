/** Names of tools and prompts as clients see them: `<service>__<tool>`, of characters and a length every client takes. */
import { createHash } from "node:crypto";

/** 64 characters, less what a client puts in front (`mcp__sessarc__`). */
const NAME_LENGTH = 50;
const SEPARATOR = "__";

/**
 * A pure function of both names: stable whatever else is there. A name that had to be changed or cut carries a digest of the original,
 * so two never become one.
 */
export function hubName(service: string, name: string): string {
  const room = NAME_LENGTH - service.length - SEPARATOR.length;
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_");
  if (plain === name && name.length <= room && name.length > 0) return service + SEPARATOR + name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 6);
  return `${service}${SEPARATOR}${plain.slice(0, room - 7)}_${digest}`;
}

/** The service a name belongs to: the part up to the first `__`, which no slug holds. */
export function findService(name: string): string | undefined {
  const at = name.indexOf(SEPARATOR);
  return at > 0 ? name.slice(0, at) : undefined;
}
