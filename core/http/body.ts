/** Bodies: counted while they stream, parsed as JSON, refused when they are shaped to hurt. */
import type { IncomingMessage } from "node:http";
import { SessarcError } from "../errors/error.ts";

export const DEFAULT_BODY = 2 ** 20;
const MAX_DEPTH = 64;
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor"]);

/** The request as h3 passes it on Node: it holds the message itself, which is read without a copy through web streams. */
interface BodySource {
  body: ReadableStream<Uint8Array> | null;
  runtime?: { node?: { req: unknown } | undefined } | undefined;
}

/**
 * The parsed body, or undefined when there is none. Throws BODY_TOO_LARGE as soon as one byte too many arrived,
 * INVALID_JSON for anything that is not JSON, is nested deeper than 64, or has a key that would reach a prototype.
 */
export async function readJson(source: BodySource, limit: number): Promise<unknown> {
  const bytes = await readBytes(source, limit);
  if (bytes.length === 0) return undefined;
  const text = decode(bytes);
  if (depthOf(text) > MAX_DEPTH)
    throw new SessarcError("INVALID_JSON", { reason: `it is nested deeper than ${MAX_DEPTH}` });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SessarcError("INVALID_JSON", { reason: "it does not parse" }, { cause });
  }
  checkKeys(value);
  return value;
}

/** The whole body; throws BODY_TOO_LARGE as soon as one byte too many arrived. */
export function readBytes(source: BodySource, limit: number): Promise<Buffer> {
  const message = messageIn(source);
  return message ? readMessage(message, limit) : readStream(source.body, limit);
}

/** The message of Node behind a request; undefined for one that came through no socket. */
export function messageIn({ runtime }: BodySource): IncomingMessage | undefined {
  const message = runtime?.node?.req;
  return isMessage(message) ? message : undefined;
}

const isMessage = (message: unknown): message is IncomingMessage =>
  typeof message === "object" && message !== null && "socket" in message && "on" in message;

/** The rest of a body that is too large stays where it is; the connection ends with the answer. */
function readMessage(message: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (settle: () => void) => {
      message.off("data", onData).off("end", onEnd).off("close", onClose);
      settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) return void chunks.push(chunk);
      message.pause();
      done(() => reject(new SessarcError("BODY_TOO_LARGE", { limit })));
    };
    const onEnd = () => done(() => resolve(Buffer.concat(chunks)));
    const onClose = () => done(() => reject(new SessarcError("INVALID_INPUT", { reason: "The body was cut off" })));
    message.on("data", onData).once("end", onEnd).once("close", onClose);
    if (message.destroyed && !message.complete) onClose();
  });
}

async function readStream(stream: ReadableStream<Uint8Array> | null, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream ?? []) {
    size += chunk.length;
    if (size > limit) throw new SessarcError("BODY_TOO_LARGE", { limit });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** One for all: it keeps nothing between whole texts. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new SessarcError("INVALID_JSON", { reason: "it is not UTF-8" }, { cause });
  }
}

/** Deepest nesting of brackets outside strings; checked before parsing, so that a deeply nested body is never parsed. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) i = endOfString(text, i);
    else if (code === 91 || code === 123) deepest = Math.max(deepest, ++depth);
    else if (code === 93 || code === 125) depth--;
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== 34) i += text.charCodeAt(i) === 92 ? 2 : 1;
  return i;
}

/** Recursion is safe: depth is at most 64 here. */
function checkKeys(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) checkKeys(item);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key)) throw new SessarcError("INVALID_JSON", { reason: `the key "${key}" is not allowed` });
    checkKeys(inner);
  }
}
