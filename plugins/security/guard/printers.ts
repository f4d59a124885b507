/** Clients as data: the commands with which a program prints a credential that is in no file of the line. */

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

/** Whether the program prints a credential with these words. */
export function printsCredential(program: string, texts: readonly string[]): boolean {
  const printer = Object.hasOwn(PRINTERS, program) ? PRINTERS[program] : undefined;
  return printer?.test(texts.join(" ").slice(0, 2_000)) ?? false;
}
