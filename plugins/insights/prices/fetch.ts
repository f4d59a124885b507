/** One request for the published price table. Nothing is sent but the address and the tag of the table that is stored. */

import { toMessage } from "sessarc";
import { isLoopback } from "sessarc/serve";
import { isLocalHttp } from "./config.ts";

const MOST_BYTES = 5 * 2 ** 20;
const MOST_REDIRECTS = 3;
/** Of all redirects and the whole body. */
const LIMIT_MS = 30_000;

export type Fetched =
  | { kind: "unchanged" }
  | { kind: "table"; providers: unknown; etag: string | undefined; modified: number | undefined }
  /** `answered`: a server was reached. `reason` continues a sentence about the address. */
  | { kind: "failed"; answered: boolean; reason: string };

/** `etag`: of the table that was fetched from this address before. Throws only when `signal` aborts. */
export async function fetchTable(address: string, etag: string | undefined, signal: AbortSignal): Promise<Fetched> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LIMIT_MS);
  let answered = false;
  const failed = (reason: string): Fetched => ({ kind: "failed", answered, reason });
  try {
    const init = { headers: toHeaders(etag), signal: AbortSignal.any([signal, late.signal]) };
    const response = await follow(address, init, () => {
      answered = true;
    });
    if (typeof response === "string") return failed(response);
    if (response.status === 304 && etag !== undefined) return { kind: "unchanged" };
    if (!response.ok) {
      await response.body?.cancel();
      return failed(`answered ${response.status}`);
    }
    const text = await readText(response);
    if (text === undefined) return failed("answered more than 5 MB");
    const modified = Date.parse(response.headers.get("last-modified") ?? "");
    return {
      kind: "table",
      providers: JSON.parse(text),
      etag: toTag(response.headers.get("etag")),
      modified: Number.isNaN(modified) ? undefined : modified,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return failed("did not send the whole table within 30 seconds");
    if (error instanceof SyntaxError) return failed("answered something that is not JSON");
    return failed(`cannot be reached: ${toMessage(error instanceof Error && error.cause ? error.cause : error)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** The last answer, or why a redirect was not followed. */
async function follow(address: string, init: RequestInit, onAnswer: () => void): Promise<Response | string> {
  let url = new URL(address);
  const local = isLoopback(url.hostname);
  for (let left = MOST_REDIRECTS; ; left--) {
    const response = await fetch(url, { ...init, redirect: "manual" });
    onAnswer();
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    if (left === 0) return `redirects more than ${MOST_REDIRECTS} times`;
    if (!URL.canParse(location, url.href)) return "redirects to something that is not an address";
    url = new URL(location, url);
    if (url.username !== "" || url.password !== "") return "redirects to an address with a user name or password";
    // A server elsewhere must not choose what is asked of this machine.
    const allowed = isLoopback(url.hostname) ? local && ["http:", "https:"].includes(url.protocol) : isHttps(url);
    if (!allowed) return `redirects to ${url.origin}, which is not https`;
  }
}

const isHttps = (url: URL): boolean => url.protocol === "https:" && !isLocalHttp(url);

const toHeaders = (etag: string | undefined): Record<string, string> =>
  etag === undefined ? { accept: "application/json" } : { accept: "application/json", "if-none-match": etag };

/** Undefined for a body that is too large: it is read no further. */
async function readText(response: Response): Promise<string | undefined> {
  if (!response.body) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  // The iterator cancels the body when the loop is left.
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** A tag is sent back: only what HTTP allows in one. */
const toTag = (text: string | null): string | undefined =>
  text !== null && /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/.test(text) ? text : undefined;
