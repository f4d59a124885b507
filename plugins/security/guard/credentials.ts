/** Commands that print a credential from the environment, from a client that is signed in or from a key store, where the guard can read no file. */
import type { Stage } from "./filters.ts";
import { isInterpreter, takesCode } from "./programs.ts";
import type { SimpleCommand, Word } from "./words.ts";

/** Names of variables with secrets. */
const SECRET_NAME =
  /PASSWORD(?:_|\d|$)|(?:^|_)(?:TOKEN|SECRET|PASS(?:WD|PHRASE)?|PWD|PAT|CREDENTIALS?|APIKEY|(?:API|ACCESS|PRIVATE|SECRET|AUTH|ENCRYPTION|SIGNING|MASTER|SERVICE_ROLE)_?KEY|(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|AMQP|BROKER)_?UR[LI]|DSN|CONNECTION_STRING)(?:_|\d|$)/i;
/** Variables of the shell. */
const OWN_NAME = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK)$/;

const isSecretName = (name: string): boolean => SECRET_NAME.test(name) && !OWN_NAME.test(name);

/** By program: the pattern of its words, joined by blanks. */
const PRINTERS: Readonly<Record<string, RegExp>> = {
  gh: /^auth (?:token\b|status\b.*(?: -t\b| --show-token))/,
  glab: /^auth status\b.*(?: -t\b| --show-token)|^config get token/,
  gcloud:
    /\bprint-(?:access|identity)-token\b|\bgenerate-login-token\b|^config config-helper\b|^secrets versions access\b|^iam service-accounts keys create\b.* ?(?:-$|\/dev\/)/,
  aws: /^configure (?:get \S*(?:secret|session_token)|export-credentials)|\bget-secret-value\b|\bget-(?:session-token|login-password|federation-token)\b|\bget-parameters?\b.*--with-decryption|\bgenerate-db-auth-token\b|\bget-authorization-token\b|\beks get-token\b|\blambda get-function-configuration\b(?!.*--query (?!Env))|\bassume-role\b|\bcreate-access-key\b/,
  az: /^account get-access-token\b|^keyvault secret show\b|\bkeys? list\b|\blist-keys\b|\bcredentials? (?:list|show|reset)\b|\bappsettings list\b|^ad sp create-for-rbac\b|\bshow-connection-string\b/,
  kubectl:
    /^(?:.* )?get (?:\S+,)?secrets?(?:[ /,]\S*)*.* (?:-o ?|--output[ =]|--template)(?! ?(?:name|wide)| ?\S*\{\.(?:metadata|type)[^{}]*\}\S*$)|^config view\b.*--raw|^create token\b/,
  oc: /^whoami (?:-t|--show-token)|^(?:.* )?get secrets?\b.* -o/,
  helm: /^get (?:values|all)\b/,
  docker:
    /^(?:container )?inspect\b(?!.*(?:-f|--format))|^(?:container )?inspect\b.*\.Env|^compose(?: .*)? config(?: (?!--(?:quiet|services|images|volumes|profiles))\S+)*$/,
  podman: /^(?:container )?inspect\b(?!.*(?:-f|--format))/,
  security: /^find-(?:generic|internet)-password\b.* -\w*[wg]|^dump-keychain\b.* -d/,
  "secret-tool": /^(?:lookup|search)\b/,
  keyring: /^get\b/,
  infisical: /^(?:secrets|export)\b/,
  netlify: /^env:(?:list|get)\b/,
  railway: /^variables\b/,
  age: /^(?:.* )?(?:-d|--decrypt)\b(?!.* (?:-o|--output))/,
  my_print_defaults: /(?:^| )(?:-s|--show)\b/,
  pass: /^(?:show )?(?!ls\b|list\b|find\b|git\b|init\b|insert\b|generate\b|rm\b|mv\b|cp\b|help\b|version\b)[\w./@-]+$/,
  gopass: /^(?:show|cat)\b/,
  op: /^read\b|^item get\b.*(?:--reveal|--fields|--format)|^inject\b|^document get\b/,
  bw: /^get (?:password|item|totp|notes)\b|^(?:list items|export)\b|^unlock\b.*--raw/,
  vault: /^(?:kv get|read|print token|token (?:create|lookup))\b/,
  doppler: /^secrets(?: (?:get|download)\b.*|(?: -.*)?)$/,
  heroku: /^config(?::get\b.*| .*|)$|^auth:token\b/,
  flyctl: /^(?:auth token|tokens create)\b/,
  fly: /^(?:auth token|tokens create)\b/,
  vercel: /^env pull (?:-$|\/dev\/)/,
  terraform: /^output\b.* ?-json\b|^output\b.*(?:pass|secret|token|key|credential)|^state pull\b|^show\b.* ?-json\b/i,
  pulumi: /^(?:config|stack output)\b.*--show-secrets|^config get \S*(?:pass|secret|token|key)/i,
  npm: /^token create\b|^config (?:get|list|ls)\b.*(?:_authToken|_auth\b|_password)/,
  git: /^(?:-\S+ )*(?:credential fill\b|config\b.*\b(?:credential|extraheader|token|password)\b)/,
  gpg: /--export-secret-(?:sub)?keys|(?:^| )(?:-d|--decrypt)\b(?!.* (?:-o|--output))/,
  lpass: /^show\b/,
  chamber: /^(?:read|export)\b/,
  sops: /^(?:-d|--decrypt|decrypt)\b(?!.* (?:-i\b|--in-place))|^exec-env\b.* (?:env|printenv)$/,
  // `e` without a dash adds the environment of each process.
  ps: /^[a-z]*e[a-z]*$/,
  "ansible-vault": /^view\b|^decrypt\b.*--output[ =]-/,
  rails: /^credentials:show\b|^runner\b.*\bcredentials\b/,
  systemctl: /^show-environment\b/,
  launchctl: /^getenv \S*(?:TOKEN|SECRET|PASS|KEY)/,
  wp: /^config get \S*(?:PASS|KEY|SALT|SECRET)/,
  firebase: /^login:ci\b|^functions:secrets:access\b/,
  wrangler: /^auth token\b/,
  supabase: /^(?:status|projects api-keys)\b/,
};
const WHOLE = /^(?:printenv|env)$/;
const RUNNERS = /^(?:npx|dotenv|dotenvx|doppler|op|aws-vault|infisical|chamber|envchain)$/;
/** Options with a value, of the programs that run a command elsewhere. */
const REMOTE_OPTION = /^(?:-[A-Za-z]*[bcDeEFiIJlLmopQRSuwW]|--(?:user|env|workdir|container|namespace|index))$/;
/** Files that hold secrets on any machine. */
const SECRET_FILE =
  /(?:^|\/)(?:\.env(?!\.(?:example|sample|template))[\w.]*|\.netrc|\.npmrc|\.pgpass|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519)|shadow|environ|(?:credentials|secrets?)(?:\.\w+)?|[\w.-]+\.(?:pem|key|tfvars))$|\/run\/secrets\//;
