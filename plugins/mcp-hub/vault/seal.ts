/** Values at rest: AES-256-GCM with a key file (0600) in the data directory. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, link, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessarcError, type Storage, storageFailed } from "sessarc";
import { tempName, writeFileAtomic } from "sessarc/files";
import "../errors.ts";

export interface Vault {
  /** Text that can be stored: version, nonce, tag and ciphertext. `about` is bound to it: it opens under the same name alone. */
  seal(about: string, value: unknown): Promise<string>;
  /** Throws VAULT_UNREADABLE when the key is another one or the text was changed. */
  open(about: string, sealed: string): Promise<unknown>;
  /** Keyed digest (16 hex digits): shows whether two values are equal and nothing else. */
  fingerprint(text: string): Promise<string>;
}

const KEY_FILE = "vault.key";
const VERSION = "v1";

/**
 * The key file is written when the first value is sealed: a digest is taken with the key that would be written then, so that what only reads
 * (a scan, a dry run, an archive that cannot be written) writes nothing.
 */
export function createVault(storage: Pick<Storage, "path" | "readOnly">): Vault {
  const { readOnly } = storage;
  const path = storage.path(KEY_FILE);
  const draft = randomBytes(32);
  let key: Promise<Buffer> | undefined;

  /** With `make`, a missing key file is made; a failure is tried again the next time. */
  const loadKey = (make: boolean): Promise<Buffer> => {
    key ??= (make ? readOrMakeKey(path, readOnly, draft) : readKey(path)).catch((error) => {
      key = undefined;
      throw error;
    });
    return key;
  };

  return {
    async seal(about, value) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", await loadKey(true), nonce).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
      return [VERSION, ...[nonce, cipher.getAuthTag(), body].map((part) => part.toString("base64url"))].join(".");
    },
    async open(about, sealed) {
      const [version, ...parts] = sealed.split(".");
      const [nonce, tag, body] = parts.map((part) => Buffer.from(part, "base64url"));
      if (version !== VERSION || !nonce || !tag || !body)
        throw new SessarcError("VAULT_UNREADABLE", { reason: "a value has an unknown form" });
      try {
        const decipher = createDecipheriv("aes-256-gcm", await loadKey(false), nonce).setAAD(Buffer.from(about));
        const plain = Buffer.concat([decipher.setAuthTag(tag).update(body), decipher.final()]);
        return JSON.parse(plain.toString("utf8")) as unknown;
      } catch (cause) {
        if (cause instanceof SessarcError) throw cause;
        throw new SessarcError("VAULT_UNREADABLE", { reason: `${KEY_FILE} does not fit them` }, { cause });
      }
    },
    async fingerprint(text) {
      return createHmac("sha256", key || existsSync(path) ? await loadKey(false) : draft)
        .update(text)
        .digest("hex")
        .slice(0, 16);
    },
  };
}

async function readKey(path: string): Promise<Buffer> {
  try {
    const key = Buffer.from((await readFile(path, "utf8")).trim(), "base64");
    if (key.length === 32) return key;
  } catch (cause) {
    throw new SessarcError("VAULT_UNREADABLE", { reason: `${KEY_FILE} cannot be read` }, { cause });
  }
  throw new SessarcError("VAULT_UNREADABLE", { reason: `${KEY_FILE} is not a key` });
}

/** Made whole and then linked into place: two that start at once end with the same key. */
async function readOrMakeKey(path: string, readOnly: boolean, fresh: Buffer): Promise<Buffer> {
  if (readOnly) return existsSync(path) ? readKey(path) : fresh;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Under such a name it goes with the next start when this one is killed.
  const draft = join(dirname(path), tempName());
  try {
    await writeFileAtomic(draft, `${fresh.toString("base64")}\n`).catch(storageFailed(draft));
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await chmod(path, 0o600);
  return readKey(path);
}
