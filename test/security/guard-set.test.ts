/** The set of everyday calls in `_guard-set.ts`: what would show a secret is stopped or asked about, the rest is allowed without a question. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { HARMLESS, PRINTS, SHOWS_FILE } from "./_guard-set.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";

let t: TestKernel;
let cwd: string;

/** Files with a token, as projects and homes hold them. */
function writeFiles(home: string): void {
  const token = `ghp_${letters(36, 91)}`;
  const key = `-----BEGIN PRIVATE KEY-----\n${letters(64, 92)}\n${letters(64, 93)}\n-----END PRIVATE KEY-----\n`;
  const env = `PORT=3000\nNODE_ENV=test\nGITHUB_TOKEN=${token}\n# the end\n`;
  const files: Record<string, string | Buffer> = {
    ".env": env,
    ".env.local": env,
    ".env.gz": gzipSync(env),
    "config/.env.production": env,
    ".env.example": "PORT=3000\nGITHUB_TOKEN=\n",
    ".envrc": `export GITHUB_TOKEN=${token}\n`,
    token: `${token}\n`,
    id_rsa: key,
    "credentials.json": JSON.stringify({ name: "app", token }),
    "service-account.json": JSON.stringify({ type: "service_account", private_key: key }),
    "secrets.yaml": `name: app\ntoken: ${token}\n`,
    "settings.xml": `<settings><password>${token}</password></settings>\n`,
    "config.toml": `token = "${token}"\n`,
    "docker-compose.yml": `services:\n  web:\n    environment:\n      GITHUB_TOKEN: ${token}\n`,
    "terraform.tfvars": `github_token = "${token}"\n`,
    "terraform.tfstate": JSON.stringify({ outputs: { token: { value: token } } }),
    "wp-config.php": `<?php define('GITHUB_TOKEN', '${token}');\n`,
    "config/database.yml": `production:\n  url: postgres://app:${letters(12, 94)}4@db.internal/app\n`,
    "application.properties": `github.token=${token}\n`,
    "files.txt": "README.md\n",
    "README.md": "# App\n",
    "package.json": JSON.stringify({ name: "app", scripts: { build: "tsc" } }),
    "src/app.ts": "export const port = 3000;\n",
    "../.ssh/id_rsa": key,
    "../.aws/credentials": `[default]\naws_access_key_id = AKIA${letters(16, 95).toUpperCase()}\naws_secret_access_key = ${letters(40, 96)}\n`,
    "../.netrc": `machine github.com login me password ${token}\n`,
    "../.npmrc": `//registry.npmjs.org/:_authToken=npm_${letters(36, 97)}\n`,
    "../.pypirc": `[pypi]\nusername = __token__\npassword = ${token}\n`,
    "../.docker/config.json": JSON.stringify({ auths: { "ghcr.io": { auth: btoa(`me:${token}`) } } }),
    "../.kube/config": `users:\n- name: me\n  user:\n    token: ${token}\n`,
    "../.config/gh/hosts.yml": `github.com:\n    oauth_token: ${token}\n`,
    "../.git-credentials": `https://me:${token}@github.com\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, "w", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  execFileSync("tar", ["czf", "backup.tgz", ".env"], { cwd });
  execFileSync("git", ["init", "-q"], { cwd });
}

beforeAll(async () => {
  t = await createTestKernel({ plugins: plugins() });
  cwd = join(t.home, "w");
  mkdirSync(cwd);
  writeFiles(t.home);
});

const ask = async (command: string) => {
  const body = { hook_event_name: "PreToolUse", cwd, tool_name: "Bash", tool_input: { command } };
  return (
    await t.send<{ decision: string; ask: string | null; partial: boolean }>(
      "POST",
      "/api/security/pretooluse?client=claude-code",
      body,
    )
  ).body;
};

describe("the set of everyday calls", () => {
  it.each(SHOWS_FILE)("stops: %s", async (command) => {
    expect(await ask(command)).toMatchObject({ decision: "block" });
  });

  it.each(PRINTS)("asks about: %s", async (command) => {
    const { decision, ask: question } = await ask(command);
    expect(decision === "block" || question !== null).toBe(true);
  });

  it.each(HARMLESS)("allows: %s", async (command) => {
    expect(await ask(command)).toMatchObject({ decision: "allow", ask: null });
  });
});
