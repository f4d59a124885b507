/** What several of our own tests need: throw-away folders, a served kernel, bytes over a bare socket. */
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, type Served, type ServeOptions, serve } from "sessarc/serve";
import { onTestFinished } from "vitest";
import { testEnv } from "./kernel.ts";

export async function makeTempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "sessarc-test-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export interface ServeTestOptions extends Omit<Partial<ServeOptions>, "config"> {
  flags?: NonNullable<Parameters<typeof loadConfig>[0]>["flags"];
  home?: string;
}

/** Serves on any free port over a fresh home; closes with the test. */
export async function serveTest(options: ServeTestOptions = {}): Promise<Served & { home: string }> {
  const home = options.home ?? (await makeTempDir());
  const env = testEnv(home);
  const flags = { port: 0, dataDir: join(home, "data"), ...options.flags };
  const config = await loadConfig({ cwd: home, env, flags });
  const served = await serve({ log: () => {}, graceMs: 200, ...options, config, env });
  onTestFinished(() => served.close());
  return { ...served, home };
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Parsed body, when it is JSON. */
  json: { status?: number; code?: string } | undefined;
}

/**
 * Writes `text` (lines with \n become CRLF in the head) to the port and reads until the server closes or a whole answer is
 * there. What fetch and browsers would never send can be sent this way.
 */
export function sendRaw(port: number, head: string, body: string | Iterable<string> = ""): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = Buffer.alloc(0);
    const done = () => {
      socket.destroy();
      resolve(parseAnswer(received.toString("latin1")));
    };
    socket.setTimeout(60_000, () => reject(new Error(`No whole answer: ${received.toString("latin1")}`)));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (isWhole(received.toString("latin1"), head.startsWith("HEAD "))) done();
    });
    socket.on("error", (error) => (received.length > 0 ? done() : reject(error)));
    socket.on("close", done);
    socket.write(
      head
        .trimStart()
        .replace(/\r?\n/g, "\r\n")
        .replace(/(\r\n)*$/, "\r\n\r\n"),
    );
    for (const part of typeof body === "string" ? [body] : body) if (part && !socket.destroyed) socket.write(part);
  });
}

function isWhole(text: string, isHead: boolean): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const { headers } = parseAnswer(text);
  const body = text.slice(end + 4);
  if (isHead) return true;
  if (headers["content-length"] !== undefined) return body.length >= Number(headers["content-length"]);
  return headers["transfer-encoding"] === "chunked" ? body.endsWith("0\r\n\r\n") : false;
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = text.slice(end + 4);
  const isJson = headers["content-type"]?.startsWith("application/json") && body !== "";
  return { status: Number(first.split(" ")[1]), headers, body, json: isJson ? JSON.parse(body) : undefined };
}

/** A promise and what settles it. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((ok, bad) => {
    resolve = ok;
    reject = bad;
  });
  return { promise, resolve, reject };
}
