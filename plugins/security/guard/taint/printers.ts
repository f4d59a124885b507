/** Clients as data: the commands with which a program prints a credential that is in no file of the line. */

const TERRAFORM =
  /^output\b.* ?-json\b|^output\b.*(?:pass|secret|token|key|credential)|^state pull\b|^show\b(?!.*\.(?:tfplan|plan|out|bin)\b(?!.*-json))/i;

/** By program: the pattern of its words, joined by blanks. */
const PRINTERS: Readonly<Record<string, RegExp>> = {
  gh: /^auth (?:token\b|status\b.*(?: -t\b| --show-token))|^config get\b.*oauth_token/,
  glab: /^auth status\b.*(?: -t\b| --show-token)|^config get token/,
  gcloud:
    /\bprint-(?:access|identity)-token\b|\bgenerate-login-token\b|^config config-helper\b|^secrets versions access\b|^iam service-accounts keys create\b.* ?(?:-$|\/dev\/)/,
  aws: /^configure (?:get \S*(?:secret|session_token)|export-credentials)|\bget-secret-value\b|\bget-(?:session-token|login-password|federation-token)\b|\bget-parameters?\b.*--with-decryption|\bgenerate-db-auth-token\b|\bget-authorization-token\b|\beks get-token\b|\blambda get-function-configuration\b(?!.*--query (?!Env))|\bassume-role\b|\bcreate-access-key\b/,
  az: /^account get-access-token\b|^keyvault secret show\b|\bkeys? list\b|\blist-keys\b|\bcredentials? (?:list|show|reset)\b|\bappsettings list\b|^ad sp create-for-rbac\b|\bshow-connection-string\b/,
  kubectl:
    /^(?:.* )?get (?:\S+,)?secrets?(?:[ /,]\S*)*.* (?:-o ?|--output[ =]|--template)(?! ?(?:name|wide)| ?\S*\{\.(?:metadata|type)[^{}]*\}\S*$)|^config view\b.*--(?:raw|flatten)|^create token\b/,
  oc: /^whoami (?:-t|--show-token)|^(?:.* )?get secrets?\b.* -o/,
  helm: /^get (?:values|all)\b/,
  docker:
    /^(?:container )?inspect\b(?!.*(?:-f|--format))|^(?:container )?inspect\b.*\.Env|^compose(?: .*)? config(?: (?!--(?:quiet|services|images|volumes|profiles))\S+)*$/,
  podman: /^(?:container )?inspect\b(?!.*(?:-f|--format))/,
  security: /^find-(?:generic|internet)-password\b.* -\w*[wg]|^dump-keychain\b.* -d|^export\b/,
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
  heroku: /^config(?::get\b.*| .*|)$|^auth:token\b|^authorizations:(?:create|info)\b|^pg:credentials:url\b/,
  flyctl: /^(?:auth token|tokens create)\b/,
  fly: /^(?:auth token|tokens create)\b/,
  vercel: /^env pull (?:.* )?(?:-$|\/dev\/)/,
  terraform: TERRAFORM,
  tofu: TERRAFORM,
  terragrunt: TERRAFORM,
  pulumi: /^(?:config|stack output)\b.*--show-secrets|^config get \S*(?:pass|secret|token|key)/i,
  npm: /^token create\b|^config (?:get|list|ls)\b.*(?:_authToken|_auth\b|_password)/,
  git: /^(?:-\S+ )*(?:credential fill\b|config\b.*\b(?:credential|extraheader|token|password)\b)/,
  gpg2: /--export-secret-(?:sub)?keys/,
  gpg: /--export-secret-(?:sub)?keys|(?:^| )(?:-d|--decrypt)\b(?!.* (?:-o|--output))/,
  lpass: /^(?:show|export)\b/,
  rbw: /^(?:get|code)\b/,
  dashlane: /^(?:p|password|note|otp|backup)\b/,
  dcli: /^(?:p|password|note|otp|backup)\b/,
  "keepassxc-cli": /^(?:show\b.* (?:-s|--show-protected|-a|--attributes)|export\b|clip\b)/,
  "kwallet-query": /^(?:.* )?(?:-r|--read-password)\b/,
  kwalletcli: /^(?:.* )?-e\b/,
  "aws-vault": /^(?:export\b|exec\b.* (?:env|printenv)$)/,
  "aws-okta": /^env\b/,
  saml2aws: /^script\b/,
  granted: /^credential-process\b/,
  "aws-sso": /^(?:eval|process)\b/,
  poetry: /^config (?!.*(?:--unset|--list)).*(?:pypi-token|http-basic)\S*$/,
  yarn: /^config get \S*(?:token|auth|password)/i,
  pnpm: /^config (?:get|list|ls)\b.*(?:_authToken|_auth\b|_password)/,
  pip: /^config (?:get \S*(?:index-url|password)|list\b)/,
  pip3: /^config (?:get \S*(?:index-url|password)|list\b)/,
  composer: /^config\b.*\b(?:github-oauth|http-basic|bearer|gitlab-token)\S*$/,
  stripe: /^config (?:.* )?(?:--list|-l)\b/,
  snyk: /^config get (?:api|token)/,
  ngrok: /^config (?:cat|show)\b/,
  doctl:
    /^(?:auth token|kubernetes cluster kubeconfig show|databases? (?:connection|user get|get)\b|registry docker-config)/,
  eksctl: /^get token\b/,
  psql: /\b(?:pg_shadow|pg_authid|rolpassword|passwd)\b/i,
  mysql: /\bmysql\.user\b|authentication_string/i,
  mariadb: /\bmysql\.user\b|authentication_string/i,
  mongosh: /system\.users|showCredentials/,
  sqlite3:
    /(?:^|[/ ])(?:Login Data|Cookies|logins\.json|key[34]\.db|credentials\.db|access_tokens\.db|cookies\.sqlite|history\.db)/,
  "redis-cli": /\bconfig get (?:\S*pass|masterauth|\*)|\bacl (?:list|getuser)/i,
  wg: /^(?:show \S+ (?:private-key|preshared-keys|dump)|showconf\b|genkey\b)/,
  nmcli: /(?:^|\s)(?:-s|--show-secrets)\b/,
  netsh: /\bkey=clear\b/i,
  openssl: /^pkcs12\b(?=.* -(?:nodes|noenc)\b)(?!.* -(?:out|nokeys|info)\b)/,
  "ssh-keygen": /(?:^| )-\w*y/,
  gdb: /\benviron\b/,
  php: /^-i\b/,
  pwsh: /\b(?:gci|ls|dir|get-childitem|get-item) env:|\$env:\w*(?:token|secret|pass|key)(?!\w* *=)/i,
  powershell: /\b(?:gci|ls|dir|get-childitem|get-item) env:|\$env:\w*(?:token|secret|pass|key)(?!\w* *=)/i,
  fc: /^-\w*l/,
  atuin: /^(?:search|history)\b.*(?:pass|token|secret|key)/i,
  "docker-credential-osxkeychain": /^get\b/,
  "docker-credential-desktop": /^get\b/,
  "git-credential-manager": /^get\b/,
  "git-credential-osxkeychain": /^get\b/,
  tailscale: /^debug prefs\b/,
  cloudflared: /^(?:tunnel token|access token)\b/,
  hcp: /^auth print-access-token\b/,
  databricks: /^auth token\b|^tokens create\b/,
  consul: /^acl token (?:read|create)\b/,
  nomad: /^(?:acl token (?:self|info|create)|var get)\b/,
  scw: /^config (?:get secret-key|dump)\b|^iam api-key create\b/,
  oci: /^secrets secret-bundle get\b/,
  ibmcloud: /^iam oauth-tokens\b/,
  aliyun: /^configure get\b/,
  chamber: /^(?:read|export)\b/,
  sops: /^(?:-d|--decrypt|decrypt)\b(?!.* (?:-i\b|--in-place))|^exec-env\b.* (?:env|printenv)$/,
  // `e` without a dash adds the environment of each process.
  ps: /^[a-z]*e[a-z]*(?: |$)/,
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
  return printer !== undefined && spellings(texts).some((text) => printer.test(text));
}

/** The words, and the words after options that precede the subcommand, with a value or without: `aws --profile p sts …`. */
function spellings(texts: readonly string[]): string[] {
  const starts = [0];
  for (let at = 0; texts[at]?.startsWith("-") && at < 16; ) {
    at++;
    starts.push(at);
    if (texts[at]?.startsWith("-")) continue;
    starts.push(at + 1);
    if (texts[at + 1]?.startsWith("-")) at++;
  }
  return starts.map((start) => texts.slice(start).join(" ").slice(0, 2_000));
}
