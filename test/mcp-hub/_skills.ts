/** A hub over a store with skills, and clients of the skills extension: the official SDK's, and frames by hand. */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { type JsonRecord, parseRecord, toRecord } from "sessarc";
import { onTestFinished } from "vitest";
import skills from "../../plugins/skills/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { HUB } from "./_hub.ts";

export const SKILLS = "io.modelcontextprotocol/skills";
const META = "io.modelcontextprotocol/";
const SERVER = fileURLToPath(new URL("skills-server.mjs", import.meta.url));

export const digest = (text: string | Buffer) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
export const manifest = (name: string, rest = "") =>
  `---\nname: ${name}\ndescription: What ${name} is for\n${rest}---\n\n# ${name}\n`;

export async function serveSkills() {
  const served = await serveTest({ plugins: [...HUB(), skills()] });
  const { kernel } = served;
  /** Puts a folder with these files into the store. */
  const store = async (name: string, files: Readonly<Record<string, string | Buffer>>, folder = name) => {
    const root = join(await makeTempDir(), folder);
    for (const [path, content] of Object.entries({ "SKILL.md": manifest(name), ...files })) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
    return kernel.inject("skills").importFolder(root);
  };
  /** A service whose skills a JSON file has. */
  const add = async (id: string, way: "sdk" | "raw", content: object) => {
    const file = join(await makeTempDir(), "skills.json");
    await writeFile(file, JSON.stringify(content));
    await kernel.inject("mcp").services.put({ id, command: process.execPath, args: [SERVER, way, file] });
    return (next: object) => writeFile(file, JSON.stringify(next));
  };
  return { ...served, store, add };
}

/** The official SDK's client; `declares` is what it says of itself. */
export async function connectClient(url: string, declares: boolean, path = "mcp") {
  const client = new Client(
    { name: "host", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: declares ? { extensions: { [SKILLS]: {} } } : {} },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(path, url)));
  onTestFinished(() => client.close());
  return { client, skills: new SkillsClient(client) };
}

/** One frame by hand, of a client that declares the extension unless `capabilities` says otherwise. */
export async function frame(
  url: string,
  method: string,
  params: JsonRecord,
  capabilities: JsonRecord = { extensions: { [SKILLS]: {} } },
) {
  const _meta = { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: capabilities };
  const name: Record<string, string> =
    method === "resources/read"
      ? { "mcp-name": `=?base64?${Buffer.from(String(params.uri)).toString("base64")}?=` }
      : {};
  const response = await fetch(new URL("mcp", url), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  const found = toRecord(parseRecord(/^data: (\{.*)$/m.exec(text)?.[1] ?? text));
  return { status: response.status, result: toRecord(found.result), error: toRecord(found.error) };
}
