/** What stands in a tool's settings, and how it is found there again. */
import { DEADLINE_MS, hookHeader, hookScript } from "./hook-script.ts";

export interface HookRequest {
  tool: string;
  /** Tells our entries from others'. */
  id: string;
  /** The guard's own in the data directory of the service that runs. */
  folder: string;
  /** The lock file, by which that service is found. */
  lock: string;
  /** Address of the guard as it is served now, with `client` and `hook`. */
  url: string;
  onFailure: "allow" | "block";
  platform: NodeJS.Platform;
}

/**
 * A call of the script, as one program with plain arguments: Codex hands it to the user's own shell, whichever that is. What the
 * script could not find out ends as the user chose: silence, or exit code 2 with words on stderr, without which Codex and Gemini take
 * the hook for failed and run the call.
 */
export function commandOf(request: HookRequest): string {
  if (request.platform === "win32") return windowsCommandOf(request);
  const { tool, id, folder, onFailure } = request;
  const ask = '/bin/sh "$0" "$@" 2>/dev/null';
  const inner =
    onFailure === "block"
      ? `${ask} || { cat >/dev/null; echo "${failedText(tool)}" >&2; exit 2; }`
      : `${ask} || { cat >/dev/null; exit 0; }`;
  return `/bin/sh -c ${quoted(inner)} ${quoted(hookScript(folder))} ${tool} ${id}`;
}

/** No script there: the address is part of the command, and what answers at it is believed. */
function windowsCommandOf({ tool, folder, url, onFailure }: HookRequest): string {
  const end = onFailure === "block" ? `(echo ${failedText(tool)} 1>&2 & exit 2)` : "exit 0";
  const seconds = DEADLINE_MS / 1000;
  return `curl.exe -qsf --noproxy "*" -m ${seconds} -H "Content-Type: application/json" -H "@${hookHeader(folder)}" --data-binary @- "${url}" || ${end}`;
}

export const failedText = (tool: string) =>
  `sessarc could not be asked about this call, and calls are blocked then. Start it with: npx sessarc. Or remove its guard with: npx sessarc guard uninstall --tool ${tool}`;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export interface FoundHook {
  id: string;
  /** The address it asks, where that stands in the entry itself. */
  url: string | undefined;
  /** The text it was found in: a command, an address or a plugin's source. */
  text: string;
}

const BY_SCRIPT = /guard\/hook\.sh' [a-z-]+ ([a-z0-9]+)/;
const BY_ADDRESS = /(https?:\/\/[^\s'"\\]+\/)?api\/security\/pretooluse\?[^\s'"\\]*\bhook=([a-z0-9]+)/;

/** Our hook anywhere in a value, this version's or an earlier one's. */
export function hookIn(value: unknown): FoundHook | undefined {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const script = BY_SCRIPT.exec(text);
  if (script?.[1]) return { id: script[1], url: undefined, text };
  const address = BY_ADDRESS.exec(text);
  return address?.[2] ? { id: address[2], url: address[1] && address[0], text } : undefined;
}

/** Whether a hook looks for its service in this data directory. */
export function leadsTo({ text }: FoundHook, { folder, lock }: Pick<HookRequest, "folder" | "lock">): boolean {
  return [quoted(hookScript(folder)), lock].some(
    // As it stands in a JSON string, a TOML string or a plugin's source.
    (path) => text.includes(path) || text.includes(JSON.stringify(path).slice(1, -1)),
  );
}
