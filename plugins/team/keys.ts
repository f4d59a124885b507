/** Ed25519 public keys and signatures, as machines and servers exchange them. */
import { createPublicKey, type KeyObject, verify } from "node:crypto";

const KEY = /^[A-Za-z0-9_-]{43}$/;
/** The field's prime. */
const P = 2n ** 255n - 19n;
/** The y coordinate of two points of order 8; that of the other two is its negative. */
const Y8 = 0x5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
/** Of the eight points whose order divides 8: anybody can sign in the name of such a key. */
const LOW_ORDER: ReadonlySet<bigint> = new Set([0n, 1n, P - 1n, Y8, P - Y8]);

/** Why a text is no public key that may be used; undefined for one that may. */
export function problemOfKey(text: string): string | undefined {
  if (!KEY.test(text)) return "it is not 32 bytes in base64url";
  const bytes = Buffer.from(text, "base64url");
  // Little-endian; the highest bit is the sign of x.
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) & (2n ** 255n - 1n);
  if (LOW_ORDER.has(y % P)) return "it is a point of low order, in whose name anybody can sign";
  if (y >= P) return "it is not in its canonical form";
  return undefined;
}

/** The key of a text that `problemOfKey` has nothing against. */
export const toPublicKey = (text: string): KeyObject =>
  createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: text }, format: "jwk" });

/** False for a key that may not be used, too. */
export function isSigned(publicKey: string, text: string, signature: string): boolean {
  if (problemOfKey(publicKey) !== undefined) return false;
  const bytes = Buffer.from(signature, "base64url");
  return bytes.length === 64 && verify(null, Buffer.from(text), toPublicKey(publicKey), bytes);
}
