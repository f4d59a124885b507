/** What the kernel says about itself; plugins add their part in hooks. */
import type { Json } from "../utils/json.ts";

/** One row of `sessarc doctor`: what was checked, how it is, and what to do. */
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
  /** True when safe repairs are requested. */
  fix: boolean;
  /** Aborts when the report is no longer needed. */
  signal?: AbortSignal | undefined;
}

/** Filled by listeners of `status:collect`: they set known figures of `storage`, or add a key (`sync`, `isolation`). */
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
  /** The service's process; of one in the background, when and why it was started again. */
  process: {
    pid: number;
    memoryBytes: number;
    /** Time of a processor since its start. */
    processorMs: number;
    restarts: { at: string; how: string; reason: string }[];
  };
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
  /** Number of uncaught errors of a running plugin. Absent for a plugin that was left out. */
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
  /** Comes with sessarc; false for one that the configuration adds. */
  builtIn: boolean;
  /** Load time (migrations, routes, hooks, setup) in ms; null before it booted. */
  ms: number | null;
}
