/** What a protocol has to say for itself, and the small helpers they share. */
import type { Answer, ModelRequest, Reply } from "./script.ts";

export type Json = Record<string, unknown>;

export interface ServerSent {
  event?: string;
  data: unknown;
}

export interface Wire {
  /** Is a POST to this path a request for a reply? */
  matches(path: string): boolean;
  read(body: Json, path: string): ModelRequest;
  /** The answer as one JSON document. */
  whole(request: ModelRequest, answer: Answer): Json;
  /** The answer as server-sent events, `done` last where the protocol has such a line. */
  stream(request: ModelRequest, answer: Answer): Iterable<ServerSent>;
  failure(error: NonNullable<Reply["error"]>): Json;
  /** The parts of an answer are lines of JSON, not server-sent events. */
  hasLines?: boolean;
  /** What a client asks its server beside the model. */
  beside?(path: string): Json | undefined;
}

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function toList(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function toNames(tools: unknown, name: (tool: Json) => unknown): string[] {
  return toList(tools)
    .flatMap((tool) => name(tool) ?? tool.type ?? [])
    .map(String);
}

/** A call's arguments as the text in which OpenAI's protocols carry them. */
export function toArguments(input: Json | string): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}
