/** The catalogue of the kernel's own errors: one row per code. Plugins add theirs with `defineErrors`. */
import type { ErrorParams } from "./params.ts";

/** One row of the catalogue. `why` names the thing it happened to; `fix` says what to do about it. Neither may hold a secret. */
export interface ErrorSpec<P> {
  status: number;
  why(params: P): string;
  fix?(params: P): string | undefined;
}

export type ErrorCatalogue<C extends keyof ErrorParams = keyof ErrorParams> = { [K in C]: ErrorSpec<ErrorParams[K]> };

const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;

const from = (file: string | undefined) => (file === undefined ? "" : ` (${file})`);

export const CORE_ERRORS = {
  INVALID_INPUT: { status: 400, why: (p) => p.reason },
  INVALID_JSON: {
    status: 400,
    why: (p) => `The body is not valid JSON: ${p.reason}`,
    fix: () => "Send one JSON value in UTF-8.",
  },
  UNAUTHORIZED: {
    status: 401,
    why: () => "This service asks for its token",
    fix: () => "Open the link sessarc printed when it started, or send `Authorization: Bearer <token>`.",
  },
  FOREIGN_HOST: {
    status: 403,
    why: (p) => `The Host header ${JSON.stringify(p.host)} does not name this service`,
    fix: () => "Use http://127.0.0.1:<port>/, or add the name to `security.hosts` in the configuration.",
  },
  FOREIGN_ORIGIN: {
    status: 403,
    why: (p) => `Requests from ${JSON.stringify(p.origin)} are refused`,
    fix: () => "Only the service's own pages may call it from a browser.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    why: (p) => `No route ${p.method} ${p.path}`,
    fix: () => "GET /api/openapi.json lists every route.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    why: (p) => `${p.method} is not possible here`,
    fix: (p) => `Use ${p.allow.join(", ")}.`,
  },
  BODY_TOO_LARGE: {
    status: 413,
    why: (p) => `The body is larger than ${mib(p.limit)}`,
    fix: () => "Send less in one request.",
  },
  HEAD_TOO_LARGE: { status: 431, why: () => "The request's headers are too large" },
  REQUEST_TIMEOUT: {
    status: 408,
    why: () => "The request did not arrive in time",
    fix: () => "Send the request again.",
  },
  NOT_JSON: {
    status: 415,
    why: (p) => `The body is ${p.type || "untyped"}, not JSON`,
    fix: () => "Send `Content-Type: application/json`, uncompressed UTF-8.",
  },
  SHUTTING_DOWN: {
    status: 503,
    why: () => "sessarc is shutting down",
    fix: () => "Start sessarc again, then repeat the request.",
  },
  INTERNAL: {
    status: 500,
    why: (p) => `Something failed inside sessarc (error id ${p.errorId})`,
    fix: (p) => `Look for ${p.errorId} in the log of the service.`,
  },
  SERVICE_MISSING: {
    status: 500,
    why: (p) => `No plugin provides the service "${p.service}"`,
    fix: () => `Add the plugin that provides it, and name that in \`dependsOn\`.`,
  },
  DUPLICATE_NAME: {
    status: 500,
    why: (p) => `Plugin "${p.plugin}" adds the ${p.what} "${p.name}", which "${p.other}" already has`,
    fix: () => "Rename one of the two, or remove one plugin.",
  },
  PLUGIN_INVALID: {
    status: 500,
    why: (p) =>
      p.plugin === undefined
        ? `"${p.specifier}" is not a plugin: ${p.reason}`
        : `Plugin "${p.plugin}" (${p.specifier}) is not valid: ${p.reason}`,
    fix: (p) => p.remedy ?? "Its default export must be a factory made by definePlugin or defineAdapter.",
  },
  PLUGIN_INCOMPATIBLE: {
    status: 500,
    why: (p) =>
      `Plugin "${p.plugin}" (${p.specifier}) is made for version ${p.needs} of the plugin interface; this sessarc has ${p.has}`,
    fix: () => "Install a version of the plugin, or of sessarc, that fits the other.",
  },
  ADAPTER_INVALID: {
    status: 422,
    why: (p) => `Adapter "${p.adapter}"${from(p.file)}: \`${p.member}\` ${p.reason}`,
    fix: (p) => p.remedy,
  },
  ADAPTER_FAILED: {
    status: 422,
    why: (p) => `${p.path}, ${p.place}: the adapter fails at this row: ${p.reason}`,
    fix: () => "Run the command with `--debug` to see the place in the adapter.",
  },
  ADAPTER_SILENT: {
    status: 504,
    why: (p) =>
      `Adapter "${p.adapter}"${from(p.file)}: \`${p.member}\` did not answer for ${Math.round(p.ms / 1000)} s (${p.path})`,
    fix: (p) =>
      `Check that ${p.path} can be read (a disconnected network drive?). Otherwise the adapter waits for a promise that never resolves.`,
  },
  PLUGIN_MISSING: {
    status: 500,
    why: (p) => `Plugin "${p.name}" is missing (${p.chain.join(" → ")})`,
    fix: (p) => `Add "${p.name}" to the plugins.`,
  },
  PLUGIN_CYCLE: {
    status: 500,
    why: (p) => `Plugins depend on each other in a circle: ${p.chain.join(" → ")}`,
    fix: () => "Remove one of these names from its plugin's `dependsOn`.",
  },
  PLUGIN_TIMEOUT: {
    status: 500,
    why: (p) => `Plugin "${p.plugin}"${from(p.file)} did not finish ${p.step} within ${p.ms} ms`,
    fix: () => "Start long work in setup without awaiting it, and stop it in onClose.",
  },
  PLUGIN_FAILED: {
    status: 500,
    why: (p) => `Plugin "${p.plugin}"${from(p.file)} failed in ${p.step}: ${p.reason}`,
    fix: (p) => p.remedy,
  },
  PLUGIN_BLOCKED: {
    status: 500,
    why: (p) => `Plugin "${p.plugin}"${from(p.file)} blocked the process for ${Math.round(p.ms / 1000)} s in ${p.step}`,
    fix: (p) =>
      `Its code must not run that long without an await. A start after the file was changed takes it again; else delete ${p.record}.`,
  },
  PLUGIN_LEFT_ERROR: {
    status: 500,
    why: (p) => `Plugin "${p.plugin}" caused an uncaught error: ${p.reason}`,
    fix: () =>
      "The service continues. In the plugin, await the promise or catch its error; catch errors inside timers and listeners.",
  },
  WORKER_ENDED: {
    status: 500,
    why: (p) => `A worker thread ended before its task was done: ${p.reason}`,
    fix: () => "Try again: a new thread is started. If it ends each time, remove the plugin whose task it ran.",
  },
  CLOSE_FAILED: { status: 500, why: (p) => `${p.count} part(s) failed while closing: ${p.reason}` },
  CONFIG_UNKNOWN_KEY: {
    status: 500,
    why: (p) => `Unknown key "${p.key}" in ${p.where}`,
    fix: (p) => (p.nearest ? `Did you mean "${p.nearest}"?` : undefined),
  },
  CONFIG_INVALID: { status: 500, why: (p) => `"${p.key}" in ${p.where}: ${p.reason}` },
  SETTING_FIXED: {
    status: 409,
    why: (p) => `"${p.key}" is set on the command line for this run`,
    fix: () => "Start the service without that flag to change it here.",
  },
  CONFIG_UNREADABLE: {
    status: 500,
    why: (p) => `The configuration ${p.file} cannot be read: ${p.reason}`,
    fix: () => "Repair the file, or name another one with --config.",
  },
  PORT_TAKEN: {
    status: 500,
    why: (p) => `Port ${p.port} on ${p.host} is in use`,
    fix: () => "Choose another with --port, or leave it out to take the next free one.",
  },
  HOST_UNUSABLE: {
    status: 500,
    why: (p) => `Cannot listen on ${p.host} port ${p.port}: ${p.reason}`,
    fix: () => "Leave --host out for 127.0.0.1; ports below 1024 need more rights.",
  },
  WATCH_FAILED: { status: 500, why: (p) => `Cannot watch ${p.root}: ${p.reason}` },
  COMMAND_FAILED: { status: 500, why: (p) => `Cannot run ${p.command}: it ${p.reason}` },
  PATH_OUTSIDE: { status: 422, why: (p) => `${JSON.stringify(p.path)} is outside of its allowed folder` },
  SERVICE_NOT_STARTED: {
    status: 503,
    why: (p) => `The service did not start: ${p.reason}`,
    fix: () => "`sessarc logs` shows what it wrote; `sessarc serve` starts it in this terminal.",
  },
  SERVICE_NOT_STOPPED: {
    status: 503,
    why: (p) => `The service (pid ${p.pid}) does not end`,
    fix: (p) => `End that process: \`kill -9 ${p.pid}\`. What it acknowledged is stored.`,
  },
  LOGIN_ENTRY_TAKEN: {
    status: 409,
    why: (p) => `${p.path} exists and was not written by sessarc`,
    fix: () => "Move it away, or start sessarc from it yourself.",
  },
  LOGIN_COMMAND_FAILED: {
    status: 502,
    why: (p) => `\`${p.command}\` failed: ${p.reason}`,
    fix: () => "`sessarc stop --at-login` takes back what was written.",
  },
  ARCHIVE_LOCKED: {
    status: 409,
    why: (p) => `The archive is open in another process (pid ${p.pid}${p.url ? `, ${p.url}` : ""})`,
    fix: (p) => (p.url ? `Use ${p.url}, or stop that process.` : "Stop that process, or use another data directory."),
  },
  ARCHIVE_NEWER: {
    status: 409,
    why: (p) =>
      `The archive is of a newer version: it has ${p.has} migrations of "${p.plugin}", this version knows ${p.knows}`,
    fix: () => "Use that version (`npx sessarc@latest` is the newest), or another data directory.",
  },
  ARCHIVE_FORMAT: {
    status: 409,
    why: (p) => `${p.path} is of another format, which this version of sessarc does not read`,
    fix: () =>
      "Move the data directory away, or choose another with --data-dir, and run `sessarc import`: it imports all logs that still exist.",
  },
  ARCHIVE_OTHER: {
    status: 409,
    why: (p) =>
      `Migration ${p.number} of "${p.plugin}" is not the one that made this archive: its format is older, or the plugin was edited`,
    fix: () =>
      "If you edited the plugin, take the edit back and append another migration. Otherwise move the data directory away, or choose another with --data-dir, and run `sessarc import`: it imports all logs that still exist.",
  },
  ARCHIVE_OLDER: {
    status: 409,
    why: (p) =>
      `The archive is of an older version, with ${p.has} of ${p.knows} migrations of "${p.plugin}", and open for reading only`,
    fix: () =>
      "Start this version once where the archive can be written, or copy the folder and give the copy with --data-dir.",
  },
  STORAGE_FULL: {
    status: 507,
    why: (p) =>
      `The disk is full${p.needed ? ` (${mib(p.needed)} more needed)` : ""}; ${p.done ? `${p.done} were done, the rest is unchanged` : "nothing was changed"}`,
    fix: () => "Free space on the file system of the data directory, then try again.",
  },
  STORAGE_READ_ONLY: {
    status: 409,
    why: (p) => (p.path ? `${p.path} cannot be written` : "The archive is open for reading only"),
    fix: (p) =>
      p.path
        ? "Check the permissions of the data directory and whether its file system is mounted read-only."
        : "Close the other process, check the permissions of the data directory, or free space on its disk; then start again.",
  },
  STORAGE_REPLACED: {
    status: 503,
    why: (p) => `${p.path} was removed or replaced while it was in use; sessarc stopped writing`,
    fix: () => "Start sessarc again.",
  },
  CATALOG_DAMAGED: {
    status: 500,
    why: (p) => `The catalogue is damaged: ${p.reason}`,
    fix: () =>
      "Run `sessarc doctor --fix`: it rebuilds the catalogue from what can still be read and keeps the damaged files. Then run `sessarc import`.",
  },
  TRANSCRIPT_DAMAGED: {
    status: 500,
    why: (p) => `The stored messages of ${p.key} are damaged: ${p.reason}`,
    fix: () => "Import the session again, or run `sessarc doctor --fix`. Both read its log again if it still exists.",
  },
  SESSION_NOT_FOUND: {
    status: 404,
    why: (p) => (p.id === "last" ? "The archive has no session" : `No session ${p.id}`),
    fix: (p) =>
      p.id === "last"
        ? "`sessarc import` imports what your assistants logged."
        : "`sessarc sessions` (GET /sessions) lists the ids. `sessarc import` imports sessions that are not archived yet.",
  },
  PROJECT_NOT_FOUND: {
    status: 404,
    why: (p) => `No project ${p.id}${p.near ? `; did you mean ${p.near}?` : ""}`,
    fix: () => "`sessarc projects` (GET /projects) lists the names and ids.",
  },
  SOURCE_MISSING: {
    status: 409,
    why: (p) => `The log of ${p.id} no longer exists`,
    fix: () => "The archived copy is still readable.",
  },
  SOURCE_BUSY: {
    status: 409,
    why: (p) => `The log of ${p.id} changed while it was read`,
    fix: () => "Try again when the assistant is idle.",
  },
  SOURCE_DAMAGED: { status: 422, why: (p) => `The log of ${p.id} cannot be read: ${p.reason}` },
  SOURCE_TOO_LARGE: {
    status: 422,
    why: (p) => `The log of ${p.id} has ${mib(p.bytes)}, more than the limit of ${mib(p.limit)}`,
    fix: (p) => p.remedy ?? "Node 22.5 and later read it without this limit.",
  },
  SETTINGS_UNUSABLE: {
    status: 409,
    why: (p) => `${p.path} was not changed: ${p.reason}`,
    fix: () => "Repair the file, then try again.",
  },
  SETTINGS_CHANGED: {
    status: 409,
    why: (p) => `${p.path} is being changed by another program`,
    fix: () => "Try again in a moment.",
  },
} as const satisfies ErrorCatalogue<CoreCode>;

