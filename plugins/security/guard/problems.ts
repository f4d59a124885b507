/** Why an installed hook would not do its work: settings that switch hooks off without a word. */
import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord, type JsonRecord, type Kernel } from "sessarc";
import type { HookTool } from "./hooks.ts";

export interface Installed {
  url: string;
  lastFiredAt: string | null;
}

export async function findProblems(
  kernel: Kernel,
  tool: HookTool,
  settings: JsonRecord,
  path: string,
  hook: Installed,
): Promise<string[]> {
  return [
    ...addressProblems(kernel, hook.url),
    ...(tool.transport === "command" && !(await hasCurl(kernel)) ? ["curl was not found, and the hook needs it"] : []),
    ...(await toolProblems(kernel, tool, settings, path, hook)),
  ];
}

function addressProblems(kernel: Kernel, url: string): string[] {
  if (!kernel.address) return ["The service is not running, so nobody answers the hook"];
  const port = Number(new URL(url).port || 80);
  if (port === kernel.address.port) return [];
  return [`The hook asks port ${port}, but the service listens on ${kernel.address.port}: install it again`];
}

async function toolProblems(
  kernel: Kernel,
  { tool }: HookTool,
  settings: JsonRecord,
  path: string,
  hook: Installed,
): Promise<string[]> {
  switch (tool) {
    case "claude-code":
      return [
        ...claudeProblems(settings, hook.url, "settings.json"),
        ...claudeProblems(await readObject(managedSettings(kernel)), hook.url, "the managed settings"),
      ];
    case "codex": {
      const features = await codexFeatures(dirname(path));
      if (features === "off") return ["Hooks are switched off in config.toml (`features`)"];
      return hook.lastFiredAt === null
        ? ["Codex runs a new hook only after you trusted it: start Codex and accept it with /hooks"]
        : [];
    }
    case "gemini-cli": {
      const hooks = isRecord(settings.hooks) ? settings.hooks : {};
      const config = isRecord(settings.hooksConfig) ? settings.hooksConfig : {};
      const tools = isRecord(settings.tools) ? settings.tools : {};
      const off = [hooks.enabled, config.enabled, tools.enableHooks].some((value) => value === false);
      const disabled = [hooks.disabled, config.disabled].some(
        (list) => Array.isArray(list) && list.includes("sessarc"),
      );
      return off
        ? ["Hooks are switched off in settings.json"]
        : disabled
          ? ["The hook is on the list of disabled hooks"]
          : [];
    }
    case "copilot": {
      const config = await readObject(join(dirname(dirname(path)), "config.json"));
      return settings.disableAllHooks === true || config.disableAllHooks === true ? ["`disableAllHooks` is set"] : [];
    }
    default:
      return [];
  }
}

function claudeProblems(settings: JsonRecord, url: string, where: string): string[] {
  const problems: string[] = [];
  if (settings.disableAllHooks === true) problems.push(`\`disableAllHooks\` is set in ${where}: no hook runs`);
  if (settings.allowManagedHooksOnly === true)
    problems.push(`\`allowManagedHooksOnly\` is set in ${where}: this hook does not run`);
  const allowed = settings.allowedHttpHookUrls;
  if (Array.isArray(allowed) && !allowed.some((pattern) => typeof pattern === "string" && fits(pattern, url)))
    problems.push(`\`allowedHttpHookUrls\` in ${where} does not allow the hook's address`);
  return problems;
}

/** `*` stands for anything. */
function fits(pattern: string, url: string): boolean {
  const parts = pattern.split("*");
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (url.startsWith(part) ? 0 : -1) : url.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return parts.length === 1 ? url === pattern : parts.at(-1) === "" || url.endsWith(parts.at(-1) as string);
}

function managedSettings({ env }: Kernel): string {
  if (env.platform === "darwin") return "/Library/Application Support/ClaudeCode/managed-settings.json";
  if (env.platform === "win32")
    return join(env.env.PROGRAMDATA || "C:\\ProgramData", "ClaudeCode", "managed-settings.json");
  return "/etc/claude-code/managed-settings.json";
}

async function readObject(path: string): Promise<JsonRecord> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return isRecord(value) ? (value as JsonRecord) : {};
  } catch {
    // Missing, or not what the tool itself would read.
    return {};
  }
}

async function codexFeatures(folder: string): Promise<"on" | "off"> {
  const text = await readFile(join(folder, "config.toml"), "utf8").catch(() => "");
  if (!/hooks\s*=\s*false/.test(text)) return "on";
  const { parseToml } = await import("./toml.ts");
  try {
    const { features } = parseToml(text, "config.toml");
    return isRecord(features) && (features.hooks === false || features.codex_hooks === false) ? "off" : "on";
  } catch {
    // Codex says itself that it cannot read it.
    return "on";
  }
}

async function hasCurl({ env }: Kernel): Promise<boolean> {
  const path = env.env.PATH ?? process.env.PATH ?? "";
  const [separator, name] = env.platform === "win32" ? [";", "curl.exe"] : [":", "curl"];
  for (const folder of path.split(separator)) {
    const there = await access(join(folder || ".", name)).then(
      () => true,
      () => false,
    );
    if (there) return true;
  }
  return false;
}
