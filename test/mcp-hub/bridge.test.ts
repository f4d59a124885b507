/** `sessarc mcp`: the built command as a client without HTTP starts it. */
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { builtPackage, CLI } from "../built.ts";
import { packageServer, serveHub } from "./_hub.ts";

describe("mcp-hub: the stdio bridge", { timeout: 120_000 }, () => {
  beforeAll(builtPackage, 300_000);

  async function serverParameters() {
    const { home, add } = await serveHub();
    await add("ev", packageServer("server-everything"));
    const env = { PATH: process.env.PATH ?? "", HOME: home, SESSARC_DATA_DIR: `${home}/data` };
    return { command: process.execPath, args: [CLI, "mcp", "--client", "test"], env };
  }

  it("serves a legacy client: calls, progress, and what a service asks", async () => {
    const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: "accept",
      content: { name: "Ada", check: true },
    }));
    onTestFinished(() => client.close());
    await client.connect(new StdioClientTransport(await serverParameters()));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("ev__echo");
    const progress: number[] = [];
    const params = { name: "ev__trigger-long-running-operation", arguments: { duration: 1, steps: 4 } };
    await client.callTool(params, undefined, { onprogress: ({ progress: at }) => void progress.push(at) });
    expect(progress).toEqual([1, 2, 3, 4]);
    const asked = await client.callTool({ name: "ev__trigger-elicitation-request", arguments: {} });
    expect(JSON.stringify(asked)).toContain("Ada");
  });

  it("serves a modern client", async () => {
    const client = new ModernClient(
      { name: "test", version: "1" },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    client.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: { name: "Ada", check: true },
    }));
    onTestFinished(() => client.close());
    await client.connect(new ModernStdio(await serverParameters()));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("ev__echo");
    const asked = await client.callTool({ name: "ev__trigger-elicitation-request", arguments: {} });
    expect(JSON.stringify(asked)).toContain("Ada");
  });
});
