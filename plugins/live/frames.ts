/** Server-sent frames as bytes, and back. */

import type { LiveFrame, SessionEvent } from "sessarc";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const HEARTBEAT = encoder.encode(": still here\n\n");

type StatusFrame = Extract<LiveFrame, { type: "status" }>;

export const statusFrame = (id: string, frame: StatusFrame): Uint8Array =>
  encoder.encode(`id: ${id}\ndata: ${JSON.stringify(frame)}\n\n`);

/** `messages`: each the JSON of one. */
export const messagesFrame = (id: string, messages: readonly string[]): Uint8Array =>
  encoder.encode(`id: ${id}\ndata: {"type":"messages","events":[${messages.join(",")}]}\n\n`);

/** What a frame of a stream says, for those who follow it in this process; undefined for a comment. */
export function readFrame(bytes: Uint8Array): LiveFrame | undefined {
  const text = decoder.decode(bytes);
  const at = text.indexOf("data: ");
  return text.startsWith(":") || at < 0 ? undefined : (JSON.parse(text.slice(at + "data: ".length)) as LiveFrame);
}

/** The wire's `Message`: `id` and `at` are always there. */
export function toWire(event: SessionEvent): string {
  const { seq, id, at, ...rest } = event;
  return JSON.stringify({ seq, id: id ?? null, at: at ?? null, ...rest });
}
