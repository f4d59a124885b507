/** The folders in which the rows of `guard-rows.jsonl` are asked: what a row's `files` names. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { TestKernel } from "../kernel.ts";
import { letters } from "./_samples.ts";

/** Writes the files a kernel's guard will look at; answers the folder in which the calls run. */
export const WORLDS = {
  project: ({ home }) => {
    const cwd = place(home, projectFiles());
    execFileSync("tar", ["czf", "backup.tgz", ".env"], { cwd });
    execFileSync("git", ["init", "-q"], { cwd });
    return cwd;
  },
  home: ({ home }) => {
    const cwd = place(home, HOME_FILES);
    writeHistory(cwd);
    return cwd;
  },
  folder: ({ home }) => {
    const token = `ghp_${letters(36, 71)}`;
    const files = {
      ".env": `A=1\nGITHUB_TOKEN=${token}\n`,
      "conf/prod.env": `GITHUB_TOKEN=${token}\n`,
      "notes.txt": "nothing\n",
    };
    return place(home, files, "app");
  },
  flow: ({ home }) => {
    const token = `ghp_${letters(36, 71)}`;
    const files = {
      ".env": `PORT=1\nexport GITHUB_TOKEN=${token}\nURL=https://\${GITHUB_TOKEN}@x.dev\n`,
      token: `${token}\n`,
      "key.env": `KEY="a\n${token}\nb"\n`,
      rc: `if true; then\n  export PORT=1 A=2\nfi\nGITHUB_TOKEN=${token}\n`,
    };
    return place(home, files, "app");
  },
  settings: ({ home }) => {
    const env = `# settings\nPORT=3000\nHOST=localhost\nLOG_LEVEL=debug\nGITHUB_TOKEN=ghp_${letters(36, 5)}\nNODE_ENV=test\n`;
    const files = {
      ".env": env,
      ".env.gz": gzipSync(env),
      "README.md": "# App\n",
      "src/app.ts": "export const port = 3000;\n",
    };
    const cwd = place(home, files);
    execFileSync("git", ["init", "-q"], { cwd });
    return cwd;
  },
  archive: ({ kernel }) => {
    kernel.announce({ url: `http://127.0.0.1:${PORT}/`, port: PORT, host: "127.0.0.1" });
    return "/w";
  },
} satisfies Record<string, (t: TestKernel) => string>;

/** Where the service of the world `archive` answers. */
export const PORT = 41_799;

/** `~/` begins files of the home; the others are in its folder `name`. */
function place(home: string, files: Readonly<Record<string, string | Buffer>>, name = "w"): string {
  const cwd = join(home, name);
  for (const [path, text] of Object.entries(files)) {
    const full = path.startsWith("~/") ? join(home, path.slice(2)) : join(cwd, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }
  return cwd;
}

/** Files with a token, as projects and homes hold them. */
function projectFiles(): Readonly<Record<string, string | Buffer>> {
  const token = `ghp_${letters(36, 91)}`;
  const key = `-----BEGIN PRIVATE KEY-----\n${letters(64, 92)}\n${letters(64, 93)}\n-----END PRIVATE KEY-----\n`;
  const env = `PORT=3000\nNODE_ENV=test\nGITHUB_TOKEN=${token}\n# the end\n`;
  return {
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
    "~/.ssh/id_rsa": key,
    "~/.aws/credentials": `[default]\naws_access_key_id = AKIA${letters(16, 95).toUpperCase()}\naws_secret_access_key = ${letters(40, 96)}\n`,
    "~/.netrc": `machine github.com login me password ${token}\n`,
    "~/.npmrc": `//registry.npmjs.org/:_authToken=npm_${letters(36, 97)}\n`,
    "~/.pypirc": `[pypi]\nusername = __token__\npassword = ${token}\n`,
    "~/.docker/config.json": JSON.stringify({ auths: { "ghcr.io": { auth: btoa(`me:${token}`) } } }),
    "~/.kube/config": `users:\n- name: me\n  user:\n    token: ${token}\n`,
    "~/.config/gh/hosts.yml": `github.com:\n    oauth_token: ${token}\n`,
    "~/.git-credentials": `https://me:${token}@github.com\n`,
  };
}

const token = `ghp_${letters(36, 71)}`;
const word = (seed: number, length = 24) => letters(length, seed);
const KEY = `-----BEGIN OPENSSH PRIVATE KEY-----\n${word(72, 70)}\n${word(73, 70)}\n-----END OPENSSH PRIVATE KEY-----\n`;
const ENV = `PORT=3000\nNODE_ENV=test\nGITHUB_TOKEN=${token}\n`;

/** A home and a project with the stores of many programs. */
const HOME_FILES: Readonly<Record<string, string>> = {
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

/** A history whose second commit adds a file with a secret, and a stash with another. */
function writeHistory(cwd: string): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Me", "-c", "user.email=me@x.dev", "-c", "commit.gpgsign=false", ...args], {
      cwd,
      stdio: "pipe",
    });
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
