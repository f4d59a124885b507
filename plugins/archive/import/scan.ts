/** What there is to import: every adapter's roots, listed from directory entries and stat. */
import { access } from "node:fs/promises";
import { type Adapter, type AdapterEnv, isSessarcError, type SessionRef } from "sessarc";

export interface Found {
  id: string;
  ref: SessionRef;
  adapter: Adapter;
}

export interface ToolScan {
  tool: string;
  label: string;
  roots: { path: string; exists: boolean }[];
  sessions: number;
  problems: { path: string; reason: string }[];
}

export interface Scan {
  tools: ToolScan[];
  /** By session id. */
  found: Map<string, Found>;
}

/** Scans all `adapters`. A missing root is no error; a root that cannot be read is a problem of its tool, the others go on. */
export async function scanLogs(adapters: readonly Adapter[], env: AdapterEnv): Promise<Scan> {
  const found = new Map<string, Found>();
  const tools = await Promise.all(adapters.map((adapter) => scanTool(adapter, env, found)));
  return { tools, found };
}

async function scanTool(adapter: Adapter, env: AdapterEnv, found: Map<string, Found>): Promise<ToolScan> {
  const scan: ToolScan = { tool: adapter.name, label: adapter.label, roots: [], sessions: 0, problems: [] };
  for (const path of adapter.roots(env)) {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    scan.roots.push({ path, exists });
    if (!exists) continue;
    try {
      for await (const ref of adapter.scan(path, env)) {
        const id = `${ref.tool}:${ref.key}`;
        const other = found.get(id);
        if (other && (other.ref.size ?? 0) >= (ref.size ?? 0)) {
          if (other.ref.path !== ref.path)
            scan.problems.push({ path: ref.path, reason: `the same session as ${other.ref.path}` });
          continue;
        }
        if (other) scan.problems.push({ path: other.ref.path, reason: `the same session as ${ref.path}` });
        else scan.sessions++;
        found.set(id, { id, ref, adapter });
      }
    } catch (error) {
      scan.problems.push({ path, reason: reasonOf(error) });
    }
  }
  return scan;
}

function reasonOf(error: unknown): string {
  if (isSessarcError(error)) return error.fix ? `${error.message}. ${error.fix}` : error.message;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === "EACCES" || code === "EPERM") return "may not be read";
  return error instanceof Error ? error.message : String(error);
}

/** Changes when the log does. */
export const versionOf = (ref: SessionRef): string => ref.version ?? `${ref.size ?? 0}:${ref.mtime ?? 0}`;
