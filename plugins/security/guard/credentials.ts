/** Commands that print a credential which stands in no file we could look at: of the environment, of a client that is signed in, of a key store. */
import type { Stage } from "./filters.ts";
import type { SimpleCommand, Word } from "./words.ts";

/** Of a variable, by its name. */
const SECRET_NAME =
  /(?:^|_)(?:TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|PWD|PAT|CREDENTIALS?|APIKEY|(?:API|ACCESS|PRIVATE|SECRET|AUTH|ENCRYPTION|SIGNING|MASTER|SERVICE_ROLE)_?KEY|(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|AMQP|BROKER)_?UR[LI]|DSN|CONNECTION_STRING)(?:_|\d|$)/i;
/** The shell's own. */
const OWN_NAME = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK)$/;

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name) && !OWN_NAME.test(name);

/** By program: what its words must look like, all of them with a blank between. */
const PRINTERS: Readonly<Record<string, RegExp>> = {
  gh: /^auth (?:token\b|status\b.*(?: -t\b| --show-token))/,
  glab: /^auth status\b.*(?: -t\b| --show-token)|^config get token/,
  gcloud: /\bprint-(?:access|identity)-token\b|^secrets versions access\b|^iam service-accounts keys create\b.* -$/,
  aws: /^configure (?:get \S*(?:secret|session_token)|export-credentials)|\bget-secret-value\b|\bget-(?:session-token|login-password|federation-token)\b|\bget-parameters?\b.*--with-decryption|\bassume-role\b|\bcreate-access-key\b/,
  az: /^account get-access-token\b|^keyvault secret show\b|\bkeys? list\b|\blist-keys\b|\bcredentials? list\b|\bshow-connection-string\b/,
  kubectl:
    /^(?:.* )?get (?:\S+,)?secrets?(?:[ /,]\S*)*.* (?:-o ?|--output[ =])(?! ?(?:name|wide))|^config view\b.*--raw|^create token\b|^(?:.* )?exec\b.* (?:printenv|env)$/,
  oc: /^whoami (?:-t|--show-token)|^(?:.* )?get secrets?\b.* -o/,
  helm: /^get values\b/,
  docker:
    /^(?:container )?inspect\b(?!.*(?:-f|--format))|^(?:container )?inspect\b.*\.Env|^exec\b.* (?:printenv|env)$|^compose(?: .*)? config(?: (?!--(?:quiet|services|images|volumes|profiles))\S+)*$/,
  podman: /^(?:container )?inspect\b(?!.*(?:-f|--format))|^exec\b.* (?:printenv|env)$/,
  security: /^find-(?:generic|internet)-password\b.*(?: -w\b| -g\b)|^dump-keychain\b.* -d/,
  "secret-tool": /^lookup\b/,
  pass: /^(?:show )?(?!ls\b|list\b|find\b|git\b|init\b|insert\b|generate\b|rm\b|mv\b|cp\b|help\b|version\b)[\w./@-]+$/,
  gopass: /^(?:show|cat)\b/,
  op: /^read\b|^item get\b.*(?:--reveal|--fields|--format)|^inject\b|^document get\b/,
  bw: /^get (?:password|item|totp|notes)\b|^(?:list items|export)\b|^unlock\b.*--raw/,
  vault: /^(?:kv get|read|print token|token (?:create|lookup))\b/,
  doppler: /^secrets(?: (?:get|download)\b.*|(?: -.*)?)$/,
  heroku: /^config(?::get\b.*| .*|)$|^auth:token\b/,
  flyctl: /^(?:auth token|tokens create)\b/,
  fly: /^(?:auth token|tokens create)\b/,
  vercel: /^env pull -$/,
  terraform: /^output\b.* ?-(?:json|raw)\b|^state pull\b/,
  pulumi: /^(?:config|stack output)\b.*--show-secrets/,
  npm: /^config (?:get|list|ls)\b.*(?:_authToken|_auth\b|_password)/,
  git: /^(?:-\S+ )*(?:credential fill\b|config\b.*\b(?:credential|extraheader|token|password)\b)/,
  gpg: /--export-secret-(?:sub)?keys/,
  lpass: /^show\b/,
  chamber: /^(?:read|export)\b/,
  sops: /^(?:-d|--decrypt|decrypt)\b(?!.* (?:-i\b|--in-place))/,
  "ansible-vault": /^view\b|^decrypt\b.*--output[ =]-/,
  rails: /^credentials:show\b/,
  firebase: /^login:ci\b|^functions:secrets:access\b/,
  wrangler: /^auth token\b/,
  supabase: /^(?:status|projects api-keys)\b/,
};
const WHOLE = /^(?:printenv|env)$/;
const DECLARED = /^(?:export|declare|typeset|readonly)$/;

/** What the command would print; undefined where no credential comes out of it, or nobody but another program gets it. */
export function credentialPrinted({ program, words }: Stage, command: SimpleCommand): string | undefined {
  const texts = words.map(({ text }) => text);
  const said = `\`${[program, ...texts.slice(0, 3)].join(" ").slice(0, 60)}\``;
  if (program === "echo" || program === "printf") {
    const name = words.flatMap(namesOf).find(isSecretName);
    return name === undefined ? undefined : `\`$${name.slice(0, 60)}\``;
  }
  if (WHOLE.test(program)) {
    const named = texts.filter((text) => !text.startsWith("-"));
    // Behind `env` stands a program, and that says itself what it shows.
    if (program === "env" ? named.length > 0 : named.length > 0 && !named.some(isSecretName)) return undefined;
    return narrowed(command) ? undefined : said;
  }
  if (program === "set" && texts.length === 0) return narrowed(command) ? undefined : said;
  if (DECLARED.test(program)) return texts.some((text) => /^-\w*p/.test(text)) && !narrowed(command) ? said : undefined;
  const printer = Object.hasOwn(PRINTERS, program) ? PRINTERS[program] : undefined;
  return printer?.test(texts.join(" ").slice(0, 2_000)) ? said : undefined;
}

const namesOf = ({ names, open, text }: Word): string[] =>
  names ?? (open ? [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = ""]) => name) : []);

/** `printenv | grep PATH`: what is asked for is no secret's name. */
function narrowed({ pipe }: SimpleCommand): boolean {
  const [program, ...words] = pipe?.words ?? [];
  if (!program || !/^(?:e|f)?grep$|^rg$/.test(program.text)) return false;
  if (words.some(({ text }) => /^-\w*v/.test(text))) return false;
  const asked = words.filter(({ text }) => !text.startsWith("-"));
  return asked.length > 0 && !asked.some(({ text }) => /secret|token|pass|key|cred|auth|url|dsn|^\W*$/i.test(text));
}