type CoreCode =
  | "INVALID_INPUT"
  | "INVALID_JSON"
  | "UNAUTHORIZED"
  | "FOREIGN_HOST"
  | "FOREIGN_ORIGIN"
  | "ROUTE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "BODY_TOO_LARGE"
  | "HEAD_TOO_LARGE"
  | "REQUEST_TIMEOUT"
  | "NOT_JSON"
  | "SHUTTING_DOWN"
  | "INTERNAL"
  | "SERVICE_MISSING"
  | "DUPLICATE_NAME"
  | "PLUGIN_INVALID"
  | "PLUGIN_INCOMPATIBLE"
  | "ADAPTER_INVALID"
  | "ADAPTER_FAILED"
  | "ADAPTER_SILENT"
  | "PLUGIN_BLOCKED"
  | "PLUGIN_MISSING"
  | "PLUGIN_CYCLE"
  | "PLUGIN_TIMEOUT"
  | "PLUGIN_FAILED"
  | "PLUGIN_LEFT_ERROR"
  | "WORKER_ENDED"
  | "CLOSE_FAILED"
  | "CONFIG_UNKNOWN_KEY"
  | "CONFIG_INVALID"
  | "CONFIG_UNREADABLE"
  | "SETTING_FIXED"
  | "PORT_TAKEN"
  | "HOST_UNUSABLE"
  | "WATCH_FAILED"
  | "COMMAND_FAILED"
  | "PATH_OUTSIDE"
  | "SERVICE_NOT_STARTED"
  | "SERVICE_NOT_STOPPED"
  | "LOGIN_ENTRY_TAKEN"
  | "LOGIN_COMMAND_FAILED"
  | "ARCHIVE_LOCKED"
  | "ARCHIVE_NEWER"
  | "ARCHIVE_FORMAT"
  | "ARCHIVE_OTHER"
  | "ARCHIVE_OLDER"
  | "STORAGE_FULL"
  | "STORAGE_READ_ONLY"
  | "STORAGE_REPLACED"
  | "CATALOG_DAMAGED"
  | "TRANSCRIPT_DAMAGED"
  | "SESSION_NOT_FOUND"
  | "PROJECT_NOT_FOUND"
  | "SOURCE_MISSING"
  | "SOURCE_BUSY"
  | "SOURCE_DAMAGED"
  | "SOURCE_TOO_LARGE"
  | "SETTINGS_UNUSABLE"
  | "SETTINGS_CHANGED";
