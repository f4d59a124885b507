/** Real servers of the npm registry behind the hub, with the official clients of both eras. */
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { packageServer, serveHub } from "./_hub.ts";

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

describe("mcp-hub: server-everything", () => {
  it("legacy client: lists, calls, progress", { timeout: 60_000 }, async () => {
    const { url, add } = await serveHub();
    await add("ev", packageServer("server-everything"));
    const { client, connect } = await legacyClient(url);
    await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("ev__echo");
    expect(await client.callTool({ name: "ev__echo", arguments: { message: "hi" } })).toMatchObject({
      content: [{ type: "text", text: "Echo: hi" }],
    });
    const progress: number[] = [];
    await client.callTool(
      { name: "ev__trigger-long-running-operation", arguments: { duration: 1, steps: 4 } },
      undefined,
      {
        onprogress: ({ progress: at }) => void progress.push(at),
      },
    );
    expect(progress).toEqual([1, 2, 3, 4]);
  });

  it("modern client: the same", { timeout: 60_000 }, async () => {
    const { url, add } = await serveHub();
    await add("ev", packageServer("server-everything"));
    const { client, connect } = await modernClient(url);
    await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("ev__echo");
    expect(await client.callTool({ name: "ev__echo", arguments: { message: "hi" } })).toMatchObject({
      content: [{ type: "text", text: "Echo: hi" }],
    });
    const progress: number[] = [];
    await client.callTool(
      { name: "ev__trigger-long-running-operation", arguments: { duration: 1, steps: 4 } },
      {
        onprogress: ({ progress: at }) => void progress.push(at),
      },
    );
    expect(progress).toEqual([1, 2, 3, 4]);
  });

  it("two legacy clients at once get their own elicitations", { timeout: 60_000 }, async () => {
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

  it("two modern clients at once get theirs, of a service that knows the older way alone", {
    timeout: 60_000,
  }, async () => {
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
