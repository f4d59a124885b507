/** Whether an assistant runs a command: what it prints goes to a model then, and from there to a provider. */

/** Variables that assistants set for the commands they run. */
const MARKS: Readonly<Record<string, string>> = {
  CLAUDECODE: "Claude Code",
  CODEX_SANDBOX: "Codex",
  CODEX_SANDBOX_NETWORK_DISABLED: "Codex",
  CODEX_THREAD_ID: "Codex",
  CURSOR_AGENT: "Cursor",
  GEMINI_CLI: "Gemini CLI",
  OPENCODE: "OpenCode",
  COPILOT_CLI: "Copilot CLI",
};

/** The name of the assistant that runs this command; undefined when no variable names one. */
function assistantIn(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const mark = Object.keys(MARKS).find((name) => env[name]);
  return mark && MARKS[mark];
}

interface Asking {
  flags: Readonly<Record<string, unknown>>;
  env: { env: Readonly<Record<string, string | undefined>> };
  err(text: string): void;
}

/** Whether secrets are masked in what a command prints: `--redacted`, or an assistant runs it without `--raw`. In that case a notice is printed. */
export function isRedacted({ flags, env, err }: Asking): boolean {
  if (flags.redacted === true) return true;
  const assistant = flags.raw === true ? undefined : assistantIn(env.env);
  if (assistant === undefined) return false;
  err(`Secrets are masked, since ${assistant} runs this command; --raw leaves them in.`);
  return true;
}

/** The two flags of a command that prints what sessions hold. */
export const REDACTED_OPTIONS = { redacted: { type: "boolean", short: "r" }, raw: { type: "boolean" } } as const;
/** Help of the two flags. */
export const REDACTED_HELP = {
  redacted: "Mask secrets; an assistant that runs the command gets that unasked",
  raw: "Leave secrets in, also for an assistant",
} as const;
