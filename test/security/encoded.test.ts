/** Tokens in other spellings: the guard sees them, and no export shows them. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { redact, secrets } from "./_engine.ts";
import { letters } from "./_samples.ts";

const token = `ghp_${letters(36, 61)}`;
const b64 = (text: string | Buffer) => Buffer.from(text).toString("base64");
const each = (by: (code: number, char: string) => string) =>
  [...token].map((char) => by(char.charCodeAt(0), char)).join("");
const hex = Buffer.from(token).toString("hex");

const FORMS: Record<string, string> = {
  base64: b64(token),
  "base64 of a line": b64(`export TOKEN=${token}\n`),
  "base64 in a shell command": `echo ${b64(`echo ${token}`)} | base64 -d | sh`,
  "base64 behind a word": `data:text/plain;base64,${b64(token)}`,
  base64url: Buffer.from(`{"a":"${token}?>"}`).toString("base64url"),
  "base64, wrapped": b64(`a long line before it so that it is wrapped ${token} and some more of it`).replace(
    /(.{40})/g,
    "$1\n",
  ),
  "base64 in pieces": `"${b64(token).slice(0, 30)}" + "${b64(token).slice(30)}"`,
  "base64 twice": b64(b64(token)),
  "base64 of UTF-16": b64(Buffer.from(`$t = '${token}'`, "utf16le")),
  "gzip in base64": b64(gzipSync(`TOKEN=${token}\n`)),
  hex,
  "hex, upper case": hex.toUpperCase(),
  "hex, spaced": hex.replace(/../g, "$& ").trim(),
  "hex, four and four": hex.replace(/..../g, "$& ").trim(),
  "hex of base64": Buffer.from(b64(token)).toString("hex"),
  percent: each((code) => `%${code.toString(16)}`),
  "percent, in part": each((code, char) => (code % 3 === 0 ? `%${code.toString(16).toUpperCase()}` : char)),
  "\\x": `printf '${each((code) => `\\x${code.toString(16)}`)}'`,
  octal: `printf '${each((code) => `\\${code.toString(8).padStart(3, "0")}`)}'`,
  "HTML entities": each((code) => `&#${code};`),
  "HTML entities, hexadecimal": each((code) => `&#x${code.toString(16)};`),
  "zero-width characters": [...token].join("\u200b"),
  "soft hyphens": `${token.slice(0, 9)}\u00ad${token.slice(9)}`,
  NUL: `${token.slice(0, 9)}\0${token.slice(9)}`,
  backspace: `${token.slice(0, 9)}x\b${token.slice(9)}`,
  "strings in pieces": `"${token.slice(0, 9)}" + "${token.slice(9)}"`,
  "strings over lines": `'${token.slice(0, 9)}' +\n  '${token.slice(9)}'`,
  "a line continued": `${token.slice(0, 9)}\\\n${token.slice(9)}`,
  "empty quotes": `${token.slice(0, 9)}''${token.slice(9)}`,
  "glued quotes": `${token.slice(0, 9)}"${token.slice(9)}"`,
};

describe("security: encoded secrets", () => {
  it.each(Object.entries(FORMS))("%s", (_, form) => {
    const text = `before ${form} after`;
    expect(secrets.scan(text, { forms: true }).findings.map(({ ruleId }) => ruleId)).toEqual(["github-pat"]);
    const out = redact(text, secrets);
    expect(out).toMatch(/^before .*\[REDACTED:github-pat#[0-9a-f]{4}\].* after$/s);
    // Nothing is left that decodes to more than a few characters of it.
    const rest = out.replace(/\[REDACTED:[^\]]*\]/g, "");
    expect(rest.length).toBeLessThan(90);
    expect(secrets.scan(rest, { forms: true }).findings).toEqual([]);
  });

  it("leaves harmless encoded text alone, and is linear in it", () => {
    const image = `data:image/png;base64,${Buffer.from(letters(9_000, 3)).toString("base64")}`;
    expect(secrets.scan(image, { forms: true }).findings).toEqual([]);
    const bomb = b64(gzipSync(Buffer.alloc(64 * 2 ** 20)));
    expect(secrets.scan(bomb, { forms: true }).findings).toEqual([]);
  });

  it("says when there was more than it decodes", () => {
    const much = `${b64("harmless text, again and again. ")} `.repeat(200_000);
    expect(secrets.scan(much, { forms: true }).partial).toBe(true);
    expect(secrets.scan(much.slice(0, 10_000), { forms: true }).partial).toBe(false);
  });
});
