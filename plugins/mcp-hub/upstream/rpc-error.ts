/** Errors as JSON-RPC has them: what goes back to a client with its code. */
import { isRecord, SessarcError } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import { hideValues, toSecrets } from "../vault/mask.ts";
import "../errors.ts";

export const INVALID_PARAMS = -32602;
export const METHOD_NOT_FOUND = -32601;
export const INTERNAL = -32603;

export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.data = data;
  }
}

/**
 * What a failed request to a service becomes: the service's own error with its code, or UPSTREAM_TIMEOUT, or UPSTREAM_FAILED. None
 * shows a secret of the service. An abort stays what it is.
 */
export function toFailure(entry: ServiceEntry, error: unknown, timeoutMs = entry.timeoutMs): Error {
  if (error instanceof RpcError || error instanceof SessarcError) return error;
  const secrets = toSecrets(entry);
  const refused = accessRefused(entry, error);
  if (refused) return new SessarcError("UPSTREAM_FAILED", { service: entry.id, reason: refused });
  const message = hideValues(toMessage(error), secrets);
  const code = isRecord(error) || error instanceof Error ? (error as { code?: unknown }).code : undefined;
  if (code === "REQUEST_TIMEOUT") return new SessarcError("UPSTREAM_TIMEOUT", { service: entry.id, ms: timeoutMs });
  if (typeof code === "number" && Number.isSafeInteger(code)) {
    const { data } = error as { data?: unknown };
    return new RpcError(code, message.replace(/^MCP error -?\d+: /, ""), hideIn(data, secrets));
  }
  return new SessarcError("UPSTREAM_FAILED", { service: entry.id, reason: message });
}

/** What to do about a service that wants to know who asks; undefined for any other failure. */
export function accessRefused({ id, transport }: ServiceEntry, error: unknown): string | undefined {
  if (transport === "stdio" || !(error instanceof Error)) return undefined;
  const refused = error.name === "UnauthorizedError" || (error as { status?: unknown }).status === 401;
  return refused ? `it asks who is there: sessarc mcp sign-in ${id}, or give it a credential` : undefined;
}

function hideIn(data: unknown, secrets: readonly string[]): unknown {
  if (data === undefined) return undefined;
  return JSON.parse(hideValues(JSON.stringify(data), secrets)) as unknown;
}

/** One line, and what lies behind a bare "fetch failed". */
export function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const detail = error.message === "fetch failed" && cause instanceof Error ? `: ${cause.message}` : "";
  return (error.message + detail).slice(0, 2_000);
}

/** Words of a service about a session that is not there any more, or a handshake that it has not seen. */
const FORGOTTEN = [
  /\bsession\b.{0,40}\b(?:not? (?:found|known|valid|active|longer|such|exist\w*)|unknown|invalid|expired|missing|required|closed|terminated|gone|lost|does(?: not|n't) exist)/is,
  /\b(?:no|unknown|invalid|expired|missing|stale|bad|required?)\b.{0,30}\bsession\b/is,
  /\bnot (?:yet |been )*initiali[sz]ed\b|\binitiali[sz]\w+ (?:is )?required\b|\bbefore initiali[sz]/i,
];

/**
 * Whether an HTTP service no longer knows the session of a connection: then another one is worth a try. `refused`: it answered 404 (as the
 * protocol asks) or another 4xx, so the request was not carried out. `reported`: an error in an answer of status 200, which a tool may have
 * made as well. A 400 counts whatever its words are where the connection has a session: servers of the official SDK have several.
 */
export function lostSession(error: unknown, hasSession: boolean): "refused" | "reported" | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, code, message } = error as Error & { status?: unknown; code?: unknown };
  const isSaid = FORGOTTEN.some((words) => words.test(message.replaceAll(/[-_]/g, " ")));
  if (typeof status === "number" && status >= 400) {
    if (status === 404 || status === 410 || (status === 400 && (hasSession || isSaid))) return "refused";
    return isSaid ? (status < 500 ? "refused" : "reported") : undefined;
  }
  return hasSession && isSaid && typeof code === "number" ? "reported" : undefined;
}
