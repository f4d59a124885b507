import { describe, expect, it } from "vitest";
import { builtinRules, createScanner, type Finding } from "../../plugins/security/secrets/engine.ts";
import { createPrefilter } from "../../plugins/security/secrets/scan/prefilter.ts";
import { LONG } from "../rounds.ts";
import { SHAPES } from "./_engine.ts";
import { createRandom, letters, toSample } from "./_samples.ts";

const scanner = createScanner(builtinRules(), { categories: ["secret"] });
const find = (text: string): Finding[] => scanner.scan(text).findings;

const PEM = ["-----BEGIN RSA PRIVATE", "KEY-----"].join(" ");
const PEM_END = ["-----END RSA PRIVATE", "KEY-----"].join(" ");
const pem = [PEM, letters(64, 1), letters(64, 2), letters(64, 3), PEM_END].join("\n");

/** Every JSON, colour and pager dress a secret wears in a transcript. */
const dresses: Record<string, (text: string) => string> = {
  plain: (text) => text,
  fenced: (text) => `Here is the file:\n\`\`\`\n${text}\n\`\`\`\nDone.`,
  diff: (text) => text.replace(/^/gm, "+"),
  "removed lines": (text) => text.replace(/^/gm, "-"),
  numbered: (text) =>
    text
      .split("\n")
      .map((line, i) => `${String(i + 1).padStart(6)}\t${line}`)
      .join("\n"),
  "numbered with arrows": (text) =>
    text
      .split("\n")
      .map((line, i) => `${String(i + 1).padStart(6)}→${line}`)
      .join("\n"),
  coloured: (text) => `\x1b[1;32m${text}\x1b[0m`,
  "JSON-escaped": (text) => JSON.stringify({ type: "tool_result", content: text }),
  "JSON-escaped twice": (text) => JSON.stringify(JSON.stringify({ stdout: text })),
};

