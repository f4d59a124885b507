/** What the three reference servers have to do through the hub, for every client and over every transport. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client as ModernClient } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect } from "vitest";
import { packageServer } from "./_hub.ts";

/** The calls of a client that both SDKs have, in one form. */
export interface AnyClient {
  tools(): Promise<string[]>;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { onprogress?: (progress: { progress: number }) => void; signal?: AbortSignal },
  ): Promise<unknown>;
}

const named = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

export const asLegacy = (client: Client): AnyClient => ({
  tools: async () => named(await client.listTools()),
  call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
});

export const asModern = (client: ModernClient): AnyClient => ({
  tools: async () => named(await client.listTools()),
  call: (name, args, options) => client.callTool({ name, arguments: args }, options),
});

/** Adds -everything, -filesystem and -memory over this folder. */
export async function addReferenceServers(add: (id: string, service: object) => Promise<void>, folder: string) {
  await add("ev", packageServer("server-everything"));
  await add("fs", packageServer("server-filesystem", [folder]));
  await add("memory", { ...packageServer("server-memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } });
}

let remembering: Promise<void> = Promise.resolve();

/** `me` keeps what several clients do at once apart. */
export async function useReferenceServers(client: AnyClient, folder: string, me: string): Promise<void> {
  const names = await client.tools();
  expect(names).toEqual(expect.arrayContaining(["ev__echo", "fs__write_file", "memory__create_entities"]));
  expect(names).toEqual([...names].sort());
  expect(JSON.stringify(await client.call("ev__echo", { message: me }))).toContain(`Echo: ${me}`);

  const path = join(folder, `${me}.txt`);
  await client.call("fs__write_file", { path, content: `written by ${me}` });
  expect(await readFile(path, "utf8")).toBe(`written by ${me}`);
  expect(JSON.stringify(await client.call("fs__read_text_file", { path }))).toContain(`written by ${me}`);
  expect(await client.call("fs__read_text_file", { path: "/etc/passwd" })).toMatchObject({ isError: true });

  const entities = [{ name: me, entityType: "client", observations: ["speaks MCP"] }];
  // The memory server reads and writes its whole file without a lock: of two that write at once one is lost.
  remembering = remembering.then(async () => {
    await client.call("memory__create_entities", { entities });
    expect(JSON.stringify(await client.call("memory__open_nodes", { names: [me] }))).toContain("speaks MCP");
  });
  await remembering;

  const progress: number[] = [];
  const long = "ev__trigger-long-running-operation";
  await client.call(long, { duration: 1, steps: 4 }, { onprogress: (it) => void progress.push(it.progress) });
  expect(progress).toEqual([1, 2, 3, 4]);

  const stop = new AbortController();
  // Cancelled while it runs: the first progress says that it does.
  const cancelled = client.call(
    long,
    { duration: 600, steps: 6_000 },
    { onprogress: () => stop.abort(), signal: stop.signal },
  );
  await expect(cancelled).rejects.toThrow();
}
