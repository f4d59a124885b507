/** `/mcp`: every protocol version at one address. Nothing of the SDKs is loaded before the first request. */
import { isRecord, type JsonRecord, type Kernel, toRecord } from "sessarc";
import type { Hub } from "../hub/hub.ts";
import { toView } from "../hub/view.ts";
import type { Registry } from "../registry/registry.ts";
import { createLegacyEndpoint } from "./legacy.ts";
import { createModernEndpoint } from "./modern.ts";

export interface Endpoint {
  /** `body` is the parsed body of a POST; `service` shows that one alone; throws SERVICE_NOT_FOUND. */
  handle(
    event: { readonly req: Request; readonly url: URL },
    body: unknown,
    service: string | null,
  ): Promise<Response | JsonRecord>;
  /** Clients with a session. */
  readonly sessions: number;
  close(): Promise<void>;
}

/** Revisions a handshake may ask for, and the one that needs none. */
export const PROTOCOL_VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export function createEndpoint(kernel: Kernel, hub: Hub, registry: Registry): Endpoint {
  const legacy = createLegacyEndpoint(kernel, hub);
  const modern = createModernEndpoint(hub);

  return {
    get sessions() {
      return legacy.sessions;
    },
    async handle({ req: request, url }, body, service) {
      if (service !== null) await registry.get(service);
      // Asked each time: it may be switched while the service runs.
      const view = toView(url, request.headers, service, kernel.config.mcp.toolSearch);
      return (await isLegacy(request, body)) ? legacy.handle(request, body, view) : modern.handle(request, body, view);
    },
    async close() {
      await Promise.all([legacy.close(), modern.close()]);
    },
  };
}

/** The SDK decides where a session does not: its check reads every header, which costs. */
async function isLegacy(request: Request, body: unknown): Promise<boolean> {
  const inSession = request.headers.get("mcp-session-id") !== null;
  if (inSession && !isRecord(toRecord(toRecord(body).params)._meta)) return true;
  if (inSession && !claimsModern(body)) return true;
  const { isLegacyRequest } = await import("@modelcontextprotocol/server");
  return isLegacyRequest(request, body);
}

const claimsModern = (body: unknown) =>
  "io.modelcontextprotocol/protocolVersion" in toRecord(toRecord(toRecord(body).params)._meta);
