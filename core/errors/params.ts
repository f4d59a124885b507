/** The parameters of the kernel's errors. */

/** What a code needs to say its sentence. Augmented by plugins: `declare module "sessarc" { interface ErrorParams { … } }`. */
export interface ErrorParams {
  INVALID_INPUT: { reason: string };
  INVALID_JSON: { reason: string };
  UNAUTHORIZED: Nothing;
  FOREIGN_HOST: { host: string };
  FOREIGN_ORIGIN: { origin: string };
  ROUTE_NOT_FOUND: { method: string; path: string };
  METHOD_NOT_ALLOWED: { method: string; allow: readonly string[] };
  BODY_TOO_LARGE: { limit: number };
  HEAD_TOO_LARGE: Nothing;
  REQUEST_TIMEOUT: Nothing;
  NOT_JSON: { type: string };
  SHUTTING_DOWN: Nothing;
  INTERNAL: { errorId: string };
  SERVICE_MISSING: { service: string };
  DUPLICATE_NAME: { what: string; name: string; plugin: string; other: string };
  PLUGIN_INVALID: {
    specifier: string;
    plugin?: string | undefined;
    reason: string;
    remedy?: string | undefined;
  };
  PLUGIN_INCOMPATIBLE: { plugin: string; specifier: string; needs: string; has: string };
  ADAPTER_INVALID: { adapter: string; file?: string | undefined; member: string; reason: string; remedy: string };
  ADAPTER_SILENT: { adapter: string; file?: string | undefined; member: string; path: string; ms: number };
  ADAPTER_FAILED: { path: string; place: string; reason: string };
  PLUGIN_MISSING: { name: string; chain: readonly string[] };
  PLUGIN_CYCLE: { chain: readonly string[] };
  PLUGIN_TIMEOUT: { plugin: string; file?: string | undefined; step: string; ms: number };
  PLUGIN_BLOCKED: { plugin: string; file?: string | undefined; step: string; ms: number; record: string };
  PLUGIN_FAILED: {
    plugin: string;
    file?: string | undefined;
    step: string;
    reason: string;
    remedy?: string | undefined;
  };
  PLUGIN_LEFT_ERROR: { plugin: string; reason: string };
  WORKER_ENDED: { reason: string };
  CLOSE_FAILED: { count: number; reason: string };
  CONFIG_UNKNOWN_KEY: { key: string; where: string; nearest?: string | undefined };
  CONFIG_INVALID: { key: string; where: string; reason: string };
  CONFIG_UNREADABLE: { file: string; reason: string };
  SETTING_FIXED: { key: string };
  PORT_TAKEN: { port: number; host: string };
  HOST_UNUSABLE: { host: string; port: number; reason: string };
  WATCH_FAILED: { root: string; reason: string };
  COMMAND_FAILED: { command: string; reason: string };
  PATH_OUTSIDE: { path: string };
  SERVICE_NOT_STARTED: { reason: string };
  SERVICE_NOT_STOPPED: { pid: number };
  LOGIN_ENTRY_TAKEN: { path: string };
  LOGIN_COMMAND_FAILED: { command: string; reason: string };
  ARCHIVE_LOCKED: { pid: number; url?: string | undefined };
  ARCHIVE_FORMAT: { path: string };
  ARCHIVE_OTHER: { plugin: string; number: number };
  ARCHIVE_NEWER: { plugin: string; has: number; knows: number };
  ARCHIVE_OLDER: { plugin: string; has: number; knows: number };
  /** `done`: what was stored before of something that is done bit by bit, in words ("40 sessions"). */
  STORAGE_FULL: { needed?: number | undefined; done?: string | undefined };
  STORAGE_READ_ONLY: { path?: string | undefined };
  STORAGE_REPLACED: { path: string };
  CATALOG_DAMAGED: { reason: string };
  TRANSCRIPT_DAMAGED: { key: string; reason: string };
  SESSION_NOT_FOUND: { id: string };
  PROJECT_NOT_FOUND: { id: string; near?: string | undefined };
  SOURCE_MISSING: { id: string };
  SOURCE_BUSY: { id: string };
  SOURCE_DAMAGED: { id: string; reason: string };
  SOURCE_TOO_LARGE: { id: string; bytes: number; limit: number; remedy?: string | undefined };
  SETTINGS_UNUSABLE: { path: string; reason: string };
  SETTINGS_CHANGED: { path: string };
}

/** Params of a code that needs none: `{}`. */
export type Nothing = Record<never, never>;
