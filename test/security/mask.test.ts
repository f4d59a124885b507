/** Secrets in rows of logs, replaced in place: whatever a row writes them as, the rest stays byte for byte. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toKeys } from "../../plugins/security/scrub/keys.ts";
import { createMask } from "../../plugins/security/scrub/mask.ts";
import { rounds } from "../rounds.ts";
import { letters } from "./_samples.ts";

const value = `ghp_${letters(36, 11)}`;
const mask = createMask(toKeys(value));
const row = (text: unknown) => JSON.stringify({ type: "user", message: { content: text } });
const hex4 = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
const pass = (text: string) => {
  const masked = mask.bytes(Buffer.from(text));
  return { text: masked?.bytes.toString() ?? text, spans: masked?.spans ?? [], left: masked?.left ?? [] };
};
/** All texts of a row, as deep as it is JSON. */
const said = (text: string): string => {
  const deep = (one: unknown): unknown => {
    if (typeof one === "string") {
      try {
        return deep(JSON.parse(one));
      } catch {
        return one;
      }
    }
    if (Array.isArray(one)) return one.map(deep);
    return one && typeof one === "object" ? Object.entries(one).map(([key, inner]) => [key, deep(inner)]) : one;
  };
  return JSON.stringify(text.split("\n").map((line) => (line === "" ? "" : deep(JSON.parse(line)))));
};

describe("a secret in a row", () => {
  it.each([
    ["plain", row(`push with ${value} now`)],
    ["as a key", row({ [value]: 1 })],
    ["after an escaped newline", row(`a\n${value}\nb`)],
    ["in JSON in JSON in JSON", row(JSON.stringify({ out: JSON.stringify({ token: value }) }))],
    ["every letter as an escape", row("X").replace("X", [...value].map(hex4).join(""))],
    ["some letters as escapes", row("a X b").replace("X", [...value].map((c, i) => (i % 3 ? c : hex4(c))).join(""))],
    [
      "escapes in JSON in JSON",
      row(JSON.stringify({ a: "X" })).replace("X", [...value].map((c) => `\\${hex4(c)}`).join("")),
    ],
    ["in an address", row(`https://x:${encodeURIComponent(value)}@github.com`)],
    ["with colours inside", row(`${value.slice(0, 10)}\u001b[31m${value.slice(10)}\u001b[0m end`)],
    ["in pieces of code", row(`"${value.slice(0, 9)}" + "${value.slice(9)}"`)],
    ["in hexadecimal", row(`00${Buffer.from(value).toString("hex")}ff`)],
    ["in compressed base64", row(`b ${gzipSync(Buffer.from(`TOKEN=${value}\n`)).toString("base64")} e`)],
  ])("%s", (_, text) => {
    const after = pass(text);
    expect(after.text).not.toContain(value);
    expect(Buffer.byteLength(after.text)).toBe(Buffer.byteLength(text));
    expect(after.spans.length).toBeGreaterThan(0);
    expect(after.left).toEqual([]);
    expect(said(after.text)).not.toContain(value);
    expect(pass(after.text).spans).toEqual([]);
  });

  it.each([0, 1, 2, 3, 4])("in base64 that goes on decoding, %i bytes in", (before) => {
    const content = `${"x".repeat(before)}TOKEN ${value} and more ünïcode ~~`;
    const after = pass(row(Buffer.from(content).toString("base64")));
    const { message } = JSON.parse(after.text) as { message: { content: string } };
    const decoded = Buffer.from(message.content, "base64").toString();
    expect(decoded).not.toContain(value.slice(2, -2));
    expect(decoded.length).toBe(content.length);
    expect(decoded.endsWith(" and more ünïcode ~~")).toBe(true);
  });

  it.each([1, 3, 7, 20])("streamed over rows, %i letters each", (size) => {
    const parts = `say ${value} twice`.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
    const rows = parts.map((delta, n) => JSON.stringify({ n, type: n % 2 ? "delta" : "delta", payload: [{ delta }] }));
    const after = pass(`${rows.join("\n")}\n`);
    const joined = after.text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { payload: [{ delta: string }] }).payload[0].delta);
    expect(joined.join("")).toBe(`say ${"*".repeat(value.length)} twice`);
  });

  it("that was cut at the end of a text", () => {
    expect(pass(row(`key ${value.slice(0, 30)}`)).text).toBe(row(`key ${"*".repeat(30)}`));
  });

  it("whose neighbours are other text stays what it is", () => {
    const other = `ghp_${letters(36, 12)}`;
    for (const text of [row(other), row(value.slice(0, 19)), row(`\\${value}`.slice(0, 9)), "", "\n\n", "not json"])
      expect(pass(text).spans).toEqual([]);
    const key = createMask(toKeys("npm_abcdefghijklmnopqrstuvwx"));
    // An escaped newline and another text.
    expect(key.bytes(Buffer.from('{"a":"\\npm_abcdefghijklmnopqrstuvwx"}'))).toBeUndefined();
  });

  it("changes nothing else, whatever surrounds it", () => {
    const other = fc.string({ maxLength: 40, unit: "grapheme" }).filter((text) => !text.includes(value));
    fc.assert(
      fc.property(fc.array(fc.tuple(other, other), { minLength: 1, maxLength: 6 }), (around) => {
        const text = around.map(([a, b]) => row(`${a} ${value} ${b}`)).join("\n");
        const after = pass(text);
        expect(after.text).toBe(text.replaceAll(value, "*".repeat(value.length)));
      }),
      { numRuns: rounds(80) },
    );
  });

  it.each([
    [
      "of several lines",
      `${["-----BEGIN RSA PRIVATE", "KEY-----"].join(" ")}\n${letters(64, 1)}\n${letters(64, 2)}\n-----END`,
    ],
    ["with signs that JSON escapes", `${letters(10, 3)}"\\/${letters(10, 4)}`],
    ["outside of ASCII", `pässwörd-${letters(12, 5)}`],
  ])("%s", (_, secret) => {
    const own = createMask(toKeys(secret));
    for (const text of [row(`a ${secret} b`), row(JSON.stringify({ secret }))]) {
      const masked = own.bytes(Buffer.from(text));
      expect(masked?.bytes.length).toBe(Buffer.byteLength(text));
      expect(said(masked?.bytes.toString() ?? text)).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(masked?.left).toEqual([]);
    }
  });
});
