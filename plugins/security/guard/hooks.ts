/** The settings file of each assistant and the hook's entry in it. */
import { join } from "node:path";
import type { AdapterEnv, Json, Kernel } from "sessarc";
import { commandOf, type HookRequest } from "./hook-command.ts";
import { pluginText } from "./opencode-plugin.ts";

export interface HookTool {
  tool: string;
  label: string;
  transport: "command" | "plugin";
  /** `jsonc` allows comments; `file` is a file that contains only the hook. */
  format: "json" | "jsonc" | "toml" | "file";
  settings(env: AdapterEnv): string;
  /** Path of the list of hooks. */
  list: readonly string[];
  /** The entry to append. */
  entry(request: HookRequest): Json;
  /** Required fields of the root. */
  root?: Readonly<Record<string, Json>>;
  /** Listed where this folder exists; without it always. */
  home?(env: AdapterEnv): string;
  /** Hooks that report that the assistant waits for the user: lists of hooks beside `list`, with the entry of each. */
  waiting?: readonly string[];
  /** For `file`: its whole text. */
  text?(request: HookRequest): string;
}

const folder = (env: AdapterEnv, variable: string, name: string) => env.env[variable] || join(env.home, name);

const configFolder = ({ home, env }: AdapterEnv, name: string) =>
  join(env.XDG_CONFIG_HOME || join(home, ".config"), name);

/** Hooks as Claude Code has them: a matcher and a list of commands, `timeout` in seconds. */
const likeClaude = (request: HookRequest): Json => ({
  matcher: "*",
  hooks: [{ type: "command", command: commandOf(request), timeout: 10 }],
});

type Base = Pick<HookTool, "tool" | "label" | "format" | "list" | "entry" | "waiting"> & {
  home(env: AdapterEnv): string;
  /** Below `home`. */
  file: string;
};

const below = ({ file, ...tool }: Base): HookTool => ({
  ...tool,
  transport: "command",
  settings: (env) => join(tool.home(env), file),
});

/** Events at which a user is waited for, or no longer. */
const LIKE_CLAUDE = ["Notification", "Stop", "SessionEnd"] as const;

export const HOOK_TOOLS: readonly HookTool[] = [
  {
    tool: "claude-code",
    label: "Claude Code",
    transport: "command",
    format: "json",
    settings: (env) => join(folder(env, "CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
    waiting: LIKE_CLAUDE,
    list: ["hooks", "PreToolUse"],
    entry: (request) => ({
      matcher: "*",
      hooks: [{ type: "command", command: commandOf(request), timeout: 10 }],
    }),
  },
  {
    tool: "codex",
    label: "Codex",
    transport: "command",
    format: "json",
    settings: (env) => join(folder(env, "CODEX_HOME", ".codex"), "hooks.json"),
    list: ["hooks", "PreToolUse"],
    entry: (request) => ({ hooks: [{ type: "command", command: commandOf(request), timeout: 10 }] }),
  },
  {
    tool: "cursor",
    label: "Cursor",
    transport: "command",
    format: "json",
    settings: ({ home }) => join(home, ".cursor", "hooks.json"),
    root: { version: 1 },
    list: ["hooks", "preToolUse"],
    entry: (request) => ({
      command: commandOf(request),
      timeout: 10,
      ...(request.onFailure === "block" ? { failClosed: true } : {}),
    }),
  },
  {
    tool: "gemini-cli",
    label: "Gemini CLI",
    transport: "command",
    format: "jsonc",
    settings: (env) => join(env.env.GEMINI_CLI_HOME || env.home, ".gemini", "settings.json"),
    waiting: ["Notification", "AfterAgent", "SessionEnd"],
    list: ["hooks", "BeforeTool"],
    // Gemini takes milliseconds, the others seconds.
    entry: (request) => ({
      matcher: "*",
      hooks: [{ name: "sessarc", type: "command", command: commandOf(request), timeout: 10_000 }],
    }),
  },
  {
    tool: "copilot",
    label: "Copilot CLI",
    transport: "command",
    format: "json",
    settings: (env) => join(folder(env, "COPILOT_HOME", ".copilot"), "hooks", "sessarc.json"),
    root: { version: 1 },
    list: ["hooks", "preToolUse"],
    entry: (request) => ({
      type: "command",
      [request.platform === "win32" ? "powershell" : "bash"]: commandOf(request),
      timeoutSec: 10,
    }),
  },
  {
    tool: "opencode",
    label: "OpenCode",
    transport: "plugin",
    format: "file",
    settings: (env) => join(env.env.OPENCODE_CONFIG_DIR || configFolder(env, "opencode"), "plugin", "sessarc.js"),
    list: [],
    entry: () => null,
    text: pluginText,
  },
  {
    tool: "kilo",
    label: "Kilo Code",
    transport: "plugin",
    format: "file",
    home: (env) => configFolder(env, "kilo"),
    settings: (env) => join(configFolder(env, "kilo"), "plugin", "sessarc.js"),
    list: [],
    entry: () => null,
    text: pluginText,
  },
  below({
    tool: "qwen",
    label: "Qwen Code",
    format: "jsonc",
    home: (env) => folder(env, "QWEN_HOME", ".qwen"),
    file: "settings.json",
    waiting: LIKE_CLAUDE,
    list: ["hooks", "PreToolUse"],
    // Without a time limit, as its versions differ in the unit. The script has its own.
    entry: (request) => ({
      matcher: "*",
      hooks: [{ name: "sessarc", type: "command", command: commandOf(request) }],
    }),
  }),
  below({
    tool: "grok",
    label: "Grok Build",
    format: "json",
    home: (env) => folder(env, "GROK_HOME", ".grok"),
    file: join("hooks", "sessarc.json"),
    list: ["hooks", "PreToolUse"],
    entry: likeClaude,
  }),
  below({
    tool: "droid",
    label: "Factory Droid",
    format: "json",
    home: ({ home }) => join(home, ".factory"),
    file: "settings.json",
    waiting: LIKE_CLAUDE,
    list: ["hooks", "PreToolUse"],
    entry: likeClaude,
  }),
  below({
    tool: "kimi",
    label: "Kimi Code",
    format: "toml",
    home: (env) => folder(env, "KIMI_CODE_HOME", ".kimi-code"),
    file: "config.toml",
    list: ["hooks"],
    // Another field makes Kimi refuse the whole file. Without a matcher it matches every tool.
    entry: (request) => ({ event: "PreToolUse", command: commandOf(request), timeout: 10 }),
  }),
  below({
    tool: "crush",
    label: "Crush",
    format: "json",
    home: (env) => configFolder(env, "crush"),
    file: "crush.json",
    list: ["hooks", "PreToolUse"],
    entry: (request) => ({ command: commandOf(request), timeout: 10 }),
  }),
  below({
    tool: "vibe",
    label: "Mistral Vibe",
    format: "toml",
    home: (env) => folder(env, "VIBE_HOME", ".vibe"),
    file: "hooks.toml",
    list: ["hooks"],
    entry: (request) => ({
      name: "sessarc",
      type: "pre_tool",
      match: "*",
      command: commandOf(request),
      timeout: 10,
      strict: request.onFailure === "block",
    }),
  }),
];

/** The adapter's path takes precedence. */
export function settingsPath(kernel: Kernel, tool: HookTool): string {
  const { env, registry } = kernel;
  return registry.adapters.get(tool.tool)?.guard?.settings(env) ?? tool.settings(env);
}

/** The entry in the list of an event of `waiting`. Without a time limit, as assistants differ in its unit; the command has its own. */
export const waitingEntry = (command: string): Json => ({ hooks: [{ type: "command", command }] });
