/** The way to a service as the SDK's client wants it: a child process, streamable HTTP, or the older event stream. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { AdapterEnv } from "sessarc/adapter";
import type { ServiceEntry } from "../entry.ts";
import { LARGE } from "../large.ts";
import type { AuthFor } from "./auth.ts";
import { limitedFetch, MAX_ANSWER } from "./fetch.ts";
import { type ServerProcess, startProcess } from "./process.ts";
import type { Watchdog } from "./watchdog.ts";

export interface UpstreamTransport {
  transport: Transport;
  /** Reads a large line; resolves to undefined for one that is to be parsed as any other. */
  onLarge?: ((line: Buffer) => Promise<JSONRPCMessage | undefined>) | undefined;
  /** What a process last wrote to its error output; empty for the others. */
  lastErrors(): string;
  /** Why it ended without being asked to; undefined while it runs, and after an orderly end. */
  ended(): string | undefined;
}

/** Where a service over HTTP is. Throws for an invalid address, and for a variable that is not set. */
export function toAddress({ url: text }: ServiceEntry, env: AdapterEnv["env"]): URL {
  const url = new URL(resolveReferences(text ?? "", env));
  if (!/^https?:$/.test(url.protocol)) throw new Error("its url is not an http or https address");
  return url;
}

/** Loads the SDK's client; starts nothing. Throws for a reference to a variable that is not set. */
export async function openTransport(
  entry: ServiceEntry,
  env: AdapterEnv,
  watchdog: Watchdog,
  authFor: AuthFor,
): Promise<UpstreamTransport> {
  const fill = (text: string) => resolveReferences(text, env.env);
  if (entry.transport === "stdio") return stdioTransport(entry, env, watchdog, fill);
  const url = toAddress(entry, env.env);
  const requestInit = { headers: toHeaders(entry, url, fill) };
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import("@modelcontextprotocol/client");
  const authProvider = entry.credential?.kind === "oauth" ? authFor(entry, url.href) : undefined;
  const options = { requestInit, fetch: limitedFetch, ...(authProvider ? { authProvider } : {}) };
  const transport =
    entry.transport === "http"
      ? new StreamableHTTPClientTransport(url, { ...options, redirectPolicy: "same-origin" })
      : new SSEClientTransport(url, options);
  return { transport, lastErrors: () => "", ended: () => undefined };
}

function stdioTransport(
  entry: ServiceEntry,
  { env, home }: AdapterEnv,
  watchdog: Watchdog,
  fill: (text: string) => string,
): UpstreamTransport {
  let child: ServerProcess | undefined;
  let ended: string | undefined;
  let stopping = false;
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry.env)) own[name] = fill(value);
  if (entry.credential?.kind === "env") own[entry.credential.name] = fill(entry.credential.value);
  const transport: Transport = {
    async start() {
      child = startProcess({
        command: fill(entry.command ?? ""),
        args: entry.args.map(fill),
        env: { ...inherited(env), HOME: home, ...own },
        cwd: entry.cwd === null ? undefined : fill(entry.cwd),
        watchdog,
        maxLine: MAX_ANSWER,
        onLine: (line) => receive(opened, line),
        onEnd: (reason) => {
          if (!stopping) ended = reason;
          transport.onclose?.();
        },
      });
      await child.started;
    },
    send: async (message) => {
      if (!child) throw new Error("it is not started");
      await child.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      stopping = true;
      await child?.stop();
    },
  };
  const opened: UpstreamTransport = {
    transport,
    lastErrors: () => child?.lastErrors() ?? "",
    ended: () => ended,
  };
  return opened;
}

/** Lines that are not messages (programs greet on standard output) are ignored. */
function receive({ transport, onLarge }: UpstreamTransport, line: Buffer): void {
  if (line[0] !== 0x7b) return;
  if (line.length < LARGE || !onLarge) parse(transport, line);
  else void onLarge(line).then((message) => (message ? transport.onmessage?.(message) : parse(transport, line)));
}

function parse(transport: Transport, line: Buffer): void {
  let message: unknown;
  try {
    message = JSON.parse(line.toString("utf8"));
  } catch {
    transport.onerror?.(new Error("It wrote a line that is not JSON"));
    return;
  }
  // The SDK checks what kind of message it is; the fields are the services' own affair.
  transport.onmessage?.(message as Parameters<NonNullable<Transport["onmessage"]>>[0]);
}

/** What a program needs to run at all. Nothing else of our environment is a service's business. */
const INHERITED = new RegExp(
  `^(?:${[
    /PATH|SHELL|TERM|USER|LOGNAME|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|NODE_EXTRA_CA_CERTS|SSL_CERT_.*/,
    /(HTTPS?|NO|ALL)_PROXY|NVM_.*|VOLTA_HOME|FNM_.*|ASDF_.*|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES.*/,
    /SYSTEMROOT|SYSTEMDRIVE|USERPROFILE|PATHEXT|COMSPEC|HOMEDRIVE|HOMEPATH|SSH_AUTH_SOCK|DISPLAY|WAYLAND_DISPLAY/,
    /DOCKER_HOST/,
  ]
    .map((part) => part.source)
    .join("|")})$`,
  "i",
);

function inherited(env: AdapterEnv["env"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && INHERITED.test(name)) kept[name] = value;
  return kept;
}

function toHeaders(entry: ServiceEntry, url: URL, fill: (text: string) => string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry.headers)) headers[name.toLowerCase()] = fill(value);
  const { credential } = entry;
  if (credential?.kind === "bearer") headers.authorization = `Bearer ${fill(credential.value)}`;
  if (credential?.kind === "header") headers[credential.name.toLowerCase()] = fill(credential.value);
  if (url.username || url.password) {
    // fetch refuses addresses with a user in them.
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization ??= `Basic ${Buffer.from(user).toString("base64")}`;
    url.username = "";
    url.password = "";
  }
  return headers;
}

/** `${NAME}` and `${NAME:-otherwise}`. Throws for a name that is not set. */
function resolveReferences(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = env[name] ?? otherwise;
    if (value === undefined) throw new Error(`the variable ${name} is not set`);
    return value;
  });
}
