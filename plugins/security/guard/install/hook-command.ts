/** The hook's command in an assistant's settings, and how to find it there. */
import { quoted } from "sessarc/files";
import type { WaitingHook } from "../contract.ts";
import {
  DEADLINE_MS,
  type HookEvent,
  hookHeader,
  hookScript,
  OFFER_DEADLINE_MS,
  waitingScript,
} from "./hook-script.ts";

export interface HookRequest {
  tool: string;
  /** Identifies the guard's entry. */
  id: string;
  /** The guard's folder in the data directory. */
  folder: string;
  /** The lock file with the address of the running service. */
  lock: string;
  /** Current address of the guard, with `client` and `hook`. */
  url: string;
  onFailure: "allow" | "block";
  platform: NodeJS.Platform;
}

/**
 * `event`: the hook asks only for what is offered to the model.
 *
 * Runs the script as one program with plain arguments, because an assistant may pass the command to the user's shell, whichever it is. If the
 * script cannot get an answer, the command does what the user chose: no output, or exit code 2 with a text on stderr. Without that text,
 * some assistants treat the hook as failed and run the call.
 */
export function toCommand(request: HookRequest, event?: HookEvent): string {
  if (request.platform === "win32") return toWindowsCommand(request, event);
  const { tool, id, folder } = request;
  const onFailure = event === undefined ? request.onFailure : "allow";
  const ask = '/bin/sh "$0" "$@" 2>/dev/null';
  const inner =
    onFailure === "block"
      ? `${ask} || { cat >/dev/null; echo "${failedText(tool)}" >&2; exit 2; }`
      : `${ask} || { cat >/dev/null; exit 0; }`;
  return `/bin/sh -c ${quoted(inner)} ${quoted(hookScript(folder))} ${tool} ${id}${event === undefined ? "" : ` ${event}`}`;
}

/** Windows has no script: the address is in the command, and any answer from it is trusted. */
function toWindowsCommand({ tool, folder, url, onFailure }: HookRequest, event: HookEvent | undefined): string {
  const end = onFailure === "block" && event === undefined ? `(echo ${failedText(tool)} 1>&2 & exit 2)` : "exit 0";
  const seconds = (event === undefined ? DEADLINE_MS : OFFER_DEADLINE_MS) / 1000;
  return `curl.exe -qsf --noproxy "*" -m ${seconds} -H "Content-Type: application/json" -H "@${hookHeader(folder)}" --data-binary @- "${url}${event === undefined ? "" : `&event=${event}`}" || ${end}`;
}

export const failedText = (tool: string) =>
  `sessarc could not be asked about this call, and calls are blocked then. Start it with: npx sessarc. Or remove its guard with: npx sessarc guard uninstall --tool ${tool}`;

export interface FoundHook {
  id: string;
  /** The address in the entry itself, if there is one. */
  url: string | undefined;
  /** The text that contains the hook: a command, an address or a plugin's source. */
  text: string;
}

const BY_SCRIPT = /guard\/hook\.sh' [a-z0-9-]+ ([a-z0-9]+)/;
const BY_ADDRESS = /(https?:\/\/[^\s'"\\]+\/)?api\/security\/pretooluse\?[^\s'"\\]*\bhook=([a-z0-9]+)/;

/** Finds the guard's hook anywhere in a value, also that of an earlier version. */
export function hookIn(value: unknown): FoundHook | undefined {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const script = BY_SCRIPT.exec(text);
  if (script?.[1]) return { id: script[1], url: undefined, text };
  const address = BY_ADDRESS.exec(text);
  return address?.[2] ? { id: address[2], url: address[1] && address[0], text } : undefined;
}

/** The command that reports that the assistant waits. Node is named in full, because an assistant's hooks may have another PATH. */
export function toWaitingCommand({ tool, folder, platform }: HookRequest, reports: WaitingHook["reports"]): string {
  const quote = platform === "win32" ? (word: string) => `"${word}"` : quoted;
  const end = platform === "win32" ? "2>nul || exit 0" : "2>/dev/null || exit 0";
  return `${quote(process.execPath)} ${quote(waitingScript(folder))} ${tool} ${reports} ${end}`;
}

const IS_WAITING = /guard[\\/]+waiting\.cjs\\*['"] [a-z0-9-]+ [a-z]+ |"api\/waiting"/;

/** Whether the value is, or holds, a hook that reports waiting. */
export const isWaitingHook = (value: unknown): boolean =>
  IS_WAITING.test(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** Whether the hook belongs to this data directory. */
export function leadsTo({ text }: FoundHook, { folder, lock }: Pick<HookRequest, "folder" | "lock">): boolean {
  return [quoted(hookScript(folder)), lock].some(
    // The path may be escaped as in JSON, TOML or a plugin's source.
    (path) => text.includes(path) || text.includes(JSON.stringify(path).slice(1, -1)),
  );
}
