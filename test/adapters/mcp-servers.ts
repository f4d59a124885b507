/** What an adapter reads of its assistant's MCP servers, with the helpers that the hub gives every adapter. */
import type { JsonRecord } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { parts } from "../../plugins/mcp-hub/configs/parts.ts";

export const serversIn = (mcp: Adapter["mcp"], settings: JsonRecord) => mcp?.servers(settings, parts);
