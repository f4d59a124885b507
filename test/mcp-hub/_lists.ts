/** A service with lists of any content, and both SDKs' clients. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";

export interface Behaviour {
  /** Until it answers the handshake. */
  delayMs?: number;
  /** A method that is never answered. */
  hang?: string;
  lists?: Record<string, unknown>;
}

const SERVER = fileURLToPath(new URL("lists-server.mjs", import.meta.url));

/** `set` changes what the running service answers. */
export async function listsService(folder: string, name: string, behaviour: Behaviour) {
  const file = join(folder, `${name}.json`);
  const set = (to: Behaviour) => writeFile(file, JSON.stringify(to));
  await set(behaviour);
  return { service: { command: process.execPath, args: [SERVER, file] }, file, set };
}

export async function olderClient(url: string) {
  const client = new Client({ name: "older", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("mcp", url)));
  onTestFinished(() => client.close());
  return client;
}

export async function newerClient(url: string) {
  const client = new ModernClient({ name: "newer", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new ModernTransport(new URL("mcp", url)));
  onTestFinished(() => client.close());
  return client;
}
