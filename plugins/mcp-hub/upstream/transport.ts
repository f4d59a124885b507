/** The way to a service as the SDK's client wants it: a child process, streamable HTTP, or the older event stream. */
import type { Transport } from "@modelcontextprotocol/client";
import type { AdapterEnv } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import { type ServerProcess, startProcess } from "./process.ts";
import type { Watchdog } from "./watchdog.ts";

const MAX_ANSWER = 32 * 2 ** 20;

export interface UpstreamTransport {
  transport: Transport;
  /** What a process last wrote to its error output; empty for the others. */
  lastErrors(): string;
  /** Why it ended by itself; undefined while it runs, and after an orderly end. */
  ended(): string | undefined;
}

/** Loads the SDK's client; starts nothing. Throws for a reference to a variable that is not set. */
export async function openTransport(
  entry: ServiceEntry,
  env: AdapterEnv,
  watchdog: Watchdog,
): Promise<UpstreamTransport> {
  const fill = (text: string) => resolveReferences(text, env.env);
  if (entry.transport === "stdio") return stdioTransport(entry, env, watchdog, fill);
  const url = new URL(fill(entry.url ?? ""));
  if (!/^https?:$/.test(url.protocol)) throw new Error("its url is not an http or https address");
  const requestInit = { headers: headersOf(entry, url, fill) };
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import("@modelcontextprotocol/client");
  const options = { requestInit, fetch: limitedFetch };
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
        onLine: (line) => receive(transport, line),
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
  return { transport, lastErrors: () => child?.lastErrors() ?? "", ended: () => ended };
}

/** A line that is no message (programs greet on standard output) is left out. */
function receive(transport: Transport, line: string): void {
  if (line.charCodeAt(0) !== 0x7b) return;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    transport.onerror?.(new Error("It wrote a line that is not JSON"));
    return;
  }
  // The SDK checks what kind of message it is; the fields are the services' own affair.
  transport.onmessage?.(message as Parameters<NonNullable<Transport["onmessage"]>>[0]);
}

/** What a program needs to run at all. Nothing else of our environment is a service's business. */
const INHERITED =
  /^(PATH|SHELL|TERM|USER|LOGNAME|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|NODE_EXTRA_CA_CERTS|SSL_CERT_.*|(HTTPS?|NO|ALL)_PROXY|NVM_.*|VOLTA_HOME|FNM_.*|ASDF_.*|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES.*|SYSTEMROOT|SYSTEMDRIVE|USERPROFILE|PATHEXT|COMSPEC|HOMEDRIVE|HOMEPATH|SSH_AUTH_SOCK|DISPLAY|WAYLAND_DISPLAY|DOCKER_HOST)$/i;

function inherited(env: AdapterEnv["env"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && INHERITED.test(name)) kept[name] = value;
  return kept;
}

function headersOf(entry: ServiceEntry, url: URL, fill: (text: string) => string): Record<string, string> {
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
export function resolveReferences(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = env[name] ?? otherwise;
    if (value === undefined) throw new Error(`the variable ${name} is not set`);
    return value;
  });
}

/** Never on to another place with our headers, and no answer without an end: a stream's limit holds for each event. */
async function limitedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  // "manual" even where a caller asks for more: a redirect is answered as it is, and the transports refuse it.
  const response = await fetch(input, { ...init, redirect: "manual" });
  if (!response.body) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream");
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (isStream && endsEvent(chunk)) size = 0;
      if (size > MAX_ANSWER) controller.error(new Error(`its answer is larger than ${MAX_ANSWER / 2 ** 20} MiB`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

const endsEvent = (chunk: Uint8Array) => chunk.at(-1) === 10 && (chunk.at(-2) === 10 || chunk.at(-3) === 10);
