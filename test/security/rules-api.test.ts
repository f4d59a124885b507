import type { ErrorBody } from "sessarc";
import { describe, expect, it } from "vitest";
import type { Rule } from "../../plugins/security/index.ts";
import { createTestKernel } from "../kernel.ts";
import { plugins, SESSION, startWith } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const start = () => createTestKernel({ plugins: plugins() });
const list = async (t: Awaited<ReturnType<typeof start>>) =>
  (await t.json<{ rules: Rule[] }>("/api/security/rules")).rules;

describe("security: rules", () => {
  it("lists built-in rules, which can be disabled and not deleted", async () => {
    const t = await start();
    const rule = (await list(t)).find(({ id }) => id === "github-pat");
    expect(rule).toMatchObject({ builtin: true, enabled: true, kind: "redact", action: "block" });
    expect((await t.send("DELETE", "/api/security/rules/github-pat")).status).toBe(409);
    expect((await t.send("PATCH", "/api/security/rules/github-pat", { name: "x" })).status).toBe(409);
    expect((await t.send<Rule>("PATCH", "/api/security/rules/github-pat", { enabled: false })).body.enabled).toBe(
      false,
    );
    expect((await list(t)).find(({ id }) => id === "github-pat")?.enabled).toBe(false);
  });

  it("shows what a secret looks like, without one", async () => {
    const t = await start();
    const rules = await list(t);
    const exampleOf = (id: string) => rules.find((rule) => rule.id === id)?.example;
    expect(exampleOf("github-pat")).toBe("ghp_…");
    expect(exampleOf("algolia-api-key")).toBe("algolia = …");
    const { kernel } = t;
    const scanner = await kernel.inject("rules").scanner();
    for (const { id, example } of rules.filter(({ category }) => category === "secret"))
      expect([id, scanner.scan(example ?? "").findings.filter(({ confidence }) => confidence === "definite")]).toEqual([
        id,
        [],
      ]);
    const { body } = await t.send<Rule>("POST", "/api/security/rules", { name: "A", pattern: "a+b" });
    expect(body.example).toBe(null);
  });

  it("keeps the user's rules over a restart", async () => {
    const t = await start();
    const { body } = await t.send<Rule>("POST", "/api/security/rules", { name: "A", pattern: "a+b", flags: "i" });
    await t.send("PATCH", `/api/security/rules/${body.id}`, { name: "B", keywords: ["aab"] });
    await t.kernel.close();
    const again = await createTestKernel({ plugins: plugins(), home: t.home });
    expect((await list(again)).at(-1)).toMatchObject({
      id: body.id,
      name: "B",
      flags: "i",
      keywords: ["aab"],
      source: "user",
    });
    expect((await again.send("DELETE", `/api/security/rules/${body.id}`)).body).toEqual({ deleted: true });
    expect((await again.send("DELETE", `/api/security/rules/${body.id}`)).status).toBe(404);
    expect((await again.send("PATCH", "/api/security/rules/none", { enabled: true })).status).toBe(404);
  });

  it("two changes of one rule at once are both kept", async () => {
    const t = await start();
    const { body } = await t.send<Rule>("POST", "/api/security/rules", { name: "A", pattern: "a+b" });
    const changes = [{ name: "B" }, { action: "flag" }, { flags: "i" }, { keywords: ["aab"] }, { enabled: false }];
    await Promise.all(changes.map((change) => t.send("PATCH", `/api/security/rules/${body.id}`, change)));
    expect((await list(t)).at(-1)).toMatchObject(Object.assign({}, ...changes));
  });

  it("refuses a pattern that does not compile, with the place", async () => {
    const t = await start();
    for (const pattern of ["a(b", "(?<=x)y", "[z-a]", "", "x*"]) {
      const { status, body } = await t.send<ErrorBody>("POST", "/api/security/rules", { name: "A", pattern });
      expect([pattern, status, body.issues?.[0]?.path]).toEqual([pattern, 400, "pattern"]);
    }
    const { body } = await t.send<ErrorBody>("POST", "/api/security/rules", { name: "A", pattern: "ab[z-a]" });
    expect(body.message).toContain("character 4");
  });

  it("takes rules from the configuration, and says at the start which of them is wrong", async () => {
    const rules = [{ name: "Tickets", pattern: "ACME-[0-9]+" }];
    const t = await createTestKernel({ plugins: plugins(), config: { security: { rules } } });
    expect((await list(t)).at(-1)).toMatchObject({ id: "config-1", source: "configuration", builtin: false });
    expect((await t.send("DELETE", "/api/security/rules/config-1")).status).toBe(409);
    const wrong = createTestKernel({
      plugins: plugins(),
      config: { security: { rules: [{ name: "x", pattern: "a(" }] } },
    });
    await expect(wrong).rejects.toThrow("security.rules.0");
  });

  it("tries a rule on a text, and on the archive's calls", async () => {
    const t = await startWith([
      { role: "user", text: "go" },
      { role: "call", input: { command: "deploy ACME-12345" } },
      { role: "result", id: "t1", text: "ACME-99999" },
      { role: "call", input: { command: "ls" } },
    ]);
    const rule = { name: "A", pattern: "ACME-[0-9]+" };
    const test = await t.send("POST", "/api/security/rules/test", { rule, text: "see ACME-1." });
    expect(test.body).toEqual({
      findings: [{ start: 4, end: 10, confidence: "probable", masked: "••••••" }],
      partial: false,
    });
    const dry = await t.send("POST", "/api/security/rules/dry-run", { rule });
    expect(dry.body).toEqual({
      calls: 2,
      sessions: 1,
      blocked: 1,
      flagged: 1,
      examples: [{ sessionId: SESSION, seq: 1, field: "tool_input.command", rule: "A", masked: "••••••" }],
      partial: false,
    });
  });

  it("checks a session once per content and rules, and never answers the secret", async () => {
    const token = `glpat-${letters(20, 72)}`;
    const t = await startWith([
      { role: "user", text: `use ${token} please` },
      { role: "call", input: { command: `curl -H 'PRIVATE-TOKEN: ${token}'` } },
    ]);
    const path = `/api/sessions/${SESSION}/security-check`;
    const first = await t.json<{ findings: { ruleId: string; field: string; seq: number }[]; totals: object }>(path);
    expect(first.findings.map(({ seq, field, ruleId }) => [seq, field, ruleId])).toEqual([
      [0, "text", "gitlab-pat"],
      [1, "tool_input.command", "gitlab-pat"],
    ]);
    expect(first.totals).toEqual({ "gitlab-pat": 2 });
    expect(JSON.stringify(first)).not.toContain(token.slice(6, 14));
    const inflated = t.kernel.storage.transcripts.stats.inflated;
    expect(await t.json(path)).toEqual(first);
    expect(t.kernel.storage.transcripts.stats.inflated).toBe(inflated);
    await t.send("PATCH", "/api/security/rules/gitlab-pat", { enabled: false });
    expect((await t.json<typeof first>(path)).findings.map(({ ruleId }) => ruleId)).not.toContain("gitlab-pat");
    expect((await t.fetch("/api/sessions/none/security-check")).status).toBe(404);
  });

  it("pages of findings neither skip nor repeat when findings before them go", async () => {
    const tokens = Array.from({ length: 9 }, (_, n) => `glpat-${letters(20, 90 + n)}`);
    const t = await startWith([
      { role: "user", text: "first internal ACME-12345 and ACME-54321" },
      { role: "user", text: tokens.slice(0, 5).join(" and ") },
      { role: "call", input: { b: tokens.slice(5, 7).join(" "), a: tokens.slice(7).join(" ") } },
    ]);
    const own = { name: "A", pattern: "ACME-[0-9]+", kind: "redact" };
    const { body: rule } = await t.send<{ id: string }>("POST", "/api/security/rules", own);
    const path = `/api/sessions/${SESSION}/security-check?limit=3`;
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { findings: Record<string, unknown>[]; nextCursor: string | null } = await t.json(
        `${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      seen.push(...page.findings.map(({ seq, field, start }) => [seq, field, start].join()));
      cursor = page.nextCursor;
      await t.send("PATCH", `/api/security/rules/${rule.id}`, { enabled: false });
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((one) => !one.startsWith("0,"))).toHaveLength(9);
    for (const cursor of ["5", "x", "1:2:3:rule:"])
      expect((await t.fetch(`${path}&cursor=${cursor}`)).status).toBe(400);
  });
});
