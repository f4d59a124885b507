/** The calls of `_guard-space.ts` over a home and a project with secrets: harmful ones are stopped or asked about, harmless ones are allowed without a question. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { type Kind, SPACE, type SpaceCall } from "./_guard-space.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";

let t: TestKernel;
let cwd: string;

const token = `ghp_${letters(36, 71)}`;
const word = (seed: number, length = 24) => letters(length, seed);
const KEY = `-----BEGIN OPENSSH PRIVATE KEY-----\n${word(72, 70)}\n${word(73, 70)}\n-----END OPENSSH PRIVATE KEY-----\n`;
const ENV = `PORT=3000\nNODE_ENV=test\nGITHUB_TOKEN=${token}\n`;

/** Files of the home, which begin with `~/`, and of the project. */
const FILES: Readonly<Record<string, string>> = {
  ".env": ENV,
  ".env.example": "PORT=3000\nGITHUB_TOKEN=\n",
  ".gitignore": ".env\n",
  "config/.env.staging": ENV,
  "config/app.yml": "name: app\n",
  "config/secrets.yml": `token: ${token}\n`,
  "server.key": KEY,
  "config/tls.pem": KEY,
  "keys/id_rsa": KEY,
  "cert.pem": `-----BEGIN CERTIFICATE-----\n${word(74, 64)}\n-----END CERTIFICATE-----\n`,
  "credentials.json": JSON.stringify({ token }),
  token: `${token}\n`,
  "terraform.tfstate": JSON.stringify({ outputs: { token: { value: token } } }),
  ".terraform/terraform.tfstate": JSON.stringify({ backend: { config: { password: word(75) } } }),
  "README.md": "# App\n",
  "package.json": JSON.stringify({ name: "app", version: "1.0.0" }),
  "Makefile.ci": "test:\n\tnpm test\n",
  "src/app.ts": "export const port = 3000;\n// TODO: read the host\n",
  "src/history.ts": "history.pushState({}, '');\n",
  "scripts/build.sh": "npm run build\n",
  "~/.pgpass": `db.internal:5432:app:app:${word(76, 12)}\n`,
  "~/.my.cnf": `[client]\nuser=app\npassword=${word(77, 12)}\n`,
  "~/.azure/msal_token_cache.json": JSON.stringify({ RefreshToken: { a: { secret: word(78, 60) } } }),
  "~/.azure/accessTokens.json": JSON.stringify([{ accessToken: word(79, 60) }]),
  "~/.azure/service_principal_entries.json": JSON.stringify([{ client_secret: word(80, 34) }]),
  "~/.azure/azureProfile.json": JSON.stringify({ subscriptions: [{ name: "app", state: "Enabled" }] }),
  "~/.config/gcloud/application_default_credentials.json": JSON.stringify({ refresh_token: word(81, 60) }),
  "~/.config/gcloud/credentials.db": `SQLite format 3\0${word(82, 60)}`,
  "~/.config/gcloud/access_tokens.db": `SQLite format 3\0${word(83, 60)}`,
  "~/.config/gcloud/active_config": "default\n",
  "~/.vault-token": `${word(84, 28)}\n`,
  "~/.terraform.d/credentials.tfrc.json": JSON.stringify({
    credentials: { "app.terraform.io": { token: word(85, 60) } },
  }),
  "~/.cargo/credentials.toml": `[registry]\ntoken = "${word(86, 32)}"\n`,
  "~/.cargo/config.toml": "[build]\njobs = 2\n",
  "~/.gem/credentials": `---\n:rubygems_api_key: ${word(87, 40)}\n`,
  "~/.m2/settings.xml": `<settings><servers><server><password>${word(88, 16)}</password></server></servers></settings>\n`,
  "~/.gradle/gradle.properties": `mavenPassword=${word(89, 16)}\n`,
  "~/.docker/config.json": JSON.stringify({ auths: { "ghcr.io": { auth: btoa(`me:${token}`) } } }),
  "~/.config/rclone/rclone.conf": `[r]\ntype = sftp\npass = ${word(90, 30)}\n`,
  "~/.s3cfg": `[default]\naccess_key = AKIA${word(91, 16).toUpperCase()}\nsecret_key = ${word(92, 40)}\n`,
  "~/.boto": `[Credentials]\ngs_secret_access_key = ${word(93, 40)}\n`,
  "~/.netlify/config.json": JSON.stringify({ users: { a: { auth: { token: word(94, 40) } } } }),
  "~/.fly/config.yml": `access_token: ${word(95, 60)}\n`,
  "~/.local/share/com.vercel.cli/auth.json": JSON.stringify({ token: word(96) }),
  "~/.wrangler/config/default.toml": `oauth_token = "${word(97, 40)}"\n`,
  "~/.config/doctl/config.yaml": `access-token: ${word(98, 40)}\n`,
  "~/.aws/credentials": `[default]\naws_access_key_id = AKIA${word(99, 16).toUpperCase()}\naws_secret_access_key = ${word(100, 40)}\n`,
  "~/.aws/config": "[default]\nregion = eu-west-1\n",
  "~/.aws/sso/cache/a1.json": JSON.stringify({ accessToken: word(101, 80) }),
  "~/.codex/auth.json": JSON.stringify({ tokens: { refresh_token: word(102, 60) } }),
  "~/.claude/.credentials.json": JSON.stringify({ claudeAiOauth: { accessToken: word(103, 60) } }),
  "~/.gemini/oauth_creds.json": JSON.stringify({ refresh_token: word(104, 60) }),
  "~/.config/github-copilot/apps.json": JSON.stringify({ "github.com:a": { oauth_token: `ghu_${word(105, 36)}` } }),
  "~/.config/sops/age/keys.txt": `AGE-SECRET-KEY-1${word(106, 58).toUpperCase()}\n`,
  "~/.config/gh/config.yml": "git_protocol: ssh\n",
  "~/.config/hub": `github.com:\n- oauth_token: ${token}\n`,
  "~/.config/google-chrome/Default/Login Data": `SQLite format 3\0${word(107, 60)}`,
  "~/.mozilla/firefox/a1.default/logins.json": JSON.stringify({ logins: [{ encryptedPassword: word(108, 60) }] }),
  "~/.mozilla/firefox/a1.default/key4.db": `SQLite format 3\0${word(109, 60)}`,
  "~/.local/share/keyrings/login.keyring": `GnomeKeyring\n\0${word(110, 60)}`,
  "~/.gnupg/private-keys-v1.d/A1.key": `Key: (private-key (rsa (n #${word(111, 60)}#)))\n`,
  "~/.ssh/id_ed25519": KEY,
  "~/.ssh/id_ed25519.pub": `ssh-ed25519 ${word(112, 68)} me@host\n`,
  "~/.ssh/config": "Host x\n  User me\n",
  "~/.ssh/known_hosts": `x.dev ssh-ed25519 ${word(113, 68)}\n`,
  "~/.npmrc": `//registry.npmjs.org/:_authToken=npm_${word(114, 36)}\n`,
  "~/.pypirc": `[pypi]\npassword = ${token}\n`,
  "~/.gitconfig": "[user]\n  name = Me\n",
  "~/keys/old.pem": KEY,
  "~/.bash_history": `ls\nmysql -u root -p${word(115, 10)} app\nexport GITHUB_TOKEN=${token}\n`,
  "~/.zsh_history": `: 1:0;curl -u me:${word(116, 10)} https://x.dev\n`,
  "~/.psql_history": `alter user app password '${word(117, 10)}';\n`,
};

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Me", "-c", "user.email=me@x.dev", "-c", "commit.gpgsign=false", ...args], {
    cwd,
    stdio: "pipe",
  });

