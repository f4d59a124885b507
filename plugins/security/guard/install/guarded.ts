/** The assistants that adapters declare a guard for. */

import { isDeepStrictEqual } from "node:util";
import { type Json, type Kernel, SessarcError, unknownAssistant } from "sessarc";
import type { AdapterEnv, ToolRole } from "sessarc/adapter";
import { readOutside } from "sessarc/files";
import type { GuardContract, GuardEntries, Offer } from "../contract.ts";
import { OFFERS } from "../contract.ts";
import { toClient } from "./client-code.ts";
import type { HookForm, Wanted } from "./edit.ts";
import { type HookRequest, toCommand, toWaitingCommand } from "./hook-command.ts";

export interface Guarded {
  /** The adapter's name. */
  tool: string;
  label: string;
  contract: GuardContract;
  /** A pattern of the names of its tools that run a command or change a file. */
  tools: string;
}

export const guardedIn = ({ registry }: Kernel): Guarded[] =>
  [...registry.adapters.values()].flatMap(({ name, label, guard, tools = {} }) =>
    guard ? [{ tool: name, label: guard.label ?? label, contract: guard, tools: namesOf(tools) }] : [],
  );

const WORKS: ReadonlySet<ToolRole> = new Set(["shell", "write", "edit", "patch"]);

const namesOf = (tools: Readonly<Record<string, ToolRole>>): string =>
  Object.entries(tools)
    .flatMap(([name, role]) => (WORKS.has(role) && /^\w+$/.test(name) ? [name] : []))
    .join("|");

/** Without a name the first one. Throws INVALID_INPUT, GUARD_TOOL_UNKNOWN. */
export function guardedBy(kernel: Kernel, name: string | undefined): Guarded {
  const all = guardedIn(kernel);
  const one = name === undefined ? all[0] : all.find(({ tool }) => tool === name);
  if (one) return one;
  const known = all.map(({ tool }) => tool);
  if (name !== undefined && !kernel.registry.adapters.has(name)) throw unknownAssistant(name, known);
  throw new SessarcError("GUARD_TOOL_UNKNOWN", { tool: name ?? "", known });
}

export const canReport = ({ contract }: Guarded): boolean =>
  contract.format === "file" || contract.waiting !== undefined;

export function offersOf({ contract }: Guarded): Offer[] {
  const { start, call } = (contract.format !== "file" && contract.context) || {};
  return OFFERS.filter((one) => (one === "start" ? start : call) !== undefined);
}

/** The file that hooks go into: another one where the assistant's user keeps hooks there alone. */
export async function readPlace(
  { contract }: Guarded,
  env: AdapterEnv,
): Promise<{ path: string; format: GuardContract["format"] }> {
  const own = { path: contract.settings(env), format: contract.format };
  if (contract.format === "file" || !contract.instead) return own;
  const { settings, format, where } = contract.instead;
  const file = await readOutside(own.path).catch(() => undefined);
  if (!file || file.bytes !== null) return own;
  const other = await readOutside(settings(env)).catch(() => undefined);
  return other?.bytes && where.test(other.bytes.toString("utf8")) ? { path: settings(env), format } : own;
}

const LIST = ["hooks", "PreToolUse"];

/** One hook of the assistant is asked about the call by the guard, and offers with it. */
export const isShared = ({ list = LIST, context }: GuardEntries): boolean =>
  context?.call !== undefined && isDeepStrictEqual(context.call.list, list);

export function toForm(contract: GuardEntries, format: HookForm["format"]): HookForm {
  const { start, call } = contract.context ?? {};
  const hooks = [...(contract.waiting ?? []), ...(start ? [start] : []), ...(call ? [call] : [])];
  const lists = [contract.list ?? LIST, ...hooks.map(({ list }) => list)];
  return {
    format,
    lists: [...new Map(lists.map((list) => [list.join("\0"), [...list]])).values()],
    root: { ...contract.root },
  };
}

/** What is wanted of an assistant's hooks. */
export interface Choices {
  /** The guard is asked about each call. */
  guards: boolean;
  waiting: boolean;
  offers: readonly Offer[];
}

/** The entries for what is wanted. */
export function toEntries(
  contract: GuardEntries,
  request: HookRequest,
  { guards, waiting, offers }: Choices,
  tools: string,
): Wanted[] {
  const { list = LIST, entry = usualEntry, context = {} } = contract;
  const { onFailure, platform } = request;
  const hook = { onFailure, platform };
  const wanted: Wanted[] = guards ? [{ list, entry: entry({ ...hook, command: toCommand(request) }) }] : [];
  for (const { list, reports, entry = usualReport } of (waiting && contract.waiting) || [])
    wanted.push({ list, entry: entry({ ...hook, command: toWaitingCommand(request, reports) }) });
  const { start, call } = context;
  if (start && offers.includes("start"))
    wanted.push({
      list: start.list,
      entry: (start.entry ?? usualStart)({ onFailure: "allow", platform, command: toCommand(request, "start") }),
    });
  const withCalls = offers.some((one) => one !== "start");
  const shared = isShared(contract);
  if (call && withCalls && !(guards && shared))
    wanted.push({
      list: call.list,
      entry: (call.entry ?? (shared ? entry : usualEntry))({
        ...{ onFailure: "allow", platform, command: toCommand(request, "call") },
        ...(tools !== "" && { tools }),
      }),
    });
  return wanted;
}

const usualEntry = ({ command, tools = "*" }: { command: string; tools?: string }): Json => ({
  matcher: tools,
  hooks: [{ type: "command", command, timeout: 10 }],
});
const usualStart = ({ command }: { command: string }): Json => ({ hooks: [{ type: "command", command, timeout: 10 }] });
const usualReport = ({ command }: { command: string }): Json => ({ hooks: [{ type: "command", command }] });

/** The whole text of a file that holds only the hook. */
export function fileText(
  contract: Extract<GuardContract, { format: "file" }>,
  before: string,
  { request, waiting, ours, path }: { request: HookRequest; waiting: boolean; ours: boolean; path: string },
): string {
  if (before !== "" && !ours)
    throw new SessarcError("SETTINGS_UNUSABLE", {
      path,
      reason: "a file with this name exists that sessarc did not write",
    });
  return contract.text(toClient(request, waiting));
}
