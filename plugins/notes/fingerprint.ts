/** Finds a message again after a re-import of its session changed its number. */
import { createHash } from "node:crypto";
import type { SessionEvent } from "sessarc";

/** Of a long text its beginning is enough. */
const CHARS = 4_000;

export function toFingerprint({ kind, at, text, tool_name, tool_input }: SessionEvent): string {
  const input = tool_input === undefined ? "" : JSON.stringify(tool_input).slice(0, CHARS);
  const parts = [kind, at ?? "", tool_name ?? "", input, text.slice(0, CHARS)];
  return createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 24);
}
