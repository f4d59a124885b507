/** The team server's API, as a machine calls it. A server that is busy, restarting or behind a bad line is asked again. */
import { setTimeout as delay } from "node:timers/promises";
import { type Json, SessarcError } from "sessarc";
import * as v from "valibot";
import type { Manifest } from "../types.ts";
import { signTokenRequest } from "./device.ts";

const space = v.object({ id: v.number(), name: v.string(), kind: v.string(), mine: v.boolean() });
const person = v.object({ id: v.string(), name: v.string() });
const joined = v.object({
  person,
  device: v.string(),
  machine: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)),
  spaces: v.array(space),
  address: v.string(),
});
const token = v.object({ token: v.string(), expires: v.string() });
const me = v.object({
  person,
  device: v.string(),
  machine: v.string(),
  scopes: v.array(v.string()),
  spaces: v.array(space),
});
const have = v.object({ missing: v.array(v.string()), withdrawn: v.optional(v.array(v.string()), []) });
const missing = v.object({ missing: v.array(v.string()) });
const stored = v.object({ id: v.string(), digest: v.string(), outcome: v.string() });
const withdrawn = v.object({
  removed: v.array(v.object({ id: v.string(), digest: v.string(), at: v.string() })),
  receipt: v.string(),
  signature: v.string(),
  publicKey: v.string(),
});
const made = v.object({ id: v.string(), link: v.string(), expiresAt: v.string() });
const people = v.object({
  people: v.array(v.object({ id: v.string(), name: v.string(), createdAt: v.string(), spaces: v.array(v.number()) })),
});
const devices = v.object({
  devices: v.array(
    v.object({
      id: v.string(),
      person: v.string(),
      machine: v.string(),
      name: v.string(),
      scopes: v.array(v.string()),
      createdAt: v.string(),
      seenAt: v.nullable(v.string()),
      revokedAt: v.nullable(v.string()),
    }),
  ),
});
const spaces = v.object({
  spaces: v.array(v.object({ id: v.number(), name: v.string(), kind: v.string(), people: v.array(v.string()) })),
});
const access = v.object({
  entries: v.array(
    v.object({
      at: v.string(),
      person: v.nullable(v.string()),
      device: v.nullable(v.string()),
      remote: v.string(),
      method: v.string(),
      path: v.string(),
      status: v.number(),
      code: v.nullable(v.string()),
    }),
  ),
});
const numbered = v.object({ id: v.number() });
const opened = v.object({ url: v.string(), expires: v.string() });
const madeToken = v.object({ id: v.string(), token: v.string(), expires: v.string() });
const readTokens = v.object({
  tokens: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      person,
      createdAt: v.string(),
      expiresAt: v.string(),
      usedAt: v.nullable(v.string()),
    }),
  ),
});
const refusal = v.object({ code: v.string(), message: v.string(), fix: v.optional(v.string(), "") });
const anything = v.unknown();

export type Space = v.InferOutput<typeof space>;
export type Joined = v.InferOutput<typeof joined>;
/** Logs whose messages an older adapter made, by what became of them. */
const logs = v.object({ waiting: v.number(), failed: v.number(), without: v.number() });
export type ParsedLogs = v.InferOutput<typeof logs>;
export type Person = v.InferOutput<typeof people>["people"][number];
export type Device = v.InferOutput<typeof devices>["devices"][number];
export type SharedSpace = v.InferOutput<typeof spaces>["spaces"][number];
export type ReadToken = v.InferOutput<typeof readTokens>["tokens"][number];
export type Invitation = v.InferOutput<typeof made>;
export type AccessEntry = v.InferOutput<typeof access>["entries"][number];
export type Withdrawn = v.InferOutput<typeof withdrawn>;

interface Credentials {
  device: string;
  keyFile: string;
}

interface ApiOptions {
  /** ms until the first of five repetitions; each next one waits twice as long. Default 500. */
  retryMs?: number | undefined;
  signal: AbortSignal;
}

