/** Why an installed hook does not work, such as settings that silently disable hooks. */
import { join } from "node:path";
import type { JsonRecord, Kernel } from "sessarc";
import { isReachable, parseSettings, readRegular } from "sessarc/files";
import type { GuardContract } from "../contract.ts";
import { type FoundHook, hookIn, isWaitingHook, leadsTo } from "./hook-command.ts";
import { hookScript, toPlaces } from "./hook-script.ts";

/** A settings file with a hook in it. */
interface Installed {
  path: string;
  settings: JsonRecord;
  hook: FoundHook;
}

export async function findProblems(kernel: Kernel, contract: GuardContract, at: Installed): Promise<string[]> {
  const isCommand = contract.format !== "file";
  return [
    ...(await wayProblems(kernel, at.hook)),
    ...(isCommand && !(await hasCurl(kernel)) ? ["curl was not found, and the hook needs it"] : []),
    ...(await assistantProblems(kernel, contract, at)),
  ];
}

/** Problems on the way from the hook to this service. */
async function wayProblems(kernel: Kernel, hook: FoundHook): Promise<string[]> {
  const places = toPlaces(kernel.storage);
  if (hook.url === undefined) {
    if (!leadsTo(hook, places)) return ["The hook asks the service of another data directory: install it again"];
    if (!(await isReachable(hookScript(places.folder)))) return ["The hook's script is missing: install it again"];
  } else if (kernel.env.platform !== "win32")
    return ["An earlier version wrote this hook, bound to one port: install it again"];
  if (!kernel.address) return ["The service is not running, so the hook gets no answer"];
  const port = hook.url === undefined ? kernel.address.port : Number(new URL(hook.url).port || 80);
  if (port === kernel.address.port) return [];
  return [`The hook asks port ${port}, but the service listens on ${kernel.address.port}: install it again`];
}

async function assistantProblems({ env }: Kernel, contract: GuardContract, at: Installed): Promise<readonly string[]> {
  const { path, settings } = at;
  const isOurs = (hook: unknown) => hookIn(hook) !== undefined || isWaitingHook(hook);
  return (await contract.problems?.({ env, path, settings, isOurs, read: readSettings })) ?? [];
}

/** An empty object where the file is missing, or the assistant cannot read it either and reports that. */
async function readSettings(path: string, syntax: "json" | "toml"): Promise<JsonRecord> {
  try {
    return await parseSettings(await readRegular(path), syntax);
  } catch {
    return {};
  }
}

async function hasCurl({ env }: Kernel): Promise<boolean> {
  const path = env.env.PATH ?? process.env.PATH ?? "";
  const [separator, name] = env.platform === "win32" ? [";", "curl.exe"] : [":", "curl"];
  for (const folder of path.split(separator)) {
    if (await isReachable(join(folder || ".", name))) return true;
  }
  return false;
}
