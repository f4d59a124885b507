import { createHash } from "node:crypto";

/** 24 hex digits that name a secret without showing it. The same value has the same one in every session and file. */
export const toFingerprint = (secret: string): string => createHash("sha256").update(secret).digest("hex").slice(0, 24);
