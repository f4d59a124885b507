/** The team server's API, as a machine calls it. A server that is busy, restarting or behind a bad line is asked again. */
import { setTimeout as delay } from "node:timers/promises";
import { type Json, SessarcError } from "sessarc";
import * as v from "valibot";
import { toDigest } from "../manifest.ts";
import type { Api } from "../server/api/index.ts";
import type { Manifest } from "../types.ts";
import { ANSWERS, refusal } from "../wire/answers.ts";
import { readWithin } from "./answers.ts";
import { signTokenRequest } from "./device.ts";
import { leadsTo } from "./links.ts";
import { problemOfReceipt } from "./receipt.ts";

interface Credentials {
  device: string;
  keyFile: string;
}

interface ApiOptions {
  /** ms until the first of five repetitions; each next one waits twice as long. Default 500. */
  retryMs?: number | undefined;
  /** ms of the longest wait between two tries, whatever the server asks for. Default a minute. */
  longestWaitMs?: number | undefined;
  /** ms that one answer may take; default a minute, and five of them for what the server imports or removes first. */
  answerMs?: number | undefined;
  signal: AbortSignal;
}

const TRIES = 6;
/** New tokens for one request. */
const RENEWALS = 3;
const LONGEST_WAIT_MS = 60_000;
/** What one answer may take. */
const ANSWER_MS = 60_000;
/** The same where a chunk or the import of a large session is part of it. */
const IMPORT_MS = 300_000;
/** Bytes of an answer: a thousand entries of the access log are a quarter of it. */
const MOST_BYTES = 4 * 2 ** 20;
/** A token is renewed this long before it expires: clocks differ. */
const MARGIN_MS = 30_000;
/** Codes about the machine, not about what it asks. */
const NO_ACCESS: ReadonlySet<string> = new Set([
  "TEAM_UNAUTHORIZED",
  "TEAM_FORBIDDEN",
  "TEAM_SIGNATURE_INVALID",
  "TEAM_MACHINE_REVOKED",
]);
const BUSY: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** Ids of one question. */
export const TOGETHER = 1_000;

type Key = keyof typeof ANSWERS & keyof Api;
type Sent<K extends Key> = ([keyof Api[K]["params"]] extends [never] ? unknown : { params: Api[K]["params"] }) &
  (Api[K]["body"] extends undefined ? unknown : { body: Api[K]["body"] }) & { query?: Api[K]["query"] };
type Received<K extends Key> = v.InferOutput<(typeof ANSWERS)[K]>;

/** A request as it is sent. */
interface Call {
  method: string;
  path: string;
  body: unknown;
}

/** Without a token. */
const OPEN: ReadonlySet<Key> = new Set(["POST /join", "POST /token"]);
/** Much is sent, or the server has to work before it answers. */
const SLOW: ReadonlySet<Key> = new Set([
  "DELETE /people/:id",
  "PUT /blobs/:sha256",
  "POST /sessions",
  "POST /withdraw",
]);

interface Answer {
  status: number;
  retryAfterMs: number | undefined;
  /** Undefined for what is no JSON: a proxy's page. */
  body: Json | undefined;
}

export class TeamApi {
  readonly #address: string;
  readonly #credentials: Credentials | undefined;
  readonly #options: ApiOptions;
  #token: Promise<Received<"POST /token">> | undefined;

  constructor(address: string, credentials: Credentials | undefined, options: ApiOptions) {
    this.#address = address;
    this.#credentials = credentials;
    this.#options = options;
  }

  async open(): Promise<Received<"POST /open">> {
    const opened = await this.ask("POST /open", {});
    this.#check(leadsTo(opened.url, this.#address, /^\/auth\/[A-Za-z0-9_-]{16,200}$/), "its link leads elsewhere");
    return opened;
  }

  async invite(body: Api["POST /invites"]["body"]): Promise<Received<"POST /invites">> {
    const made = await this.ask("POST /invites", { body });
    this.#check(leadsTo(made.link, this.#address, /^\/join#[A-Za-z0-9_-]{16,200}$/), "its link leads elsewhere");
    return made;
  }

  /** Of these chunks those that the server lacks. What it names beside them does not count. */
  async missingBlobs(sha256: readonly string[]): Promise<Set<string>> {
    const all = new Set<string>();
    for (let at = 0; at < sha256.length; at += TOGETHER) {
      const some = sha256.slice(at, at + TOGETHER);
      const answer = await this.ask("POST /blobs/have", { body: { sha256: some } });
      const asked = new Set(some);
      for (const one of answer.missing) if (asked.has(one)) all.add(one);
    }
    return all;
  }

  async session(space: number, manifest: Manifest, again: boolean): Promise<"imported" | "unchanged"> {
    const { id, digest, outcome } = await this.ask("POST /sessions", {
      body: { space, manifest: { ...manifest }, again },
    });
    this.#check(id === manifest.id && digest === toDigest(manifest), "it stored another session");
    return outcome;
  }

