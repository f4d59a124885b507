/** Assistants that wrote sessions with a version newer than the one that was tried. */
import type { DoctorCheck, Kernel } from "sessarc";
import { ISSUES, isNewerVersion } from "#internal";

/** Undefined if there are none. Reads the catalogue, no log. */
export async function checkVersions({ registry, storage }: Kernel): Promise<DoctorCheck | undefined> {
  const rows = await storage.db.all<{ tool: string; version: string }>(
    `select distinct tool, json_extract(logged, '$.assistantVersion') as version from session
     where logged like '%"assistantVersion"%' order by tool`,
  );
  const newest = new Map<string, string>();
  for (const { tool, version } of rows) {
    const { tried } = registry.adapters.get(tool) ?? {};
    if (tried !== undefined && isNewerVersion(version, newest.get(tool) ?? tried)) newest.set(tool, version);
  }
  if (newest.size === 0) return undefined;
  const named = [...newest].map(([tool, version]) => {
    const { label = tool, tried = "" } = registry.adapters.get(tool) ?? {};
    return `${label} ${version} (tried: ${tried})`;
  });
  return {
    name: "versions",
    status: "warn",
    detail: `Sessions are from newer versions than those that were tried: ${named.join(", ")}`,
    fix: `Update sessarc. If messages or figures of such a session look wrong, report it: ${ISSUES}`,
  };
}
