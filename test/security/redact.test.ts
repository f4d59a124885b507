import type { Json, SessionEvent } from "sessarc";
import { describe, expect, it } from "vitest";
import { builtinRules, createRedactor, createScanner, customRule } from "../../plugins/security/secrets/engine.ts";
import { letters } from "./_samples.ts";

const scanner = createScanner(builtinRules());
const redactor = () => createRedactor(scanner, { key: new Uint8Array(32).fill(7) });

function event(text: string, more: Partial<SessionEvent> = {}): SessionEvent {
  return { seq: 0, kind: "assistant", text, ...more };
}

describe("security: redaction", () => {
  it("S10: leaves no half of a key", () => {
    const pem = [
      ["-----BEGIN EC PRIVATE", "KEY-----"].join(" "),
      letters(64, 1),
      letters(64, 2),
      ["-----END EC PRIVATE", "KEY-----"].join(" "),
    ].join("\n");
    const values = [
      pem,
      `ghp_${letters(60, 3)}`,
      `github_pat_${letters(22, 4)}_${letters(59, 5)}`,
      `glpat-${letters(20, 6)}`,
      `sk_live_${letters(99, 7)}`,
      `xoxb-${[123456789012, 210987654321].join("-")}-${letters(40, 8)}`,
    ];
    for (const value of values) {
      for (const text of [`a ${value} b`, JSON.stringify({ k: value }), `\x1b[31m${value}\x1b[0m`]) {
        const out = redactor().redactText(text);
        for (let i = 0; i + 8 <= value.length; i += 4) expect(out).not.toContain(value.slice(i, i + 8));
        expect(out).toMatch(/\[REDACTED:[a-z-]+#[0-9a-f]{4}\]/);
      }
    }
  });

  it("shows equal values as equal within a document and as different across documents", () => {
    const [a, b] = [`ghp_${letters(36, 9)}`, `ghp_${letters(36, 10)}`];
    const [first, second, third] = redactor().redactText(`${a} ${b} ${a}`).split(" ");
    expect(first).toBe(third);
    expect(first).not.toBe(second);
    const other = createRedactor(scanner).redactText(a);
    const another = createRedactor(scanner).redactText(a);
    expect([other, another, first].every((text) => text?.startsWith("[REDACTED:github-pat#"))).toBe(true);
    expect(new Set([other, another, first]).size).toBeGreaterThan(1);
  });

  it("redacts every string of the tree, keys included, and keeps its form", () => {
    const [token, okta] = [`ghp_${letters(36, 11)}`, `00${letters(40, 12)}`];
    const input: Json = JSON.parse(
      `{"__proto__": {"a": "${token}"}, "env": {"OKTA_TOKEN": "${okta}"}, "${token}": [1, true, null, "${token}"]}`,
    );
    const events = redactor().redactEvents([
      event(`use ${token}`, { kind: "tool_use", tool_name: "Bash", tool_input: input, at: "2026-01-02T03:04:05.000Z" }),
    ]);
    const text = JSON.stringify(events);
    expect(text).not.toContain(token);
    expect(text).not.toContain(okta);
    expect(events[0]).toMatchObject({ seq: 0, kind: "tool_use", tool_name: "Bash", at: "2026-01-02T03:04:05.000Z" });
    expect(text).toContain('"__proto__":{"a":"[REDACTED:github-pat#');
    expect(text).toMatch(/"\[REDACTED:github-pat#[0-9a-f]{4}\]":\[1,true,null,"\[REDACTED/);
    expect(({} as { a?: string }).a).toBeUndefined();
  });

  it("hides a value everywhere once one place gave it away", () => {
    const password = `${letters(9, 13)}#7x`;
    const events = redactor().redactEvents([
      event(`it printed ${password} again`, { kind: "tool_result" }),
      event("", { kind: "tool_use", tool_input: { password } }),
      event(Buffer.from(`x${password}yz`).toString("base64"), { kind: "note" }),
    ]);
    const text = JSON.stringify(events);
    expect(text).not.toContain(password);
    expect(text.match(/password-assignment#/g)).toHaveLength(3);
  });

  it("redacts a secret that was streamed in two messages", () => {
    const token = `glpat-${letters(20, 14)}`;
    const out = redactor().redactEvents([
      event(`the token is ${token.slice(0, 13)}`),
      event(`${token.slice(13)} as you see`, { seq: 1 }),
    ]);
    const joined = out.map(({ text }) => text).join("");
    expect(joined).not.toContain(token.slice(6, 12));
    expect(joined).not.toContain(token.slice(14, 24));
    expect(joined).toMatch(/^the token is \[.*\] as you see$/);
  });

  it("the gate finds a value in every form it may be written in", () => {
    const value = `${letters(10, 15)}/&"+<é 1'`;
    const guard = createRedactor(createScanner([customRule({ id: "own", type: "literal", pattern: value })]));
    guard.learn(value);
    const bytes = Buffer.from(value);
    const forms: Record<string, string> = {
      plain: value,
      json: JSON.stringify(value),
      "json twice": JSON.stringify(JSON.stringify(value)),
      url: encodeURIComponent(value),
      "url, lower case": encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
      html: value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll("'", "&#39;"),
      base64: bytes.toString("base64"),
      "base64 behind one byte": Buffer.concat([Buffer.from("a"), bytes, Buffer.from("b")]).toString("base64"),
      "base64 behind two bytes": Buffer.concat([Buffer.from("ab"), bytes, Buffer.from("c")]).toString("base64"),
      base64url: Buffer.concat([Buffer.from("ab"), bytes]).toString("base64url"),
      hex: bytes.toString("hex"),
      HEX: bytes.toString("hex").toUpperCase(),
    };
    for (const [form, text] of Object.entries(forms)) {
      expect(
        guard.gate(`<p>before ${text} after</p>`).map(({ ruleId }) => ruleId),
        form,
      ).toContain("own");
      const clean = guard.redactText(`before ${text} after`);
      expect(guard.gate(clean), form).toEqual([]);
    }
    expect(guard.gate("<p>nothing here</p>")).toEqual([]);
  });

  it("answers the same when its own output is redacted again", () => {
    const text = `password = "${letters(12, 16)}9!" and DB_PASSWORD=${letters(20, 17)}1 for jane.doe@corp.io`;
    const once = redactor().redactText(text);
    expect(redactor().redactText(once)).toBe(once);
    expect(once).not.toBe(text);
  });

  it("writes a rule's own replacement and counts by rule", () => {
    const rule = customRule({ id: "ticket", pattern: "ACME-\\d+", replacement: "[ticket]" });
    const own = createRedactor(createScanner([rule]));
    expect(own.redactText("ACME-1 and ACME-22, not ACME-x")).toBe("[ticket] and [ticket], not ACME-x");
    expect(own.counts).toEqual({ ticket: 2 });
  });

  it("S6: redacts titles and paths by what the events gave away", () => {
    const guard = redactor();
    const token = `npm_${letters(36, 18)}`;
    guard.redactEvents([event(`publish with ${token}`, { kind: "user" })]);
    expect(guard.redactText(`publish with ${token}`)).toMatch(/^publish with \[REDACTED:npm-access-token#/);
    expect(guard.redactValue({ title: token, path: `/tmp/${token}/x` })).toEqual({
      title: expect.not.stringContaining(token),
      path: expect.not.stringContaining(token),
    });
  });
});
