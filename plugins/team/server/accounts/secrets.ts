/** Keys, codes and signatures. A secret is stored as its SHA-256 and shown once. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { SessarcError } from "sessarc";
import { problemOfKey } from "../../keys.ts";

/** 32 random bytes: an invitation, a token, a sign-in ticket. */
export const newSecret = (): string => randomBytes(32).toString("base64url");
/** A short id; not a secret. */
export const newId = (bytes = 8): string => randomBytes(bytes).toString("hex");

/**
 * What is stored of a secret. A secret is looked up by this hash: how long the look-up takes depends on the hash, of which a caller cannot
 * choose the beginning.
 */
export const toHash = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Throws TEAM_KEY_INVALID for what is not an Ed25519 public key, and for keys in whose name anybody can sign. */
export function checkPublicKey(text: string): void {
  const reason = problemOfKey(text);
  if (reason !== undefined) throw new SessarcError("TEAM_KEY_INVALID", { reason });
}

/** What a machine signs to get a token. The address is part of it: a signature for one server is of no use at another. */
export const tokenText = (address: string, device: string, at: string, nonce: string): string =>
  ["sessarc-team-token", address, device, at, nonce].join("\n");

/** The server's own key, for receipts. */
export interface SigningKey {
  publicKey: string;
  sign(text: string): string;
}

export const newSigningKey = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" }).toString("base64url");

export function toSigningKey(stored: string): SigningKey {
  const key = createPrivateKey({ key: Buffer.from(stored, "base64url"), type: "pkcs8", format: "der" });
  return {
    publicKey: String(createPublicKey(key).export({ format: "jwk" }).x),
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64url"),
  };
}
