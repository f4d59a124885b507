/** Real servers of the npm registry behind the hub, with the official clients of every protocol version. */

import { realpath } from "node:fs/promises";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { packageServer, serveHub } from "./_hub.ts";
import { addReferenceServers, asLegacy, asModern, useReferenceServers } from "./_reference.ts";

async function legacyClient(url: string, capabilities: object = {}, path = "mcp") {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  const transport = new StreamableHTTPClientTransport(new URL(path, url));
  return {
    client,
    transport,
    async connect() {
      await client.connect(transport);
      onTestFinished(() => client.close());
    },
  };
}

async function modernClient(url: string, capabilities: object = {}, path = "mcp") {
  const client = new ModernClient(
    { name: "test", version: "1" },
    { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const connect = async () => {
    await client.connect(new ModernTransport(new URL(path, url)));
    onTestFinished(() => client.close());
  };
  return { client, connect };
}

describe("mcp-hub: servers of the registry", () => {
  it("serve clients of every protocol version at once, with the filesystem and memory servers beside it", async () => {
    const { url, add } = await serveHub();
    const folder = await makeTempDir();
    await addReferenceServers(add, folder);
    const [legacy, modern] = await Promise.all([legacyClient(url), modernClient(url)]);
    await Promise.all([legacy.connect(), modern.connect()]);
    await Promise.all([
      useReferenceServers(asLegacy(legacy.client), folder, "legacy"),
      useReferenceServers(asModern(modern.client), folder, "modern"),
    ]);
  });

  it("the filesystem server works in the folders its client names, each client in its own", async () => {
    const { url, add } = await serveHub();
    await addReferenceServers(add, await makeTempDir());
    const rooms = await Promise.all(
      ["one", "two"].map(async (name) => ({ name, folder: await realpath(await makeTempDir()) })),
    );
    const seen = await Promise.all(
      rooms.map(async ({ folder }) => {
        const { client, connect } = await legacyClient(url, { roots: {} });
        client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: `file://${folder}` }] }));
        await connect();
        const allowed = async () =>
          JSON.stringify(await client.callTool({ name: "fs__list_allowed_directories", arguments: {} }));
        // It asks for them when it was greeted, and does not wait for the answer before it serves.
        await expect.poll(allowed).toContain(folder);
        return allowed();
      }),
    );
    expect(seen[0]).not.toContain(rooms[1]?.folder);
    expect(seen[1]).not.toContain(rooms[0]?.folder);
  });

  it("two legacy clients at once get their own elicitations", async () => {
    const { url, add } = await serveHub();
    await add("ev", packageServer("server-everything"));
    const asked = await Promise.all(
      ["one", "two"].map(async (name) => {
        const { client, connect } = await legacyClient(url, { elicitation: {} });
        let questions = 0;
        client.setRequestHandler(ElicitRequestSchema, async () => {
          questions++;
          return { action: "accept", content: { name, check: true } };
        });
        await connect();
        const result = await client.callTool({ name: "ev__trigger-elicitation-request", arguments: {} });
        return { questions, text: JSON.stringify(result.content) };
      }),
    );
    expect(asked[0]?.text).toContain("one");
    expect(asked[1]?.text).toContain("two");
    expect(asked.map(({ questions }) => questions)).toEqual([1, 1]);
  });

  it("two modern clients at once get theirs, of a service that knows the older way alone", async () => {
    const { url, add } = await serveHub();
    await add("ev", packageServer("server-everything"));
    const asked = await Promise.all(
      ["one", "two"].map(async (name) => {
        const { client, connect } = await modernClient(url, { elicitation: {} });
        client.setRequestHandler("elicitation/create", async () => ({
          action: "accept",
          content: { name, check: true },
        }));
        await connect();
        const result = await client.callTool({ name: "ev__trigger-elicitation-request", arguments: {} });
        return JSON.stringify(result.content);
      }),
    );
    expect(asked[0]).toContain("one");
    expect(asked[1]).toContain("two");
  });
});
