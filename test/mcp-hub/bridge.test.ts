/** `sessarc mcp`: the built command as a client without HTTP starts it. */
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, CLI } from "../built.ts";
import { serveHub } from "./_hub.ts";
import { addReferenceServers, asLegacy, asModern, useReferenceServers } from "./_reference.ts";

describe("mcp-hub: the stdio bridge", () => {
  beforeAll(builtPackage, 300_000);

  async function startHub() {
    const { home, add } = await serveHub();
    const folder = await makeTempDir();
    await addReferenceServers(add, folder);
    const env = { PATH: process.env.PATH ?? "", HOME: home, SESSARC_DATA_DIR: `${home}/data` };
    return { folder, parameters: { command: process.execPath, args: [CLI, "mcp", "--client", "test"], env } };
  }

  it("serves a legacy client: the reference servers, progress, a cancelled call, and what a service asks", async () => {
    const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: "accept",
      content: { name: "Ada", check: true },
    }));
    onTestFinished(() => client.close());
    const { folder, parameters } = await startHub();
    await client.connect(new StdioClientTransport(parameters));
    await useReferenceServers(asLegacy(client), folder, "legacy");
    const asked = await client.callTool({ name: "ev__trigger-elicitation-request", arguments: {} });
    expect(JSON.stringify(asked)).toContain("Ada");
  });

  it("serves a modern client: the same", async () => {
    const client = new ModernClient(
      { name: "test", version: "1" },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    client.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: { name: "Ada", check: true },
    }));
    onTestFinished(() => client.close());
    const { folder, parameters } = await startHub();
    await client.connect(new ModernStdio(parameters));
    await useReferenceServers(asModern(client), folder, "modern");
    const asked = await client.callTool({ name: "ev__trigger-elicitation-request", arguments: {} });
    expect(JSON.stringify(asked)).toContain("Ada");
  });
});
