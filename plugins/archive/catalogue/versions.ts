/** Assistants that wrote sessions with a version newer than the one that was tried. */
import { type DoctorCheck, ISSUES, type Kernel, versionNumbers } from "sessarc";

export interface Versions {
  /** A session of this version was stored. */
  saw(tool: string, version: string | undefined): Promise<void>;
  /** Undefined if there are none. The first call reads an index of all sessions; later ones read nothing. */
  check(): Promise<DoctorCheck | undefined>;
}

export function createVersions({ registry, storage }: Pick<Kernel, "registry" | "storage">): Versions {
  let known: Promise<Map<string, string>> | undefined;
  const add = (newest: Map<string, string>, tool: string, version: string) => {
    if (versionNumbers(version) === undefined) return;
    const last = newest.get(tool);
    if (last === undefined || isNewerVersion(version, last)) newest.set(tool, version);
  };
  async function read(): Promise<Map<string, string>> {
    const rows = await storage.db.all<{ tool: string; version: string }>(
      `select distinct tool, assistant_version as version from session where assistant_version is not null`,
    );
    const newest = new Map<string, string>();
    for (const { tool, version } of rows) add(newest, tool, version);
    return newest;
  }
  return {
    async saw(tool, version) {
      // Before the first check there is nothing to keep up to date.
      if (known && version !== undefined) add(await known, tool, version);
    },
    async check() {
      known ??= read();
      const newest = await known.catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      const named = [...newest].flatMap(([tool, version]) => {
        const { label = tool, tried } = registry.adapters.get(tool) ?? {};
        return tried !== undefined && isNewerVersion(version, tried) ? [`${label} ${version} (tried: ${tried})`] : [];
      });
      if (named.length === 0) return undefined;
      return {
        name: "versions",
        status: "warn",
        detail: `Sessions are from newer versions than those that were tried: ${named.sort().join(", ")}`,
        fix: `Update sessarc. If messages or figures of such a session look wrong, report it: ${ISSUES}`,
      };
    },
  };
}

/** Whether `version` has larger numbers than `other`. What follows the numbers does not count; false where one of them is not a version. */
function isNewerVersion(version: string, other: string): boolean {
  const [a, b] = [versionNumbers(version), versionNumbers(other)];
  if (!a || !b) return false;
  const at = Array.from({ length: Math.max(a.length, b.length) }).findIndex(
    (_, place) => (a[place] ?? 0) !== (b[place] ?? 0),
  );
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}
