/** What the kernel says about itself; plugins add their part in hooks. */
import type { Json } from "../utils/json.ts";

export interface DoctorCheck {
  name: string;
  status: "ok" | "warn" | "fail";
  detail: string;
  /** What to do about it. */
  fix?: string | undefined;
}

/** Payload of `doctor:check`. */
export interface DoctorReport {
  checks: DoctorCheck[];
  /** True when what is safe to mend shall be mended. */
  fix: boolean;
  /** Aborts when nobody waits for it any more. */
  signal?: AbortSignal | undefined;
}

/** Filled by listeners of `status:collect`: they set figures of `storage` they know, or a key of their own (`sync`, `isolation`). */
export interface StatusReport {
  version: string;
  mode: "standalone" | "dev";
  /** null when nothing listens (a kernel without a socket). */
  port: number | null;
  dataDir: string;
  storage: {
    catalogBytes: number;
    transcriptBytes: number;
    sessions: number;
    messages: number;
    /** Sessions of which a transcript could not be read. */
    damaged?: number;
    /** Nothing can be written: present when that is so. */
    readOnly?: boolean;
  };
  uptimeMs: number;
  /** Labels of the assistants that are read, by the name of their adapter. */
  tools: Record<string, string>;
  [section: string]: Json;
}

/** A plugin that was left out, or a setting that no plugin takes. */
export interface PluginProblem {
  /** Its name; where it was to come from when it has none. */
  plugin: string;
  code: string;
  message: string;
  fix: string | null;
  /** How often, where it goes on: an error that nobody caught. Absent for one that was left out. */
  count?: number;
}

/** One row of GET /api/plugins. */
export interface PluginInfo {
  name: string;
  /** null for one that does not say. */
  version: string | null;
  dependsOn: string[];
  /** `GET /sessions/:id`, and full paths for other mounts. */
  routes: string[];
  hooks: string[];
  services: string[];
  commands: string[];
  adapter: string | null;
  /** Load time (migrations, routes, hooks, setup) in ms; null before it booted. */
  ms: number | null;
}
