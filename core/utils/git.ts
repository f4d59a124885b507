/**
 * Git in a repository that may be hostile: its configuration names programs (filters, hooks, external diffs, signature checks, transports),
 * and none of them may run. Every caller of git passes these options and this environment.
 */

/** `-c` wins over every configuration file, the repository's own included. Filters have free names: see `gitFiltersOff`. */
export const GIT_OPTIONS: readonly string[] = [
  "--no-pager",
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "core.editor=false",
    "core.alternateRefsCommand=",
    "credential.helper=",
    // Transports are switched off by GIT_ALLOW_PROTOCOL: `protocol.<name>.allow` wins over this.
    "protocol.allow=never",
    "log.showSignature=false",
    // `%G?` in `format.pretty` and in files of an archive checks signatures, too; each format has a program of its own.
    ...["gpg", "gpg.openpgp", "gpg.x509", "gpg.ssh"].map((format) => `${format}.program=false`),
    "diff.external=",
    "diff.trustExitCode=false",
    // A merge that is made again for its difference runs merge drivers.
    "log.diffMerges=separate",
    // A submodule has a configuration of its own, to which these options do not apply.
    "diff.submodule=short",
    "diff.ignoreSubmodules=all",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
    "safe.directory=*",
    "gc.auto=0",
    "maintenance.auto=false",
  ].flatMap((pair) => ["-c", pair]),
];

/** The environment that goes with `GIT_OPTIONS`. */
export const GIT_VARIABLES = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_ALLOW_PROTOCOL: ":",
  GIT_NO_LAZY_FETCH: "1",
  GIT_PAGER: "cat",
  GIT_EDITOR: "false",
  // Values for --config-env.
  SESSARC_GIT_EMPTY: "",
  SESSARC_GIT_FALSE: "false",
  LC_ALL: "C",
} as const;

/** The user's environment without any GIT_ variable (a service started from a hook has GIT_DIR set), plus these. */
export function gitEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const own = Object.entries(env).filter(([name]) => !/^(?:GIT_|SSH_ASKPASS)/i.test(name));
  return { ...Object.fromEntries(own), ...GIT_VARIABLES };
}

/** Arguments that list the names of everything that a repository configures, for `gitFiltersOff`. */
export const GIT_LIST_KEYS: readonly string[] = ["config", "--list", "--includes", "--name-only", "-z"];

/**
 * Arguments that switch off every filter among the listed names: git runs them on files of the work tree and of an archive. Undefined when
 * one cannot be switched off; then git must not run.
 */
export function gitFiltersOff(listed: Buffer): string[] | undefined {
  const names = new Set<string>();
  for (const key of listed.toString("latin1").split("\0")) {
    const name = /^filter\.(.*)\.[a-z0-9-]+$/s.exec(key)?.[1];
    if (name === undefined) continue;
    const text = Buffer.from(name, "latin1").toString("utf8");
    // A name that is not UTF-8 cannot be an argument.
    if (text.includes("\uFFFD")) return undefined;
    names.add(text);
  }
  return [...names].flatMap((name) => [
    ...set(`filter.${name}.clean`, ""),
    ...set(`filter.${name}.smudge`, ""),
    ...set(`filter.${name}.process`, ""),
    ...set(`filter.${name}.required`, "false"),
  ]);
}

/** `-c` splits at the first `=`, `--config-env` at the last; git too old for it ends with an error, which is safe. */
function set(key: string, value: "" | "false"): string[] {
  if (!key.includes("=")) return ["-c", `${key}=${value}`];
  return [`--config-env=${key}=${value === "" ? "SESSARC_GIT_EMPTY" : "SESSARC_GIT_FALSE"}`];
}
