/** A client by hand: what travels over `/mcp` as it is. */
import { parseRecord, toRecord } from "sessarc";
import { expect } from "vitest";

export interface RawAnswer {
  status: number;
  type: string;
  /** The JSON, or the messages of the stream until it ended. */
  messages: Record<string, unknown>[];
}

export async function rawSession(
  url: string,
  capabilities: object = {},
  path = "mcp",
  more: Record<string, string> = {},
) {
  const endpoint = new URL(path, url);
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...more,
  };
  const post = (message: object, signal?: AbortSignal) =>
    fetch(endpoint, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(signal ? { signal } : {}),
    });
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
  const greeted = await post({ id: 0, method: "initialize", params });
  expect(greeted.status).toBe(200);
  await greeted.text();
  headers["mcp-session-id"] = greeted.headers.get("mcp-session-id") ?? "";
  headers["mcp-protocol-version"] = "2025-11-25";
  await (await post({ method: "notifications/initialized" })).text();

  async function read(response: Response): Promise<RawAnswer> {
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    const text = await response.text();
    const lines = type === "text/event-stream" ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, it]) => it) : [text];
    return { status: response.status, type, messages: lines.map((line) => toRecord(parseRecord(line ?? ""))) };
  }
  return {
    post,
    read,
    ask: async (message: object) => read(await post(message)),
    /** The session's own stream, or the rest of the one this event is of. */
    listen: (lastEventId?: string, signal?: AbortSignal) =>
      fetch(endpoint, {
        headers: {
          ...headers,
          accept: "text/event-stream",
          ...(lastEventId ? { "last-event-id": lastEventId } : {}),
        },
        ...(signal ? { signal } : {}),
      }),
    end: () => fetch(endpoint, { method: "DELETE", headers }),
  };
}

/** Reads a stream until this pattern was seen; answers the text so far. The rest stays unread. */
export async function readUntil(response: Response, pattern: RegExp): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (reader && !pattern.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The stream ended before ${pattern}: ${text}`);
    text += value;
  }
  return text;
}
