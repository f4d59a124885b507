/** Why an installed hook does not work, such as settings that silently disable hooks. */
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord, type JsonRecord, type Kernel } from "sessarc";
import { parseSettings, readRegular } from "sessarc/files";
import { codexTrustProblem } from "./codex-trust.ts";
import { type FoundHook, leadsTo } from "./hook-command.ts";
import { hookScript, placesOf } from "./hook-script.ts";
import type { HookTool } from "./hooks.ts";

export async function findProblems(
  kernel: Kernel,
  tool: HookTool,
  settings: JsonRecord,
  path: string,
  hook: FoundHook,
): Promise<string[]> {
  return [
    ...(await wayProblems(kernel, hook)),
    ...(tool.transport === "command" && !(await hasCurl(kernel)) ? ["curl was not found, and the hook needs it"] : []),
    ...(await toolProblems(kernel, tool, settings, path)),
  ];
}

/** Problems on the way from the hook to this service. */
async function wayProblems(kernel: Kernel, hook: FoundHook): Promise<string[]> {
  const places = placesOf(kernel.storage);
  if (hook.url === undefined) {
    if (!leadsTo(hook, places)) return ["The hook asks the service of another data directory: install it again"];
    if (!(await exists(hookScript(places.folder)))) return ["The hook's script is missing: install it again"];
  } else if (kernel.env.platform !== "win32")
    return ["An earlier version wrote this hook, bound to one port: install it again"];
  if (!kernel.address) return ["The service is not running, so the hook gets no answer"];
  const port = hook.url === undefined ? kernel.address.port : Number(new URL(hook.url).port || 80);
  if (port === kernel.address.port) return [];
  return [`The hook asks port ${port}, but the service listens on ${kernel.address.port}: install it again`];
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function toolProblems(kernel: Kernel, { tool }: HookTool, settings: JsonRecord, path: string): Promise<string[]> {
  switch (tool) {
    case "claude-code":
      return [
        ...claudeProblems(settings, "settings.json"),
        ...claudeProblems(await readObject(managedSettings(kernel)), "the managed settings"),
      ];
    case "codex": {
      const features = await codexFeatures(dirname(path));
      if (features === "off") return ["Hooks are switched off in config.toml (`features`)"];
      const untrusted = await codexTrustProblem(settings, path);
      return untrusted === undefined ? [] : [untrusted];
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

function claudeProblems(settings: JsonRecord, where: string): string[] {
  const problems: string[] = [];
  if (settings.disableAllHooks === true) problems.push(`\`disableAllHooks\` is set in ${where}: no hook runs`);
  if (settings.allowManagedHooksOnly === true)
    problems.push(`\`allowManagedHooksOnly\` is set in ${where}: this hook does not run`);
  return problems;
}

function managedSettings({ env }: Kernel): string {
  if (env.platform === "darwin") return "/Library/Application Support/ClaudeCode/managed-settings.json";
  if (env.platform === "win32")
    return join(env.env.PROGRAMDATA || "C:\\ProgramData", "ClaudeCode", "managed-settings.json");
  return "/etc/claude-code/managed-settings.json";
}

async function readObject(path: string): Promise<JsonRecord> {
  try {
    const value: unknown = JSON.parse(await readRegular(path));
    return isRecord(value) ? (value as JsonRecord) : {};
  } catch {
    // The file is missing or the assistant cannot read it either.
    return {};
  }
}

async function codexFeatures(folder: string): Promise<"on" | "off"> {
  const text = await readRegular(join(folder, "config.toml")).catch(() => "");
  if (!/hooks\s*=\s*false/.test(text)) return "on";
  try {
    const { features } = await parseSettings(text, "toml");
    return isRecord(features) && (features.hooks === false || features.codex_hooks === false) ? "off" : "on";
  } catch {
    // Codex reports that it cannot read the file.
    return "on";
  }
}

async function hasCurl({ env }: Kernel): Promise<boolean> {
  const path = env.env.PATH ?? process.env.PATH ?? "";
  const [separator, name] = env.platform === "win32" ? [";", "curl.exe"] : [":", "curl"];
  for (const folder of path.split(separator)) {
    if (await exists(join(folder || ".", name))) return true;
  }
  return false;
}
