/** What a manifest is named by on the wire: SHA-256 of it as canonical JSON. */
import { createHash } from "node:crypto";
import { canonicalJson } from "sessarc";

export const toDigest = (manifest: unknown): string =>
  createHash("sha256").update(canonicalJson(manifest)).digest("hex");