const TRIES = 6;
/** New tokens for one request. */
const RENEWALS = 3;
const LONGEST_WAIT_MS = 60_000;
/** What one answer may take: an import of a large session is part of it. */
const TIMEOUT_MS = 300_000;
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

interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  json?: unknown;
  bytes?: Uint8Array;
  /** Without a token. */
  open?: boolean;
}

export class TeamApi {
  readonly #address: string;
  readonly #credentials: Credentials | undefined;
  readonly #options: ApiOptions;
  #token: Promise<v.InferOutput<typeof token>> | undefined;

  constructor(address: string, credentials: Credentials | undefined, options: ApiOptions) {
    this.#address = address;
    this.#credentials = credentials;
    this.#options = options;
  }

  join(body: { invite: string; name: string; publicKey: string; machine: string }): Promise<Joined> {
    return this.#ask({ method: "POST", path: "/join", json: body, open: true }, joined);
  }

  me = () => this.#ask({ method: "GET", path: "/me" }, me);
  open = () => this.#ask({ method: "POST", path: "/open", json: {} }, opened);

  invite = (body: { scopes: readonly string[]; spaces?: readonly number[]; person?: string; days?: number }) =>
    this.#ask({ method: "POST", path: "/invites", json: body }, made);
  people = () => this.#ask({ method: "GET", path: "/people" }, people);
  logs = () => this.#ask({ method: "GET", path: "/logs" }, logs);
  devices = () => this.#ask({ method: "GET", path: "/devices" }, devices);
  spaces = () => this.#ask({ method: "GET", path: "/spaces" }, spaces);
  access = (person: string | undefined, limit: number) =>
    this.#ask(
      { method: "GET", path: `/access?${new URLSearchParams({ limit: String(limit), ...(person && { person }) })}` },
      access,
    );
  createSpace = (body: { name: string; kind: "team" | "project"; people: readonly string[] }) =>
    this.#ask({ method: "POST", path: "/spaces", json: body }, numbered);
  addToSpace = (space: number, ids: readonly string[]) =>
    this.#ask({ method: "POST", path: `/spaces/${space}/people`, json: { people: ids } }, anything);
  makeToken = (body: { name: string; days?: number | undefined }) =>
    this.#ask({ method: "POST", path: "/tokens", json: body }, madeToken);

  tokens = () => this.#ask({ method: "GET", path: "/tokens" }, readTokens);

  revokeToken = (id: string) => this.#ask({ method: "DELETE", path: `/tokens/${encodeURIComponent(id)}` }, anything);

  revoke = (device: string) =>
    this.#ask({ method: "DELETE", path: `/devices/${encodeURIComponent(device)}` }, anything);

  /** Of these sessions those that the server lacks as they are, and those that were withdrawn. */
  have(sessions: readonly { id: string; digest: string; space: number }[]) {
    return this.#ask({ method: "POST", path: "/have", json: { sessions } }, have);
  }

  async missingBlobs(sha256: readonly string[]): Promise<Set<string>> {
    const all = new Set<string>();
    for (let at = 0; at < sha256.length; at += TOGETHER) {
      const some = sha256.slice(at, at + TOGETHER);
      const answer = await this.#ask({ method: "POST", path: "/blobs/have", json: { sha256: some } }, missing);
      for (const one of answer.missing) all.add(one);
    }
    return all;
  }

  async putBlob(sha256: string, packed: Uint8Array): Promise<void> {
    await this.#ask({ method: "PUT", path: `/blobs/${sha256}`, bytes: packed }, anything);
  }

  session(space: number, manifest: Manifest, again: boolean) {
    return this.#ask({ method: "POST", path: "/sessions", json: { space, manifest, again } }, stored);
  }

  withdraw = (ids: readonly string[]): Promise<Withdrawn> =>
    this.#ask({ method: "POST", path: "/withdraw", json: { ids } }, withdrawn);

  /** Asks until the server answers. Throws TEAM_UNREACHABLE when it does not, TEAM_REFUSED or TEAM_NO_ACCESS for what it refuses. */
  async #ask<T>(call: Call, schema: v.GenericSchema<unknown, T>): Promise<T> {
    let wait = this.#options.retryMs ?? 500;
    let renewals = 0;
    for (let left = TRIES; ; ) {
      const token = this.#token;
      const response = await this.#send(call).catch((error: unknown) => error);
      this.#options.signal.throwIfAborted();
      if (response instanceof Response) {
        const body = await bodyOf(response);
        if (response.ok) return this.#read(body, schema);
        if (response.status === 401 && !call.open && renewals < RENEWALS) {
          // It expired meanwhile, or the server was restarted. Another request may have a new one already.
          renewals++;
          if (this.#token === token || renewals > 1) this.#token = undefined;
          continue;
        }
        if (!BUSY.has(response.status) || --left === 0) throw this.#refused(response, body);
        await delay(Math.min(LONGEST_WAIT_MS, retryAfter(response) ?? wait), undefined, this.#options);
      } else {
        if (isRefusal(response)) throw response;
        if (--left === 0) throw this.#unreachable(response);
        await delay(Math.min(LONGEST_WAIT_MS, wait), undefined, this.#options);
      }
      wait *= 2;
    }
  }

  async #send({ method, path, json, bytes, open }: Call): Promise<Response> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (!open) headers.authorization = `Bearer ${(await this.#current()).token}`;
    if (json !== undefined) headers["content-type"] = "application/json";
    if (bytes) headers["content-type"] = "application/gzip";
    return fetch(`${this.#address}/team/api${path}`, {
      method,
      headers,
      // Secrets in a redirect's target would go to another server.
      redirect: "error",
      signal: AbortSignal.any([this.#options.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(bytes && { body: new Uint8Array(bytes) }),
    });
  }

  async #current(): Promise<v.InferOutput<typeof token>> {
    const known = await this.#token;
    if (known && Date.parse(known.expires) - Date.now() > MARGIN_MS) return known;
    const { device, keyFile } = this.#credentials ?? { device: "", keyFile: "" };
    const made = (async () => {
      const json = await signTokenRequest(keyFile, this.#address, device);
      const response = await this.#send({ method: "POST", path: "/token", json, open: true });
      const body = await bodyOf(response);
      // A busy server is asked again by the caller, with a new signature.
      if (BUSY.has(response.status)) throw new Error(`it answers ${response.status}`);
      if (!response.ok) throw this.#refused(response, body);
      return this.#read(body, token);
    })();
    this.#token = made;
    made.catch(() => {
      if (this.#token === made) this.#token = undefined;
    });
    return made;
  }

  #read<T>(body: Json | undefined, schema: v.GenericSchema<unknown, T>): T {
    const read = v.safeParse(schema, body);
    if (read.success) return read.output;
    throw this.#unreachable(new Error("its answer is not one of a team server"));
  }

  #refused(response: Response, body: Json | undefined): SessarcError {
    const read = v.safeParse(refusal, body);
    if (!read.success) return this.#unreachable(new Error(`it answers ${response.status}`));
    const { code, message, fix } = read.output;
    return new SessarcError(NO_ACCESS.has(code) ? "TEAM_NO_ACCESS" : "TEAM_REFUSED", {
      address: this.#address,
      code,
      reason: message,
      remedy: fix,
    });
  }

  #unreachable(error: unknown): SessarcError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new SessarcError("TEAM_UNREACHABLE", { address: this.#address, reason }, { cause: error });
  }
}

/** The code with which a server refused something. */
export const refusalOf = (error: unknown): string | undefined => (isRefusal(error) ? error.params.code : undefined);

const isRefusal = (error: unknown): error is SessarcError<"TEAM_REFUSED" | "TEAM_NO_ACCESS"> =>
  error instanceof SessarcError && (error.code === "TEAM_REFUSED" || error.code === "TEAM_NO_ACCESS");

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

async function bodyOf(response: Response): Promise<Json | undefined> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // a proxy's page
  }
}
