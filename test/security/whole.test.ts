/** A half redaction is a leak: nothing of a value that was planted may be left, whatever stands around it. */
import { describe, expect, it } from "vitest";
import { CONTEXTS, left } from "./_contexts.ts";
import { redact as hide, SHAPES, scanner, secrets } from "./_engine.ts";
import { createRandom, letters, toSample } from "./_samples.ts";

const redact = (text: string) => hide(text, secrets);

describe("security: whole values", () => {
  it("no eight characters of a value are left, for every rule in every context", () => {
    const random = createRandom(31);
    const leaks: string[] = [];
    for (const { id, row } of SHAPES) {
      const value = toSample(row.shape, random);
      if (value.includes("\n") || secrets.scan(`x = "${value}"`).findings.length === 0) continue;
      const name = `${(row.names?.[0] ?? "value").replaceAll("_", row.kind === "assignment" ? "_" : "")}`;
      for (const [context, wear] of Object.entries(CONTEXTS)) {
        // Without quotes a value ends where the shell, or the file, ends it.
        if (/[\s"'`;&|<>()\\#$@]/.test(value)) continue;
        // Where a row marks the secret, what is before it may be read: a host, a path.
        const secret = row.shape.includes("<") ? value.slice(value.length >> 1).replace(/^.*[=:]/, "") : value;
        const piece = left(secret, redact(wear(name, value)));
        if (piece !== undefined) leaks.push(`${id}, ${context}: ${piece} of ${value}`);
      }
    }
    expect(SHAPES.length).toBeGreaterThan(200);
    expect(leaks).toEqual([]);
  });

  it.each([";", ",", ")", "&", '\\"', " ", "]", "}", "#", "|", "@"])(
    "a quoted password goes to its closing quote: %s",
    (char) => {
      const [one, two] = [letters(9, 41), letters(9, 42)];
      for (const text of [
        `password = "${one}1${char}${two}"`,
        `{"db_password":"${one}1${char}${two}","x":1}`,
        `--password "${one}1${char}${two}" -v`,
      ]) {
        const out = redact(text);
        expect(left(one, out) ?? left(two, out), `${text} → ${out}`).toBeUndefined();
      }
    },
  );

  it.each<[string, (a: string, b: string) => [string, string]]>([
    ["a password with @ in a URL", (a, b) => [`${a}@${b}`, `postgres://app:${a}@${b}@db.internal:5432/app`]],
    ["a token as the user of a URL", (a, b) => [a + b, `https://${a}${b}:x-oauth-basic@github.com/a/b.git`]],
    [
      "an app's token with a JWT in it",
      (a, b) => {
        const jwt = [{ alg: "RS256" }, { iss: a, sub: b }].map((part) =>
          Buffer.from(JSON.stringify(part)).toString("base64url"),
        );
        const value = `ghs_123456_${jwt.join(".")}.${letters(43, 7)}`;
        return [value, `token ${value} end`];
      },
    ],
    ["a workspace token in parts", (a, b) => [`xoxa-2-123456789012-${a}-${b}`, `x xoxa-2-123456789012-${a}-${b} y`]],
    [
      "an Azure signature",
      (a, b) => [
        `${a}+${b}/${a}${b}1234%3D`,
        `https://x.blob.core.windows.net/c?sv=1&sig=${a}+${b}/${a}${b}1234%3D&se=2`,
      ],
    ],
  ])("%s goes whole", (_, make) => {
    const [value, text] = make(letters(12, 51), letters(12, 52));
    const out = redact(text);
    expect(left(value, out), out).toBeUndefined();
  });
});

describe("security: edges", () => {
  it.each<[string, (token: string) => string]>([
    ["an object's key", (token) => `{ key_${token}: 1 }`],
    ["a name before", (token) => `deploykey_${token}`],
    ["a word behind", (token) => `${token}_old`],
    ["a dash before", (token) => `prod-${token}`],
  ])("an unmistakable head is found in %s", (_, wear) => {
    for (const token of [
      `npm_${letters(36, 4)}`,
      `ghp_${letters(36, 5)}`,
      `AKIA${toSample("{A-Z2-7:16}", createRandom(6))}`,
    ]) {
      const text = wear(token);
      expect(
        secrets.scan(text).findings.map(({ secret }) => secret),
        text,
      ).toEqual([expect.stringContaining(token)]);
    }
  });

  it("a folder called home inside of a project is no home", () => {
    expect(scanner.scan("see src/home/overview.vue").findings).toEqual([]);
  });

  it("rules that begin with a mark hold behind a word", () => {
    expect(redact(`https://x.dev/a?b=1&access_token=${letters(32, 8)}9`)).not.toContain(letters(32, 8));
    expect(redact(`x.dev/path?token=${letters(32, 8)}9`)).not.toContain(letters(32, 8));
  });
});

describe("security: contexts", () => {
  const value = `${letters(18, 77)}7`;
  it.each<[string, string]>([
    ["name and value in JSON", `[{"name":"DB_PASSWORD","value":"${value}"}]`],
    ["name and value in JSON, pretty", `{\n  "name": "API_TOKEN",\n  "value": "${value}"\n}`],
    ["name and value in YAML", `env:\n  - name: DB_PASSWORD\n    value: ${value}\n`],
    ["XML attributes", `<add key="ApiSecret" value="${value}" />`],
    ["an XML element", `<password>${value}</password>`],
    ["a YAML block", `password: |\n  ${value}\n`],
    ["a default of Terraform", `variable "db_password" {\n  type = string\n  default = "${value}"\n}`],
    ["a flag", `cli --x-token ${value}`],
    ["gh secret set", `gh secret set DEPLOY_KEY --body ${value}`],
    ["docker login", `docker login -u me -p ${value} registry.dev`],
    ["mysql", `mysql -u root -p${value} app`],
    ["prose", `The password is ${value} and it is new.`],
    ["prose with a code", `the access token is \`${value}\`.`],
  ])("%s", (_, text) => {
    expect(left(value, redact(text)), redact(text)).toBeUndefined();
  });

  it("prose about secrets is none", () => {
    for (const text of [
      "The password is required.",
      "the token is invalid or has expired",
      "The api key is stored in the keychain2.",
    ])
      expect(secrets.scan(text).findings, text).toEqual([]);
  });
});
