/** MCP configurations of the sample home. What they name is nowhere: addresses end in .example, the credential says that it is none. */
import type { SetupFile } from "./write.ts";

const CREDENTIAL = "example-not-a-real-key";

const CLAUDE = {
  mcpServers: {
    tides: { command: "tides-mcp", args: ["--stations", "data/stations.json"] },
    harbour: {
      type: "http",
      url: "https://mcp.harbour.example/v1",
      headers: { Authorization: `Bearer ${CREDENTIAL}` },
    },
  },
};

const CODEX = `model = "gpt-5-codex"

[mcp_servers.tides]
command = "tides-mcp"
args = ["--stations", "data/stations.json"]

[mcp_servers.ledger]
command = "ledger-mcp"
env = { LEDGER_API_KEY = "${CREDENTIAL}" }
`;

/** The same name with other arguments: the hub asks which one counts. */
const CURSOR = {
  mcpServers: {
    tides: { command: "tides-mcp", args: ["--stations", "data/stations.json", "--units", "feet"] },
  },
};

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

export const MCP: readonly SetupFile[] = [
  { path: ".claude.json", content: json(CLAUDE) },
  { path: ".codex/config.toml", content: CODEX },
  { path: ".cursor/mcp.json", content: json(CURSOR) },
];
