/** The name of a manifest: equal digests mean equal content, on the machine that pushes and on the server. */
import { createHash } from "node:crypto";
import { canonicalJson } from "sessarc";

/** SHA-256 of the manifest, in hex. */
export const toDigest = (manifest: unknown): string =>
  createHash("sha256").update(canonicalJson(manifest)).digest("hex");
