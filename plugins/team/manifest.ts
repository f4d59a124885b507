/** The name of a manifest: equal digests mean equal content, on the machine that pushes and on the server. */
import { createHash } from "node:crypto";

/** JSON with sorted keys and without spaces; members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** SHA-256 of the manifest, in hex. */
export const digestOf = (manifest: unknown): string =>
  createHash("sha256").update(canonicalJson(manifest)).digest("hex");
