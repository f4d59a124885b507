/**
 * A server with skills, over stdio, of revision 2026-07-28: the official SDK's catalog of the files in a JSON record (`sdk <file>`), or
 * whatever entries a JSON file has (`raw <file>`), as a server that means harm would list them.
 */
import { readFileSync } from "node:fs";
import { McpServer, Server } from "@modelcontextprotocol/server";
import { memorySkillFiles, SkillsExtension } from "@modelcontextprotocol/server/ext/skills";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [way, file = ""] = process.argv.slice(2);
const SKILLS = "io.modelcontextprotocol/skills";
const read = () => JSON.parse(readFileSync(file, "utf8"));

if (way === "sdk") {
  const skills = await SkillsExtension.load(memorySkillFiles(read()));
  serveStdio(() => {
    const server = new McpServer({ name: "skilled", version: "1" }, { capabilities: { resources: {} } });
    skills.attach(server);
    return server;
  });
} else
  serveStdio(() => {
    const capabilities = { resources: {}, extensions: { [SKILLS]: { directoryRead: true } } };
    const server = new Server({ name: "raw", version: "1" }, { capabilities });
    server.fallbackRequestHandler = async ({ method, params }) => {
      const { entries, got, children } = read();
      const fresh = { ttlMs: 0, cacheScope: "private" };
      if (method === "skills/list") return { skills: entries, ...fresh };
      if (method === "skills/get") return { skill: got ?? entries.find(({ uri }) => uri === params.uri), ...fresh };
      if (method === "resources/directory/read") return { resources: children ?? [], ...fresh };
      if (method === "resources/read") return { contents: [{ uri: params.uri, text: `read ${params.uri}` }] };
      return { resources: [], resourceTemplates: [] };
    };
    return server;
  });
