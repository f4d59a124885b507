/** The key of this machine: made here, stored in a file that only the user may read. Its public part and signatures leave the machine. */
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "sessarc/files";

/** Writes a new key to `path` and returns its public part: the 32 bytes as base64url. */
export async function createDeviceKey(path: string): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, privateKey.export({ format: "pem", type: "pkcs8" }));
  return publicKey.export({ format: "jwk" }).x ?? "";
}

export const removeDeviceKey = (path: string): Promise<void> => rm(path, { force: true });

interface TokenRequest {
  device: string;
  at: string;
  nonce: string;
  signature: string;
}

/** What proves to the server that this machine asks. Each one is good for one token. */
export async function signTokenRequest(path: string, address: string, device: string): Promise<TokenRequest> {
  const key = createPrivateKey(await readFile(path, "utf8"));
  const at = new Date().toISOString();
  const nonce = randomBytes(24).toString("base64url");
  const text = ["sessarc-team-token", address, device, at, nonce].join("\n");
  return { device, at, nonce, signature: sign(null, Buffer.from(text), key).toString("base64url") };
}
