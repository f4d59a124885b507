/** Assistants whose conversations cannot be read: where they are found, and why nothing is imported. */
import { join } from "node:path";
import type { DoctorCheck } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { isFolder } from "sessarc/files";

/** `encrypted`: on this machine, sealed. `server`: on the maker's server. */
type ClosedReason = "encrypted" | "server";

export interface ClosedTool {
  tool: string;
  label: string;
  /** The folder that was found. */
  path: string;
  reason: ClosedReason;
}

interface Closed extends Omit<ClosedTool, "path"> {
  /** Below the home. */
  folders: readonly string[];
  /** A variable that names such a folder. */
  variable?: string;
}

const CLOSED: readonly Closed[] = [
  { tool: "windsurf", label: "Windsurf", reason: "encrypted", folders: [".codeium/windsurf/cascade"] },
  { tool: "amp", label: "Amp", reason: "server", folders: [".local/share/amp"], variable: "AMP_DATA_DIR" },
  {
    tool: "trae",
    label: "Trae",
    reason: "encrypted",
    folders: ["Library/Application Support/Trae", ".config/Trae", "AppData/Roaming/Trae"],
  },
  {
    tool: "trae-cn",
    label: "Trae CN",
    reason: "encrypted",
    folders: ["Library/Application Support/Trae CN", ".config/Trae CN", "AppData/Roaming/Trae CN"],
  },
];

/** Those found on this machine, each with its first folder. One `stat` per known folder. */
export async function findClosed({ home, env }: AdapterEnv): Promise<ClosedTool[]> {
  const found = await Promise.all(
    CLOSED.map(async ({ tool, label, reason, folders, variable }) => {
      const named = variable === undefined ? undefined : env[variable];
      for (const path of [...(named ? [named] : []), ...folders.map((folder) => join(home, folder))])
        if (await isFolder(path)) return [{ tool, label, path, reason }];
      return [];
    }),
  );
  return found.flat();
}

const WHY: Record<ClosedReason, string> = {
  encrypted: "its conversations are encrypted",
  server: "its conversations are kept on the maker's server",
};

/** Rows for `sessarc doctor`. */
export async function checkClosed(env: AdapterEnv): Promise<DoctorCheck[]> {
  return (await findClosed(env)).map(({ tool, label, path, reason }) => ({
    name: tool,
    status: "ok",
    detail: `${label}: found in ${path}, not imported: ${WHY[reason]}`,
  }));
}