/** Files in which a system provides secrets. */
const SECRET_PLACE = /^\/proc\/.*\/environ$|^(?:\/var)?\/run\/secrets\//;
/** How code reads one variable of the environment, how it reads all, and how it prints. */
const READS =
  /(?:process\.env|os\.environ|os\.getenv|getenv|ENVIRON|ENV|Bun\.env|Deno\.env\.get)(?:\.get)?(?:\.|\(\s*["']|\[\s*["']|\{)(\w+)/g;
const READS_ALL =
  /(?:process\.env|os\.environ(?:\.(?:items|values|copy)\(\))?|Bun\.env|(?<![\w$.])ENV(?:\.to_h)?|\$_ENV|%ENV)(?!\w|\.|\[|\(|\{)/;
const PRINTS = /\b(?:console\.\w+|print\w*|puts|echo|p|pp|say|inspect|var_dump|stdout\.write|dump)[\s(["'`]/;
const ASKS = /(?:!!|Boolean\(|bool\(|len\(|keys\(|\bin |typeof )$/;
/** Characters of code that are searched. */
const CODE_LIMIT = 20_000;
const DECLARED = /^(?:export|declare|typeset|readonly)$/;

/** Returns what the command prints; undefined if that is not a credential. `assigned`: variables that contain one. */
export function credentialPrinted(
  { program, words }: Stage,
  command: SimpleCommand,
  assigned: ReadonlyMap<string, string>,
): string | undefined {
  const texts = words.map(({ text }) => text);
  const said = `\`${[program, ...texts.slice(0, 3)].join(" ").slice(0, 60)}\``;
  const variable = (name: string | undefined) => (name === undefined ? undefined : `\`$${name.slice(0, 60)}\``);
  const isSecret = (name: string) => isSecretName(name) || assigned.has(name);
  if (program === "echo" || program === "printf") return variable(words.flatMap(namesOf).find(isSecret));
  if (program === "cat" && command.filled.length > 0) return variable(command.filled.flatMap(namesOf).find(isSecret));
  if ([...words, ...command.input].some(({ text }) => SECRET_PLACE.test(text))) return said;
  if (program === "jq") return variable(texts.flatMap(namesOfJq).find(isSecretName)) ?? allOfJq(texts, said);
  if (takesCode(program, words) || (isInterpreter(program) && command.bodies.length > 0)) {
    const prints = /^-\w*p/.test(texts[0] ?? "");
    for (const text of [...texts, ...command.bodies]) {
      if (printsAll(text, prints)) return said;
      const name = namesPrinted(text, prints).find(isSecretName);
      if (name !== undefined) return variable(name);
    }
    return undefined;
  }
  if (WHOLE.test(program)) {
    const named = texts.filter((text) => !text.startsWith("-"));
    // With a program, `env` prints nothing.
    if (program === "env" ? named.length > 0 : named.length > 0 && !named.some(isSecretName)) return undefined;
    return narrowed(command) ? undefined : said;
  }
  if (program === "set" && texts.length === 0) return narrowed(command) ? undefined : said;
  if (DECLARED.test(program)) {
    const isList = texts.some((text) => /^-\w*p/.test(text)) || texts.every((text) => /^-\w*x/.test(text));
    return isList && command.sets.length === 0 && !narrowed(command) ? said : undefined;
  }
  const printer = Object.hasOwn(PRINTERS, program) ? PRINTERS[program] : undefined;
  return printer?.test(texts.join(" ").slice(0, 2_000)) ? said : undefined;
}

const namesOf = ({ names, open, text }: Word): string[] =>
  names ?? (open ? [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = ""]) => name) : []);

/** `printenv | grep PATH` asks for a variable without a secret. */
function narrowed({ pipe }: SimpleCommand): boolean {
  const [program, ...words] = pipe?.words ?? [];
  if (!program || !/^(?:e|f)?grep$|^rg$/.test(program.text)) return false;
  if (words.some(({ text }) => /^-\w*v/.test(text))) return false;
  const asked = words.filter(({ text }) => !text.startsWith("-"));
  return (
    asked.length > 0 &&
    !asked.some(({ text }) =>
      /secret|token|pass|key|cred|auth|url|dsn|aws|azure|github|gitlab|openai|anthropic|stripe|slack|^\W*$/i.test(text),
    )
  );
}

/** Returns the variables of the environment that the code prints. `whole`: the program prints the value of its code. */
export function namesPrinted(code: string, whole: boolean): string[] {
  return [...code.slice(0, CODE_LIMIT).matchAll(READS)].flatMap(({ 1: name = "", index }) =>
    isPrinted(code, index, whole) ? [name] : [],
  );
}

function printsAll(code: string, whole: boolean): boolean {
  const index = code.slice(0, CODE_LIMIT).search(READS_ALL);
  const isLoop = /\b(?:for|each)\b/.test(code) && PRINTS.test(code);
  return index >= 0 && (isLoop || isPrinted(code, index, whole));
}

/** Whether the statement prints the value that starts at `index`, and not only whether there is one. */
function isPrinted(code: string, index: number, whole: boolean): boolean {
  const before = code.slice(Math.max(0, index - 200), index);
  const statement = before.slice(before.search(/[^;\n]*$/));
  return !ASKS.test(before) && (PRINTS.test(statement) || (whole && !/[(=]/.test(before)));
}

const namesOfJq = (text: string): string[] =>
  [...text.matchAll(/(?:\$ENV|\benv)\.(\w+)/g)].map(([, name = ""]) => name);
const allOfJq = (texts: readonly string[], said: string): string | undefined =>
  texts.some((text) => /^(?:\$ENV|env)(?:$| ?\| ?(?!keys))/.test(text)) ? said : undefined;

/** Returns the shell line that a program runs: on another machine or in a container (`remote`: `ssh x 'cat a'`, `docker exec x env`), or here with more variables (`op run -- env`). */
export function innerLine(program: string, words: readonly Word[]): { line: string; remote: boolean } | undefined {
  const texts = words.slice(0, 200).map(({ text }) => text);
  const dashes = texts.indexOf("--");
  if (RUNNERS.test(program) && dashes >= 0)
    return {
      line: texts
        .slice(dashes + 1)
        .map(quoted)
        .join(" "),
      remote: false,
    };
  const line = remoteLine(program, texts, dashes);
  return line === undefined ? undefined : { line, remote: true };
}

function remoteLine(program: string, texts: readonly string[], dashes: number): string | undefined {
  let at = 0;
  if (/^(?:docker|podman|nerdctl|kubectl|oc|docker-compose)$/.test(program)) {
    at = texts.indexOf("exec") + 1;
    if (at === 0) return undefined;
    if (dashes > 0)
      return texts
        .slice(dashes + 1)
        .map(quoted)
        .join(" ");
  } else if (program !== "ssh") return undefined;
  while (texts[at]?.startsWith("-")) at += REMOTE_OPTION.test(texts[at] ?? "") ? 2 : 1;
  const line = texts.slice(at + 1);
  // A container gets the words as they are; the shell of another machine parses them again.
  return line.length === 0 ? undefined : program === "ssh" ? line.join(" ") : line.map(quoted).join(" ");
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const isSecretFile = (path: string): boolean => SECRET_FILE.test(path);
