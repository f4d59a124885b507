/** The assistants that adapters declare a guard for. */

import { type Json, type Kernel, SessarcError } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { readOutside } from "sessarc/files";
import type { GuardContract, GuardEntries } from "../contract.ts";
import { toClient } from "./client-code.ts";
import { addEntries, type HookForm } from "./edit.ts";
import { type HookRequest, toCommand, toWaitingCommand } from "./hook-command.ts";

export interface Guarded {
  /** The adapter's name. */
  tool: string;
  label: string;
  contract: GuardContract;
}

export const guardedIn = ({ registry }: Kernel): Guarded[] =>
  [...registry.adapters.values()].flatMap(({ name, label, guard }) =>
    guard ? [{ tool: name, label: guard.label ?? label, contract: guard }] : [],
  );

/** Without a name the first one. Throws GUARD_TOOL_UNKNOWN. */
export function guardedBy(kernel: Kernel, name: string | undefined): Guarded {
  const all = guardedIn(kernel);
  const one = name === undefined ? all[0] : all.find(({ tool }) => tool === name);
  if (one) return one;
  throw new SessarcError("GUARD_TOOL_UNKNOWN", { tool: name ?? "", known: all.map(({ tool }) => tool) });
}

export const canReport = ({ contract }: Guarded): boolean =>
  contract.format === "file" || contract.waiting !== undefined;

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

export function toForm(contract: GuardEntries, format: HookForm["format"]): HookForm {
  const lists = [contract.list ?? LIST, ...(contract.waiting ?? []).map(({ list }) => list)];
  return {
    format,
    lists: [...new Map(lists.map((list) => [list.join("\0"), [...list]])).values()],
    root: { ...contract.root },
  };
}

/** The settings with the guard's entries. */
export function withEntries(
  before: string,
  contract: GuardEntries,
  form: HookForm,
  request: HookRequest,
  waiting: boolean,
  path: string,
): ReturnType<typeof addEntries> {
  const { list = LIST, entry = usualEntry } = contract;
  const { onFailure, platform } = request;
  const reports = (waiting && contract.waiting) || [];
  const wanted = [
    { list, entry: entry({ command: toCommand(request), onFailure, platform }) },
    ...reports.map(({ list, reports, entry = usualReport }) => ({
      list,
      entry: entry({ command: toWaitingCommand(request, reports), onFailure, platform }),
    })),
  ];
  return addEntries(before, form, wanted, path);
}

const usualEntry = ({ command }: { command: string }): Json => ({
  matcher: "*",
  hooks: [{ type: "command", command, timeout: 10 }],
});
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
