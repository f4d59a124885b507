/** `sessarc mcp`: descriptions here, code behind `load`. */
import type { Command } from "sessarc";

const mcp: Command = {
  name: "mcp",
  summary: "Bridges stdio to the hub of tool servers; lists and tests them, takes over those of the tools",
  usage:
    "[list | search <words> | add <id> … | add --from <server> | remove|test|sign-in <id> | log | scan | takeover <name…> | restore [id…]]",
  options: {
    client: { type: "string" },
    project: { type: "string" },
    service: { type: "string", short: "s" },
    url: { type: "string" },
    transport: { type: "string" },
    env: { type: "string", multiple: true },
    header: { type: "string", multiple: true },
    bearer: { type: "string" },
    oauth: { type: "string" },
    "oauth-secret": { type: "string" },
    from: { type: "string" },
    registry: { type: "string" },
    limit: { type: "string" },
    all: { type: "boolean" },
    mode: { type: "string" },
    resolve: { type: "string", multiple: true },
    delete: { type: "boolean" },
    "dry-run": { type: "boolean" },
  },
  help: {
    client: "Who asks: scopes of services go by it",
    project: "Project it asks in: id or path",
    service: "One service alone, its names unchanged; of the log, its messages",
    url: "Address of a service over HTTP",
    transport: "stdio, http or sse, where it does not show",
    env: "NAME=value for the command; NAME alone takes the value from this environment, as a secret must",
    header: "Name=value for the address; Name=$VARIABLE takes the value from this environment, as a secret must",
    bearer: "Name of the variable that holds the token",
    oauth: "Client id for signing in, of a client that was registered by hand",
    "oauth-secret": "Name of the variable that holds the client's secret",
    from: "Name of a server of the list that `search` searches",
    registry: "List of servers in the format of the official registry: a file or an address",
    limit: "Messages of the log (50)",
    all: "Every server that can be taken over",
    mode: "Of takeover: replace, disable or import; of restore: merge, where a file changed",
    resolve: "For a server in conflict: <name>=keepHub, =takeSource or =rename:<name>",
    delete: "Of restore: throw the originals of these takeovers away, and put nothing back",
    "dry-run": "Show what would change, and change nothing",
  },
  load: () => import("./mcp.ts"),
};

export const commands: readonly Command[] = [mcp];
