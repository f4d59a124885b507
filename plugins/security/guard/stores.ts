/** Files that hold credentials, as data. */

/** Files that hold secrets on any machine. */
const SECRET_FILE =
  /(?:^|\/)(?:\.env(?!\.(?:example|sample|template))[\w.]*|\.netrc|\.npmrc|\.pgpass|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519)|shadow|environ|(?:credentials|secrets?)(?:\.\w+)?|[\w.-]+\.(?:pem|key|tfvars))$|\/run\/secrets\//;
/** Files in which a system provides secrets. */
export const SECRET_PLACE = /^\/proc\/.*\/environ$|^(?:\/var)?\/run\/secrets\//;

export const isSecretFile = (path: string): boolean => SECRET_FILE.test(path);

/** Files with secrets that a folder may hold, directly and one folder below. */
export const SECRETS = [
  ...[".env", ".env.*", ".envrc", ".npmrc", ".netrc", ".pypirc", ".git-credentials", "id_rsa", "id_ed25519"],
  ...["*.pem", "*.key", "credentials*", "secrets.*", "service-account*.json", "*.tfstate", "*.tfvars", "token"],
];
