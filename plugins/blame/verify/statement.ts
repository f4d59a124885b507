/**
 * A verification as an in-toto statement (v1) in a DSSE envelope, signed with a key of this machine (Ed25519).
 * https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md · https://github.com/secure-systems-lab/dsse
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { SessarcError, toList, toRecord, toText } from "sessarc";
import { ifThere, readRegular, writeFileAtomic } from "sessarc/files";
import "./errors.ts";
import * as v from "valibot";
import type { Verification } from "./verify.ts";

export const PREDICATE_TYPE = "https://sessarc.dev/attestation/authorship/v1";
const PAYLOAD_TYPE = "application/vnd.in-toto+json";

export interface Statement {
  _type: "https://in-toto.io/Statement/v1";
  /** The commits, by their hashes. */
  subject: { name: string; digest: { gitCommit: string } }[];
  predicateType: typeof PREDICATE_TYPE;
  predicate: Omit<Verification, "head">;
}

export interface Envelope {
  payloadType: typeof PAYLOAD_TYPE;
  /** Base64 of the statement. */
  payload: string;
  signatures: { keyid: string; sig: string }[];
}

export const toStatement = ({ head: _, ...predicate }: Verification): Statement => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: predicate.commits.map(({ hash, subject }) => ({ name: subject, digest: { gitCommit: hash } })),
  predicateType: PREDICATE_TYPE,
  predicate,
});

export function signStatement(statement: Statement, key: KeyObject): Envelope {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = sign(null, toSigned(payload), key).toString("base64");
  return { payloadType: PAYLOAD_TYPE, payload: payload.toString("base64"), signatures: [{ keyid: keyId(key), sig }] };
}

const lines = v.pipe(v.number(), v.integer());
/** What is read of a statement, of whichever version of sessarc. */
const claim = v.object({
  _type: v.literal("https://in-toto.io/Statement/v1"),
  subject: v.array(v.object({ name: v.string(), digest: v.object({ gitCommit: v.string() }) })),
  predicateType: v.literal(PREDICATE_TYPE),
  predicate: v.object({ total: v.object({ assistant: lines, mixed: lines, person: lines, unknown: lines }) }),
});

type Claim = v.InferOutput<typeof claim>;

/** The statement of an envelope that `key` signed. Throws ATTESTATION_INVALID, which says what is wrong. */
export function checkEnvelope(text: string, key: KeyObject): Claim {
  const fail = (reason: string, cause?: unknown) => new SessarcError("ATTESTATION_INVALID", { reason }, { cause });
  let envelope: unknown;
  try {
    envelope = JSON.parse(text);
  } catch (error) {
    throw fail("it is not JSON", error);
  }
  const { payloadType, payload, signatures } = toRecord(envelope);
  if (payloadType !== PAYLOAD_TYPE || typeof payload !== "string")
    throw fail("it is not a DSSE envelope of an in-toto statement");
  const bytes = Buffer.from(payload, "base64");
  // One encoding alone: another text of the same bytes is a changed file.
  if (bytes.toString("base64") !== payload) throw fail("its payload is damaged");
  const own = toList(signatures)
    .map(toRecord)
    .find(({ keyid }) => keyid === keyId(key));
  if (!own) throw fail("it is not signed with this key");
  const sig = toText(own.sig) ?? "";
  const raw = Buffer.from(sig, "base64");
  if (raw.toString("base64") !== sig || !verify(null, toSigned(bytes), publicOf(key), raw))
    throw fail("it was changed after it was signed");
  const statement = v.safeParse(claim, JSON.parse(bytes.toString("utf8")));
  if (!statement.success) throw fail("its statement is of another kind");
  return statement.output;
}

/** The bytes that are signed: DSSE's pre-authentication encoding. */
function toSigned(payload: Buffer): Buffer {
  const head = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

const publicOf = (key: KeyObject): KeyObject => (key.type === "private" ? createPublicKey(key) : key);

/** SHA-256 of the public key's DER form. */
const keyId = (key: KeyObject): string =>
  createHash("sha256")
    .update(publicOf(key).export({ type: "spki", format: "der" }))
    .digest("hex");

/** The key of this machine; the first call makes it. Only its user may read the file. */
export async function readSigningKey(file: string): Promise<KeyObject> {
  const known = await ifThere(readRegular(file));
  if (known !== undefined) return createPrivateKey(known);
  const { privateKey } = generateKeyPairSync("ed25519");
  await writeFileAtomic(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString(), { mode: 0o600 });
  return privateKey;
}

/** A public key, or the public part of a private one, in PEM. Throws ATTESTATION_INVALID. */
export function readPublicKey(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw new SessarcError("ATTESTATION_INVALID", { reason: "the key is not a PEM file" }, { cause: error });
  }
}

export const toPem = (key: KeyObject): string => publicOf(key).export({ type: "spki", format: "pem" }).toString();
