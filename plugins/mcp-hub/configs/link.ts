/** The entry in a tool's file that leads to the hub. */
import type { Kernel } from "sessarc";
import { serviceUrl } from "sessarc/serve";
import { PROJECT_HEADER } from "../hub/view.ts";
import type { McpServerEntry } from "./contract.ts";

/** Its name: no underscore, at which one of the tools would cut it in two. */
export const HUB_NAME = "sessarc";

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** The hub's own address, as it is served now. */
const hubUrl = (kernel: Kernel): URL => new URL("mcp", serviceUrl(kernel));

/**
 * Claude Code warns of "conflicting scopes" when a server of one name has different addresses in the user's, the project's and the local
 * settings. Its entries all have one address: its handshake names it, and a header the project.
 */
const ONE_ADDRESS = "claude-code";

/** Address and headers of the hub for these assistants: scopes of services depend on who asks, and in which project. */
export function linkFor(
  kernel: Kernel,
  tools: readonly string[],
  project: string | null,
): { url: string; headers: Record<string, string> } {
  const url = hubUrl(kernel);
  if (tools.includes(ONE_ADDRESS))
    return { url: url.href, headers: project === null ? {} : { [PROJECT_HEADER]: encodeURI(project) } };
  const [client] = tools;
  if (tools.length === 1 && client !== undefined) url.searchParams.set("client", client);
  if (project !== null) url.searchParams.set("project", project);
  return { url: url.href, headers: {} };
}

/** An address of the hub with the host and port of now. */
export function relinkUrl(kernel: Kernel, old: string): string {
  const url = new URL(old);
  url.host = hubUrl(kernel).host;
  return url.href;
}

/** Whether an entry leads to the hub: to where it is served now, or (not `current`) to where it was. */
export function toHubLink(entry: McpServerEntry, kernel: Kernel): { current: boolean } | undefined {
  if (entry.transport === "stdio") {
    const parts = [entry.command ?? "", ...(entry.args ?? [])];
    const bridges = parts.some((part) => /(^|[\\/])sessarc(@[^\\/]*)?$|[\\/]sessarc[\\/]dist[\\/]cli\.mjs$/.test(part));
    return bridges && parts.includes("mcp") ? { current: true } : undefined;
  }
  const url = loopbackHub(entry.url ?? "");
  if (!url) return undefined;
  const isOwn = isHubUrl(url.href, kernel);
  return isOwn || entry.name === HUB_NAME ? { current: isOwn } : undefined;
}

/** Whether an address is that of the hub, as it is served now. */
export function isHubUrl(text: string, kernel: Kernel): boolean {
  return loopbackHub(text)?.port === hubUrl(kernel).port;
}

function loopbackHub(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return /^\/mcp(\/|$)/.test(url.pathname) && LOOPBACK.includes(url.hostname) ? url : undefined;
}
