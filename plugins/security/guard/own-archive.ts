/** Calls that show the archive of all projects, or take the guard away: those are the user's to do, not an assistant's. */
import { join, relative, resolve } from "node:path";
import { type ToolRole, toolCall } from "sessarc";
import { isInside } from "#internal";
import { pathsIn } from "#internal/adapter";
import type { ToolCall } from "./payload.ts";

/** Where the archive is, and where it is served. */
export interface OwnArchive {
  dataDir: string;
  home: string;
  /** Undefined: nothing is served. */
  port: number | undefined;
}

/** What of the data directory holds sessions or keys: not the skills, and not the sandboxes of replays. */
const HELD = /^(?:catalog|transcripts|index|guard|token|$)|^files(?:$|[\\/](?!skills|replay))/;
const COMMAND =
  /(?:^|[\s/"'`(=])sessarc(?:@[\w.-]+)?["']?\s+(?:--?\S+\s+)*(?:(backup)\b|guard\s+(uninstall)\b|(?:search|show|export)\b[^;&|\n]*\s(--raw)\b)/;
const TOLD: Readonly<Record<string, string>> = {
  backup: "it copies the archive of all projects",
  uninstall: "it takes the tool-call guard away",
  "--raw": "it prints sessions with their secrets",
};

/** Why the call is stopped; undefined where it keeps away from the archive. Linear in the call. */
export function reachesArchive(
  call: ToolCall,
  role: ToolRole | undefined,
  { dataDir, home, port }: OwnArchive,
): string | undefined {
  const isHeld = (path: string) => {
    const full = resolve(call.cwd ?? home, atHome(path, home));
    return isInside(dataDir, full) && HELD.test(relative(dataDir, full));
  };
  const shows = "it reads the files of the archive";
  if (role === "read" || role === "search") return pathsIn(call.tool_input, role).some(isHeld) ? shows : undefined;
  if (role !== "shell") return undefined;
  const { command } = toolCall(call.tool_input);
  const said = COMMAND.exec(command)?.slice(1).find(Boolean);
  if (said !== undefined) return TOLD[said];
  if (
    port !== undefined &&
    new RegExp(`(?:127\\.0\\.0\\.1|localhost|\\[::1\\]|0\\.0\\.0\\.0):${port}/api\\b`).test(command)
  )
    return "it asks the archive's service";
  const words = command.replace(/--data-dir[=\s]+\S+/g, "").match(/[^\s;&|<>"'`()=]+/g) ?? [];
  return words.some((word) => /[\\/]/.test(word) && isHeld(word)) ? shows : undefined;
}

const atHome = (path: string, home: string) => path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=[\\/]|$)/, () => join(home));