describe("security: engine", () => {
  it("S10: finds real kinds of tokens", () => {
    const tokens: [string, string][] = [
      ["private-key", pem],
      ["github-pat", `ghp_${letters(36, 4)}`],
      ["github-fine-grained-pat", `github_pat_${letters(22, 5)}_${letters(59, 6)}`],
      ["gitlab-pat", `glpat-${letters(20, 7)}`],
      ["stripe-access-token", `sk_live_${letters(24, 8)}`],
      ["anthropic-api-key", `sk-ant-api03-${letters(93, 9)}AA`],
      ["anthropic-oauth-token", `sk-ant-oat01-${letters(95, 10)}`],
      ["gcp-api-key", `AIza${letters(35, 11)}`],
      ["aws-access-token", `AKIA${toSample("{A-Z2-7:16}", createRandom(12))}`],
      ["slack-bot-token", `xoxb-${[123456789012, 210987654321].join("-")}-${letters(24, 13)}`],
      ["npm-access-token", `npm_${letters(36, 14)}`],
      ["huggingface-token-digits", `hf_${letters(33, 15)}7`],
    ];
    for (const [rule, token] of tokens) {
      const found = find(`export X="${token}" # as given`);
      expect(
        found.map(({ ruleId, secret }) => ({ ruleId, secret })),
        rule,
      ).toEqual([{ ruleId: rule, secret: token }]);
    }
  });

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: templates of other languages are what is tested
  it("S10: leaves types, variables, placeholders and templates alone", () => {
    const lines = [
      "password: string",
      "password?: string | undefined;",
      "function login(user: string, password: string): Promise<Token> {",
      "const token = process.env.GITHUB_TOKEN",
      'password = os.environ["DB_PASSWORD"]',
      "client_secret: ${{ secrets.CLIENT_SECRET }}",
      "secret: {{ vault_secret }}",
      "DB_PASSWORD=$DB_PASSWORD",
      'api_key = "<your-api-key>"',
      'apiKey: "YOUR_API_KEY_HERE"',
      "password: changeme",
      "PASSWORD=********",
      "OPENAI_API_KEY=sk-...",
      "AKIAIOSFODNN7EXAMPLE",
      'const password = await getPasswordFromVault("db")',
      "password = user.password",
      "type Props = { accessToken: AccessToken; refreshToken: RefreshToken }",
      "max_tokens: 4096, cache_read_tokens: 120000",
      "https://user:password@example.com/",
      "postgres://app:${DB_PASSWORD}@db:5432/app",
      "Authorization: Bearer <token>",
      "Authorization: Bearer ${token}",
      "curl -u user:password https://example.com",
      "-----BEGIN PUBLIC KEY-----",
      "Set the private key path, then restart the service.",
    ];
    for (const line of lines) expect(find(line), line).toEqual([]);
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above

  it("finds a sample of every rule, in every dress, whole", () => {
    const random = createRandom(2026);
    const missing: string[] = [];
    for (const { id, row } of SHAPES) {
      const value = drawn(row.shape, row.entropy ?? 0, random);
      const name = (row.names?.[0] ?? "value").replaceAll("_", "-");
      for (const [dress, wear] of Object.entries(dresses)) {
        const text = wear(row.kind === "assignment" ? `{\n  "${name}_x": "${value}",\n}` : `x = "${value}"`);
        const bare = value.replace(/^https?:\/\/|@.*$/g, "");
        const findings = find(text);
        const whole = value.includes("\n")
          ? findings.length > 0
          : findings.some(({ secret }) => secret.includes(bare) || value.includes(secret));
        if (!whole) missing.push(`${id} ${dress}: ${text}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it("says where the secret is in the text as it was given", () => {
    const token = `ghp_${letters(36, 21)}`;
    for (const [dress, wear] of Object.entries(dresses)) {
      const text = wear(`first line\ntoken: ${token}\nlast`);
      const [finding] = find(text);
      expect(text.slice(finding?.start, finding?.end), dress).toBe(token);
    }
  });

  it("joins a token that colours cut in two", () => {
    const token = `glpat-${letters(20, 22)}`;
    const text = `found \x1b[31m${token.slice(0, 12)}\x1b[0m\x1b[1m${token.slice(12)}\x1b[0m`;
    expect(find(text)[0]?.ruleId).toBe("gitlab-pat");
    expect(text.slice(find(text)[0]?.start, find(text)[0]?.end)).toContain(token.slice(12));
  });

  it("S10: takes a value whole that is longer than its format says", () => {
    const long = `ghp_${letters(60, 23)}`;
    expect(find(`token ${long}.`)[0]?.secret).toBe(long);
    const hex = `dop_v1_${toSample("{a-f0-9:70}", createRandom(24))}`;
    expect(find(hex)[0]).toMatchObject({ secret: hex, confidence: "possible" });
  });

  it("S10: finds a private key that was cut at either end", () => {
    const body = [letters(64, 25), letters(64, 26), letters(20, 27)].join("\n");
    expect(find(`${PEM}\n${body}\n… 20 lines more`)[0]).toMatchObject({
      ruleId: "private-key",
      secret: expect.stringContaining(body),
    });
    expect(find(`the rest:\n${body}\n${PEM_END}\n`)[0]).toMatchObject({
      ruleId: "private-key",
      secret: expect.stringContaining(body),
    });
    expect(find(`A file that begins with ${PEM} holds a key and should never be shown to anybody at all`)).toEqual([]);
  });

  it("reports the specific rule instead of the general one", () => {
    const token = `sk_live_${letters(30, 28)}`;
    expect(find(`STRIPE_SECRET_KEY=${token}`).map(({ ruleId }) => ruleId)).toEqual(["stripe-access-token"]);
    expect(find(`Authorization: Bearer ${token}`).map(({ ruleId }) => ruleId)).toEqual(["stripe-access-token"]);
  });

  it("finds every value of a Kubernetes secret and none of a config map", () => {
    const data = (kind: string) =>
      `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: database0credentials\ndata:\n  user: ${btoa("someone-else-1")}\n  pass: ${btoa("another-one-22")}\n`;
    expect(find(data("Secret")).map(({ ruleId }) => ruleId)).toEqual([
      "kubernetes-secret-yaml",
      "kubernetes-secret-yaml",
    ]);
    expect(
      find(`${data("ConfigMap")}---\n${data("Deployment")}`).filter(({ ruleId }) => ruleId.startsWith("kube")),
    ).toEqual([]);
  });

  it("finds what curl, URLs, cookies and connection strings carry", () => {
    const value = letters(18, 29);
    const texts = [
      `curl -s \\\n  -u admin:${value} \\\n  https://example.com`,
      `curl -H 'X-Api-Key: ${value}' https://example.com`,
      `git clone https://x-access-token:${value}@example.com/a/b.git`,
      `postgres://app:${value}@db.internal:5432/app`,
      `Cookie: theme=dark; session_id=${value}; lang=en`,
      `Server=db;Database=app;User Id=sa;Password=${value};`,
      `Authorization: Basic ${btoa(`admin:${value}`)}`,
      `machine example.com login admin password ${value}`,
      `mysql --password=${value} app`,
    ];
    for (const text of texts) expect(find(text).length, text).toBe(1);
  });

  it("knows a file by its name", () => {
    expect(scanner.scan("", { path: "certs/client.P12" }).findings.map(({ ruleId }) => ruleId)).toEqual([
      "pkcs12-file",
    ]);
    expect(scanner.scan("", { path: "certs/client.p12.md" }).findings).toEqual([]);
  });

  it("masks without a character of the secret", () => {
    const token = `ghp_${letters(36, 30)}`;
    expect(find(token)[0]?.masked).toBe("ghp_••••••");
    expect(find(`password = "${letters(12, 31)}3"`)[0]?.masked).toBe("••••••");
  });

  it("ends hostile text: every part of it is checked once", () => {
    const size = LONG ? 1 << 20 : 1 << 18;
    const lines = [
      "curl=",
      "okta-",
      "a",
      "A",
      "=",
      '"',
      "{",
      "\\",
      '\\"',
      "ey-",
      "eyA.",
      "token='",
      "glpat-",
      "sk-proj-",
    ];
    const blocks = [
      `${PEM}\n`,
      `${PEM_END}\n`,
      `${PEM}\n${"A".repeat(60)}`,
      "://a:",
      "a@a.",
      "kind: Secret\n  a: QUJDREVGR0hJSg==\n",
      "QUJDRA+/",
      "<token>\n",
      "\x1b[",
      "curl -H 'X-a-",
      "facebook1234567890123456",
    ];
    const strict = createScanner(builtinRules().map((rule) => ({ ...rule, enabled: true })));
    for (const piece of [...lines, ...blocks]) {
      const text = piece.repeat(Math.ceil(size / piece.length));
      expect(strict.scan(text).partial, piece).toBe(false);
    }
    // One run in which every value is the next name: left after some looks, which the answer says.
    for (const piece of ["key=", "session_token=a"]) {
      const text = `${piece.repeat(size / 8)} glpat-${letters(20, 7)}`;
      const { partial, findings } = strict.scan(text);
      expect([partial, findings.at(-1)?.ruleId], piece).toEqual([true, "gitlab-pat"]);
    }
  });

  it("stops at its time budget and reports it", () => {
    const token = `ghp_${letters(36, 32)}`;
    const text = `${token}\n${"some text about keys = and tokens: ".repeat(40_000)}\n${token}`;
    const cut = scanner.scan(text, { budgetMs: 0 });
    expect(cut.partial).toBe(true);
    expect(cut.scannedBytes).toBeLessThan(text.length);
    expect(scanner.scan(text)).toMatchObject({ partial: false, scannedBytes: text.length });
    expect(scanner.scan(text).findings).toHaveLength(2);
  });

  it("finds keywords of any case, wherever pieces of the text begin", () => {
    const prefilter = createPrefilter(["he", "she", "hers", "his"]);
    const text = "uSHErs and HIS";
    const hits: string[] = [];
    let state = 0;
    for (let i = 0; i < text.length; i++) {
      state = prefilter.run(text, i, i + 1, state, (keyword, start) => hits.push(`${keyword}@${start}`));
    }
    expect(hits.sort()).toEqual(["0@2", "1@1", "2@2", "3@11"]);
  });

  it("names the field of an event, and values by their key or flag", () => {
    const okta = `00${letters(40, 33)}`;
    const pass = `${letters(12, 34)}#7`;
    const token = `ghp_${letters(36, 35)}`;
    const { findings } = scanner.scanEvent({
      seq: 3,
      kind: "tool_use",
      text: "",
      tool_name: "Run",
      tool_input: {
        env: { OKTA_TOKEN: okta },
        args: ["--password", pass],
        [token]: "x",
        nested: { [token]: { password: pass } },
      },
    });
    expect(findings.map(({ field, ruleId }) => [field, ruleId])).toEqual([
      ["tool_input.env.OKTA_TOKEN", "okta-access-token"],
      ["tool_input.args.1", "password-assignment"],
      ["tool_input#key", "github-pat"],
      ["tool_input.nested#key", "github-pat"],
      ["tool_input.nested.•••.password", "password-assignment"],
    ]);
  });
});

/** A sample random enough for the rule's own floor. */
function drawn(shape: string, floor: number, random: (below: number) => number): string {
  for (let i = 0; ; i++) {
    const value = toSample(shape, random);
    const counts = new Map<string, number>();
    for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
    const bits = [...counts.values()].reduce((sum, n) => sum - (n / value.length) * Math.log2(n / value.length), 0);
    if (bits > floor + 0.1 || i > 200) return value;
  }
}
