/** Public keys in whose name anybody can sign are refused, however they are written. */
import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isSigned, problemOfKey } from "../../plugins/team/keys.ts";

const P = 2n ** 255n - 19n;
const mod = (x: bigint) => ((x % P) + P) % P;
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let x = mod(base), e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * x) % P;
    x = (x * x) % P;
  }
  return result;
}
const inverse = (x: bigint) => power(x, P - 2n);
const D = mod(-121665n * inverse(121666n));
type Point = readonly [x: bigint, y: bigint];
const add = ([x1, y1]: Point, [x2, y2]: Point): Point => {
  const k = mod(D * x1 * x2 * y1 * y2);
  return [mod((x1 * y2 + x2 * y1) * inverse(1n + k)), mod((y1 * y2 + x1 * x2) * inverse(1n - k))];
};
/** A point of order 8: its multiples are all points whose order divides 8. */
const EIGHTH: Point = (() => {
  const root = power(2n, (P - 1n) / 4n);
  for (let y = 2n; ; y++) {
    // Any point times the prime order of the base point has an order that divides 8.
    const u = mod(y * y - 1n);
    const v = mod(D * y * y + 1n);
    let x = mod(u * power(v, 3n) * power(mod(u * power(v, 7n)), (P - 5n) / 8n));
    if (mod(v * x * x) !== u) x = mod(x * root);
    if (mod(v * x * x) !== u) continue;
    let sum: Point = [0n, 1n];
    let twice: Point = [x, y];
    for (let n = 2n ** 252n + 27742317777372353535851937790883648493n; n > 0n; n >>= 1n) {
      if (n & 1n) sum = add(sum, twice);
      twice = add(twice, twice);
    }
    const fourth = [1, 2, 3].reduce<Point>((now) => add(now, sum), sum);
    if (!(fourth[0] === 0n && fourth[1] === 1n)) return sum;
  }
})();

const text = (y: bigint, sign: bigint): string => {
  const hex = ((sign << 255n) | y).toString(16).padStart(64, "0");
  return Buffer.from(hex, "hex").reverse().toString("base64url");
};

describe("public keys", () => {
  const low: string[] = [];
  for (let n = 0, point: Point = [0n, 1n]; n < 8; n++, point = add(point, EIGHTH))
    for (const y of [point[1], point[1] + P]) if (y < 2n ** 255n) low.push(text(y, 0n), text(y, 1n));

  it("of low order are refused in each of their spellings", () => {
    expect(new Set(low).size).toBe(14);
    for (const key of low) expect(problemOfKey(key)).toContain("low order");
  });

  it("of low order verify what no key signed, which a check of signatures alone does not see", () => {
    // The identity as R, and zero as S.
    const forged = Buffer.concat([Buffer.from(text(1n, 0n), "base64url"), Buffer.alloc(32)]);
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: text(1n, 0n) }, format: "jwk" });
    expect(verify(null, Buffer.from("anything"), key, forged)).toBe(true);
    expect(isSigned(text(1n, 0n), "anything", forged.toString("base64url"))).toBe(false);
  });

  it("are refused that are not written in their one form", () => {
    expect(problemOfKey(text(P + 5n, 0n))).toContain("canonical");
    expect(problemOfKey("short")).toContain("32 bytes");
    expect(problemOfKey(text(4n, 0n))).toBe(undefined);
  });
});
