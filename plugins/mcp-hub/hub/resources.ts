/** Whose an address is. */
import { type JsonRecord, SessarcError } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import type { Caller } from "../upstream/pool.ts";
import { INVALID_PARAMS, RpcError } from "../upstream/rpc-error.ts";
import type { ListedService, Listings } from "./listings.ts";
import type { View } from "./view.ts";

interface ResourceOwner {
  entry: ServiceEntry;
  /** The address as the service knows it. */
  uri: string;
}

/** Legacy clients know a code of its own for this; the modern protocol has "invalid params". */
const NOT_FOUND = { legacy: -32002, modern: INVALID_PARAMS } as const;

/** The service that lists the address, else one whose template fits it, else the only one that could have it. */
export async function readOwner(listings: Listings, view: View, caller: Caller, asked: string): Promise<ResourceOwner> {
  const { listed } = await listings.services(view, caller);
  const prefixed = /^mcp-([a-z0-9-]+):(.+)$/s.exec(asked);
  const named = prefixed && listed.find(({ entry }) => entry.id === prefixed[1]);
  if (named && prefixed) return { entry: named.entry, uri: prefixed[2] ?? "" };
  const found =
    listed.find(({ listing }) => listing.items.resources.some(({ uri }) => uri === asked)) ??
    listed.find(({ listing }) => listing.items.resourceTemplates.some((it) => fits(it, asked))) ??
    theOnlyOne(listed);
  if (found) return { entry: found.entry, uri: asked };
  if (view.service !== null && listed.length === 0) throw new SessarcError("SERVICE_NOT_FOUND", { id: view.service });
  throw new RpcError(NOT_FOUND[caller.protocol], `Resource not found: ${asked}`, { uri: asked });
}

function theOnlyOne(listed: readonly ListedService[]): ListedService | undefined {
  const able = listed.filter(({ listing }) => listing.capabilities.resources);
  return able.length === 1 ? able[0] : undefined;
}

/** Whether the address has the fixed parts of the template in their order, the first at its start and the last at its end. */
function fits({ uriTemplate }: JsonRecord, uri: string): boolean {
  const parts = String(uriTemplate).split(/\{[^}]*\}/);
  const [first = "", ...rest] = parts;
  if (rest.length === 0) return uri === first;
  if (!uri.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const next = uri.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return uri.length - last.length >= at && uri.endsWith(last);
}