/** A history whose second commit adds a file with a secret, and a stash with another. */
function writeHistory(): void {
  git("init", "-q", "-b", "main");
  git("add", ".gitignore", "README.md", "package.json", "src");
  git("commit", "-q", "-m", "start");
  git("add", "-f", ".env");
  git("commit", "-q", "-m", "remove the old settings");
  writeFileSync(join(cwd, "README.md"), `# App\n\nexport GITHUB_TOKEN=${token}\n`);
  git("stash", "-q");
  writeFileSync(join(cwd, "src/app.ts"), "export const port = 3001;\n// TODO: read the host\n");
  git("commit", "-q", "-a", "-m", "another port");
  git("config", "github.token", token);
}

beforeAll(async () => {
  t = await createTestKernel({ plugins: plugins() });
  cwd = join(t.home, "w");
  for (const [name, text] of Object.entries(FILES)) {
    const path = name.startsWith("~/") ? join(t.home, name.slice(2)) : join(cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  writeHistory();
});
afterAll(() => t.close());

interface Answer {
  decision: string;
  ask: string | null;
  reason: string | null;
  findings: object[];
}

/** `~/` and `@/` at the beginning of a tool's argument become folders. */
function placed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(placed);
  return typeof value === "string" ? value.replace(/^@\//, `${cwd}/`).replace(/^~\//, `${t.home}/`) : value;
}

async function ask(call: SpaceCall): Promise<Answer> {
  const [client, tool_name, input] = typeof call === "string" ? ["claude-code", "Bash", { command: call }] : call;
  const tool_input = Object.fromEntries(Object.entries(input).map(([key, value]) => [key, placed(value)]));
  const body = { hook_event_name: "PreToolUse", cwd, tool_name, tool_input };
  return (await t.send<Answer>("POST", `/api/security/pretooluse?client=${client}`, body)).body;
}

const titled = (calls: readonly SpaceCall[]): [string, SpaceCall][] =>
  calls.map((call) => [
    typeof call === "string"
      ? call
      : call
          .slice(1)
          .map((part) => JSON.stringify(part))
          .join(" "),
    call,
  ]);

it("the guard recognizes 95 of 100 harmful calls", () => {
  const count = (list: (kind: Kind) => readonly SpaceCall[]) => SPACE.reduce((sum, kind) => sum + list(kind).length, 0);
  const [recognized, missed] = [count(({ harmful }) => harmful), count(({ missed: more = [] }) => more)];
  expect(recognized / (recognized + missed)).toBeGreaterThan(0.95);
});

describe.each(SPACE)("$kind", ({ harmful, harmless, missed = [] }) => {
  it.each(titled(harmful))("stops or asks about: %s", async (_, call) => {
    const { decision, ask: question } = await ask(call);
    expect(decision === "block" || question !== null).toBe(true);
  });

  it.each(titled(missed))("does not recognize: %s", async (_, call) => {
    expect(await ask(call)).toMatchObject({ decision: "allow", ask: null });
  });

  it.each(titled(harmless))("allows: %s", async (_, call) => {
    const { decision, ask: question, reason, findings } = await ask(call);
    expect({ decision, question, reason, findings: findings.length > 0 && question ? findings : [] }).toEqual({
      decision: "allow",
      question: null,
      reason: null,
      findings: [],
    });
  });
});
