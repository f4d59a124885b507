/** What part of the hub somebody looks at: the whole or one service, as which client, in which project. */
import type { Audience } from "../policy/policy.ts";

export interface View {
  /** One service alone, its names unchanged; null for all of them. */
  service: string | null;
  audience: Audience;
  /** Tools are found by asking instead of being listed. */
  search: boolean;
}

/** In which project a client asks; the same as `?project=`. */
export const PROJECT_HEADER = "X-Sessarc-Project";

const NAME = /^\P{C}{1,400}$/u;

/** Reads `/mcp/<service>?client=<assistant>&project=<id>&tools=search` and `X-Sessarc-Project`; ignores the rest of the address. */
export function viewOf(url: URL, headers: Headers, service: string | null, searchByDefault: boolean): View {
  const valid = (value: string | null) => (value !== null && NAME.test(value) ? value : null);
  const read = (name: string) => valid(url.searchParams.get(name));
  const tools = url.searchParams.get("tools");
  return {
    service,
    audience: { client: read("client"), project: read("project") ?? valid(decoded(headers.get(PROJECT_HEADER))) },
    search: service === null && (tools === "search" || (searchByDefault && tools !== "all")),
  };
}

/** Headers are ASCII: a project's path is written as in an address. */
function decoded(value: string | null): string | null {
  try {
    return value === null ? null : decodeURI(value);
  } catch {
    return null;
  }
}

/** One string for equal views. */
export const keyOf = ({ service, audience, search }: View): string =>
  JSON.stringify([service, audience.client, audience.project, search]);
