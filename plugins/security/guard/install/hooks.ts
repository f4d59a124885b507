/** The settings file of each assistant and the hook's entry in it. */
import { join } from "node:path";
import type { Json, Kernel } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { commandOf, type HookRequest, waitingCommandOf } from "./hook-command.ts";
import { pluginText } from "./opencode-plugin.ts";

export interface WaitingHook {
  /** Path of the list of hooks; it may be that of the guard. */
  list: readonly string[];
  /** The entry to append. Without a time limit, as assistants differ in its unit; the program has its own. */
  entry(request: HookRequest): Json;
}

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
  /** Hooks that report that the assistant waits for the user, or no longer; none where they are in the plugin of `text`. */
  waiting?: readonly WaitingHook[];
  /** For `file`: its whole text. */
  text?(request: HookRequest, waiting: boolean): string;
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

/** As Claude Code has them: a list for each event. */
const waitingLists = (...events: readonly string[]): WaitingHook[] =>
  events.map((event) => ({
    list: ["hooks", event],
    entry: (request) => ({ hooks: [{ type: "command", command: waitingCommandOf(request, event) }] }),
  }));

const LIKE_CLAUDE = waitingLists("Notification", "Stop", "SessionEnd");

const shellOf = ({ platform }: HookRequest) => (platform === "win32" ? "powershell" : "bash");

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
    // Earlier versions know no SessionEnd.
    waiting: waitingLists("PermissionRequest", "Stop"),
    list: ["hooks", "PreToolUse"],
    entry: (request) => ({ hooks: [{ type: "command", command: commandOf(request), timeout: 10 }] }),
  },
  {
    tool: "cursor",
    label: "Cursor",
    transport: "command",
    format: "json",
    settings: ({ home }) => join(home, ".cursor", "hooks.json"),
    // Cursor has no event for a question about a permission.
    waiting: [{ list: ["hooks", "stop"], entry: (request) => ({ command: waitingCommandOf(request, "stop") }) }],
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
    waiting: waitingLists("Notification", "AfterAgent", "SessionEnd"),
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
    waiting: ["notification", "agentStop", "sessionEnd"].map((event) => ({
      list: ["hooks", event],
      entry: (request) => ({ type: "command", [shellOf(request)]: waitingCommandOf(request, event) }),
    })),
    root: { version: 1 },
    list: ["hooks", "preToolUse"],
    entry: (request) => ({
      type: "command",
      [shellOf(request)]: commandOf(request),
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
    waiting: [],
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
    waiting: [],
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
    waiting: LIKE_CLAUDE,
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
    waiting: ["PermissionRequest", "Stop", "Interrupt", "SessionEnd"].map((event) => ({
      list: ["hooks"],
      entry: (request) => ({ event, command: waitingCommandOf(request, event) }),
    })),
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
