/** Server-sent frames as bytes. */
import type { LiveFrame, SessionEvent } from "sessarc";

const encoder = new TextEncoder();

export const HEARTBEAT = encoder.encode(": still here\n\n");

export type StatusFrame = Extract<LiveFrame, { type: "status" }>;

export const statusFrame = (id: string, frame: StatusFrame): Uint8Array =>
  encoder.encode(`id: ${id}\ndata: ${JSON.stringify(frame)}\n\n`);

/** `messages`: each the JSON of one. */
export const messagesFrame = (id: string, messages: readonly string[]): Uint8Array =>
  encoder.encode(`id: ${id}\ndata: {"type":"messages","events":[${messages.join(",")}]}\n\n`);

/** The wire's `Message`: `id` and `at` are always there. */
export function toWire(event: SessionEvent): string {
  const { seq, id, at, ...rest } = event;
  return JSON.stringify({ seq, id: id ?? null, at: at ?? null, ...rest });
}