  /** The receipt is signed, and is this machine's. */
  async withdraw(ids: readonly string[], person: string): Promise<Received<"POST /withdraw">> {
    const withdrawn = await this.ask("POST /withdraw", { body: { ids: [...ids] } });
    const problem = problemOfReceipt(withdrawn, person, this.#credentials?.device ?? "");
    this.#check(problem === undefined, `its receipt ${problem}`);
    return withdrawn;
  }

  /**
   * Asks until the server answers. Throws TEAM_UNREACHABLE when it does not, TEAM_REFUSED or TEAM_NO_ACCESS for what it refuses, TEAM_ANSWER_INVALID
   * for an answer that is not one.
   */
  async ask<K extends Key>(key: K, sent: Sent<K>): Promise<Received<K>> {
    const call = toCall(key, sent);
    const isOpen = OPEN.has(key);
    let wait = this.#options.retryMs ?? 500;
    const longest = this.#options.longestWaitMs ?? LONGEST_WAIT_MS;
    let renewals = 0;
    for (let left = TRIES; ; ) {
      const token = this.#token;
      const answer = await this.#send(key, call).catch((error: unknown) => ({ error }));
      this.#options.signal.throwIfAborted();
      if ("error" in answer) {
        if (answer.error instanceof SessarcError) throw answer.error;
        if (--left === 0) throw this.#unreachable(answer.error);
        await delay(Math.min(longest, wait), undefined, this.#options);
      } else {
        if (answer.status < 300) return this.#read(key, answer.body);
        if (answer.status === 401 && !isOpen && renewals < RENEWALS) {
          // It expired meanwhile, or the server was restarted. Another request may have a new one already.
          renewals++;
          if (this.#token === token || renewals > 1) this.#token = undefined;
          continue;
        }
        if (!BUSY.has(answer.status) || --left === 0) throw this.#refused(answer);
        await delay(Math.min(longest, answer.retryAfterMs ?? wait), undefined, this.#options);
      }
      wait *= 2;
    }
  }

  /** Throws TEAM_ANSWER_INVALID for an answer that is too long. */
  async #send(key: Key, { method, path, body }: Call): Promise<Answer> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (!OPEN.has(key)) headers.authorization = `Bearer ${(await this.#current()).token}`;
    const bytes = body instanceof Uint8Array;
    if (body !== undefined) headers["content-type"] = bytes ? "application/gzip" : "application/json";
    const ms = this.#options.answerMs ?? (SLOW.has(key) ? IMPORT_MS : ANSWER_MS);
    const response = await fetch(`${this.#address}/team/api${path}`, {
      method,
      headers,
      // Secrets in a redirect's target would go to another server.
      redirect: "error",
      signal: AbortSignal.any([this.#options.signal, AbortSignal.timeout(ms)]),
      ...(body !== undefined && { body: bytes ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await readWithin(response, MOST_BYTES);
    if (text === undefined) throw this.#invalid("it is too long");
    return { status: response.status, retryAfterMs: retryAfter(response), body: toJson(text) };
  }

  async #current(): Promise<Received<"POST /token">> {
    const known = await this.#token;
    if (known && Date.parse(known.expires) - Date.now() > MARGIN_MS) return known;
    const { device, keyFile } = this.#credentials ?? { device: "", keyFile: "" };
    const made = (async () => {
      const body = await signTokenRequest(keyFile, this.#address, device);
      const answer = await this.#send("POST /token", toCall("POST /token", { body }));
      // A busy server is asked again by the caller, with a new signature.
      if (BUSY.has(answer.status)) throw new Error(`it answers ${answer.status}`);
      if (answer.status >= 300) throw this.#refused(answer);
      return this.#read("POST /token", answer.body);
    })();
    this.#token = made;
    made.catch(() => {
      if (this.#token === made) this.#token = undefined;
    });
    return made;
  }

  #read<K extends Key>(key: K, body: Json | undefined): Received<K> {
    if (body === undefined) throw this.#invalid("it is not JSON");
    const schema: v.GenericSchema<unknown, Received<K>> = ANSWERS[key];
    const read = v.safeParse(schema, body, { abortEarly: true });
    if (read.success) return read.output;
    // The place alone: the value is the server's.
    const [issue] = read.issues;
    throw this.#invalid(`${v.getDotPath(issue) ?? "the answer"} is not what a team's server sends`);
  }

  #check(holds: boolean, reason: string): void {
    if (!holds) throw this.#invalid(reason);
  }

  #refused({ status, body }: Answer): SessarcError {
    const read = v.safeParse(refusal, body);
    // Of a proxy, or of no team's server.
    if (!read.success) return this.#unreachable(new Error(`it answers ${status}`));
    const { code, message, fix } = read.output;
    return new SessarcError(NO_ACCESS.has(code) ? "TEAM_NO_ACCESS" : "TEAM_REFUSED", {
      address: this.#address,
      code,
      reason: message,
      remedy: fix,
    });
  }

  #invalid(reason: string): SessarcError {
    return new SessarcError("TEAM_ANSWER_INVALID", { address: this.#address, reason });
  }

  #unreachable(error: unknown): SessarcError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new SessarcError("TEAM_UNREACHABLE", { address: this.#address, reason }, { cause: error });
  }
}

/** `DELETE /devices/:id` with `{ params: { id } }` is DELETE of `/devices/<id>`. */
function toCall(key: Key, sent: { params?: object; query?: object; body?: unknown }): Call {
  const [method = "", pattern = ""] = key.split(" ");
  const params = new Map(Object.entries(sent.params ?? {}));
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params.get(name))));
  const query = Object.entries(sent.query ?? {}).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  return {
    method,
    path: query.length === 0 ? path : `${path}?${new URLSearchParams(Object.fromEntries(query))}`,
    body: sent.body ?? (method === "POST" ? {} : undefined),
  };
}

/** The code with which a server refused something. */
export const findRefusal = (error: unknown): string | undefined => (isRefusal(error) ? error.params.code : undefined);

const isRefusal = (error: unknown): error is SessarcError<"TEAM_REFUSED" | "TEAM_NO_ACCESS"> =>
  error instanceof SessarcError && (error.code === "TEAM_REFUSED" || error.code === "TEAM_NO_ACCESS");

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function toJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // a proxy's page
  }
}
