/** Sources that are files, as data: which paths hold credentials. */
import { toExpression } from "./glob.ts";

/**
 * What a person's clients, key stores, browsers and systems store. Reading such a file shows a credential, whatever its form. Files that
 * clients also keep settings in (`.npmrc`, `.docker/config.json`, `.kube/config`) are not listed: their content decides.
 */
const STORES = toExpression([
  // Databases.
  ".pgpass",
  ".my.cnf",
  ".mylogin.cnf",
  // Clouds and hosts.
  ".aws/{credentials,sso/cache/*.json,cli/cache/*.json}",
  ".azure/{accessTokens.json,msal_token_cache.*,msal_http_cache.*,service_principal_entries.*}",
  "gcloud/{application_default_credentials.json,credentials.db,access_tokens.db,legacy_credentials/**}",
  "{.boto,.s3cfg,.databrickscfg,.oci/*.pem,.bluemix/config.json,.snowsql/config,.snowflake/{config,connections}.toml}",
  ".config/{doctl/config.yaml,hcloud/cli.toml,scw/config.yaml,linode-cli,rclone/rclone.conf}",
  "{.netlify,.config/netlify,netlify/Config}/config.json",
  "{.fly/config.yml,.railway/config.json,.supabase/access-token,.circleci/cli.yml,.sentryclirc,.vault-token}",
  "com.vercel.cli/auth.json",
  ".wrangler/config/default.toml",
  "{.config/ngrok,ngrok,.ngrok2}/ngrok.yml",
  ".config/{stripe/config.toml,configstore/firebase-tools.json,hub,gh/hosts.yml,glab-cli/config.yml}",
  "{.terraform.d/credentials.tfrc.json,.pulumi/credentials.json,.doppler/.doppler.yaml,*.tfstate,*.tfstate.backup}",
  // Package registries and git.
  "{.cargo/credentials,.cargo/credentials.toml,.gem/credentials,.pypirc,.m2/settings-security.xml}",
  "{.netrc,_netrc,.git-credentials,.config/git/credentials,{.config/pypoetry,pypoetry}/auth.toml,{.composer,composer}/auth.json}",
  "{containers/auth.json,github-copilot/{apps,hosts}.json}",
  // Assistants and models.
  "{.codex/auth.json,.claude/.credentials.json,.gemini/oauth_creds.json,.qwen/oauth_creds.json,opencode/auth.json}",
  "{huggingface/token,.huggingface/token,.kaggle/kaggle.json}",
  // Keys and key stores.
  ".ssh/{id_*,*.pem,*.key}",
  ".gnupg/{private-keys-v1.d/**,secring.gpg}",
  "{sops/age/keys.txt,.age/**,*.kdbx,*.keychain,*.keychain-db,*.1pux}",
  "{keyrings,kwalletd,Keychains,.password-store}/**",
  // Browsers and mail.
  "Login Data*",
  "{Default,Profile *}/{Cookies,Network/Cookies,Web Data}",
  "{.mozilla,firefox,.thunderbird}/**/{logins.json,key3.db,key4.db,cookies.sqlite}",
  "{.msmtprc,.mbsyncrc,.fetchmailrc,.offlineimaprc,.davfs2/secrets,.smbcredentials,weechat/sec.conf}",
  "{filezilla/{sitemanager,recentservers}.xml,openvpn/**auth*}",
  // The system.
  "/etc/{shadow,gshadow,shadow-,gshadow-,security/opasswd,krb5.keytab,wireguard/*.conf,ppp/*-secrets}",
  "/etc/{NetworkManager/system-connections/*,ssl/private/*,ssh/ssh_host_*_key,openvpn/**auth*}",
  "/proc/**/environ",
  "{/run,/var/run}/secrets/**",
  // What was typed into shells and clients.
  "{.*_history,.histfile,.dbshell,fish_history,mongosh_repl_history,ConsoleHost_history.txt,atuin/history.db}",
]);
/** Files in which a system provides secrets, also where a part of the path is unknown: `/proc/$PPID/environ`. */
export const SECRET_PLACE = /^\/proc\/.*\/environ$|^(?:\/var)?\/run\/secrets\//;
const PUBLIC_HALF = /\.pub$/i;

/** Whether reading the file at this path shows a credential, whatever its form. */
export const isStore = (path: string): boolean => STORES.test(toSlashes(path)) && !PUBLIC_HALF.test(path);

/** Windows separates folders by backslashes. */
const toSlashes = (path: string): string => path.replaceAll("\\", "/");

/** Names of files that hold secrets in any folder. Their content decides, where it can be read. */
const SECRET_FILE = toExpression([
  "{.env,.env.*,.envrc,*.env,.npmrc,.yarnrc.yml,.dockercfg,.htpasswd,.docker/config.json,.kube/config,kubeconfig}",
  "{token,token.txt,password,password.txt,passwords.txt,credential*,secret*,service-account*,serviceaccount*,auth.json}",
  "{id_rsa,id_dsa,id_ecdsa,id_ed25519,*.pem,*.key,*.p12,*.pfx,*.jks,*.keystore,*.tfvars}",
  "{wp-config.php,database.yml,application.properties,application.yml,gradle.properties,.m2/settings.xml,settings.xml}",
]);
/** Examples, and code that only has such a name. */
const NO_SECRET_FILE =
  /\.(?:example|sample|template|dist|pub|md|[cm]?[jt]sx?|vue|py|go|rs|rb|java|kt|cs|c|h|cpp|swift|sh|html|css)$/i;

export const isSecretFile = (path: string): boolean =>
  (SECRET_FILE.test(toSlashes(path)) && !NO_SECRET_FILE.test(path)) || isStore(path);
