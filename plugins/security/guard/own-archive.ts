/** Calls that show the archive of all projects or remove the guard. Only the user may make them. */
import { join, relative, resolve } from "node:path";
import { toolCall } from "sessarc/adapter";
import { isInside } from "sessarc/files";
import type { ToolCall } from "./payload.ts";
import type { CallPaths } from "./taint/paths.ts";

/** Folder and port of the archive. */
interface OwnArchive {
  dataDir: string;
  home: string;
  /** Undefined if no service runs. */
  port: number | undefined;
}

/** Parts of the data directory with sessions or keys; skills and sandboxes of replays are excluded. */
const HELD = /^(?:catalog|transcripts|index|guard|token|$)|^files(?:$|[\\/](?!skills|replay))/;
const COMMAND =
  /(?:^|[\s/"'`(=])sessarc(?:@[\w.-]+)?["']?\s+(?:--?\S+\s+)*(?:(backup)\b|guard\s+(uninstall)\b|(?:search|show|export)\b[^;&|\n]*\s(--raw)\b)/;
const REASONS: Readonly<Record<string, string>> = {
  backup: "it copies the archive of all projects",
  uninstall: "it removes the tool-call guard",
  "--raw": "it prints sessions with their secrets",
};

/** Returns why the call is stopped; undefined if it does not reach the archive. Linear in the call. */
export function reachesArchive(
  call: ToolCall,
  { role, named }: CallPaths,
  { dataDir, home, port }: OwnArchive,
): string | undefined {
  const isHeld = (path: string) => {
    const full = resolve(call.cwd ?? home, atHome(path, home));
    return isInside(dataDir, full) && HELD.test(relative(dataDir, full));
  };
  const shows = "it reads the files of the archive";
  if (role === "read" || role === "search") return named.some(isHeld) ? shows : undefined;
  if (role !== "shell") return undefined;
  const { command } = toolCall(call.tool_input);
  const said = COMMAND.exec(command)?.slice(1).find(Boolean);
  if (said !== undefined) return REASONS[said];
  if (
    port !== undefined &&
    new RegExp(`(?:127\\.0\\.0\\.1|localhost|\\[::1\\]|0\\.0\\.0\\.0):${port}/api\\b`).test(command)
  )
    return "it asks the archive's service";
  const words = command.replace(/--data-dir[=\s]+\S+/g, "").match(/[^\s;&|<>"'`()=]+/g) ?? [];
  return words.some((word) => /[\\/]/.test(word) && isHeld(word)) ? shows : undefined;
}

const atHome = (path: string, home: string) => path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=[\\/]|$)/, () => join(home));
