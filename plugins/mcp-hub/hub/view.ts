/** What part of the hub somebody looks at: the whole or one service, as which client, in which project. */
import type { Audience } from "../policy/policy.ts";

export interface View {
  /** One service alone, its names unchanged; null for all of them. */
  service: string | null;
  audience: Audience;
  /** Tools are found by asking instead of being listed. */
  search: boolean;
}

const NAME = /^[\w .:/@-]{1,200}$/;

/** `/mcp/<service>?client=<tool>&project=<id>&tools=search`; anything else in the address is not looked at. */
export function viewOf(url: URL, service: string | null, searchByDefault: boolean): View {
  const read = (name: string) => {
    const value = url.searchParams.get(name);
    return value !== null && NAME.test(value) ? value : null;
  };
  const tools = url.searchParams.get("tools");
  return {
    service,
    audience: { client: read("client"), project: read("project") },
    search: service === null && (tools === "search" || (searchByDefault && tools !== "all")),
  };
}

/** One string for equal views. */
export const keyOf = ({ service, audience, search }: View): string =>
  JSON.stringify([service, audience.client, audience.project, search]);
