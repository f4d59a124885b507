/** What part of the hub a client sees: the whole or one service, as which client, in which project, with which group of tools. */
import { SessarcError } from "sessarc";
import type { ClientContext } from "../policy/policy.ts";

export interface View {
  /** One service alone, its names unchanged; null for all of them. */
  service: string | null;
  context: ClientContext;
  /** Tools are found by asking instead of being listed. */
  search: boolean;
  /** The client declares the skills extension, or asks for it with `?skills=1`. */
  skills?: boolean | undefined;
  /** Name of the group of tools it asks for. */
  profile?: string | undefined;
  /** The group of tools it gets can be left: `find_tools` and `call_tool` reach the others. */
  more?: boolean | undefined;
}

interface Profile {
  clients: readonly string[];
  tools: readonly string[];
  search: boolean;
}

/** The view limited to the group of tools that it asks for, or else that its client gets. Throws INVALID_INPUT for an unknown group. */
export function withProfile(view: View, profiles: Readonly<Record<string, Profile>>): View {
  const { profile: name, context } = view;
  if (name !== undefined && !Object.hasOwn(profiles, name))
    throw new SessarcError("INVALID_INPUT", { reason: `The configuration has no profile ${name} below mcp.profiles` });
  const profile =
    name === undefined
      ? Object.values(profiles).find(({ clients }) => context.client !== null && clients.includes(context.client))
      : profiles[name];
  return profile ? { ...view, context: { ...context, tools: profile.tools }, more: profile.search } : view;
}

/** The view without its group of tools. */
export const withoutProfile = (view: View): View => ({
  ...view,
  context: { ...view.context, tools: undefined },
  more: false,
});

/** In which project a client asks; the same as `?project=`. */
export const PROJECT_HEADER = "X-Sessarc-Project";

const NAME = /^\P{C}{1,400}$/u;

/** Reads `/mcp/<service>?client=<assistant>&project=<id>&tools=search&profile=<name>&skills=1` and `X-Sessarc-Project`; ignores the rest of the address. */
export function toView(url: URL, headers: Headers, service: string | null, searchByDefault: boolean): View {
  const valid = (value: string | null) => (value !== null && NAME.test(value) ? value : null);
  const read = (name: string) => valid(url.searchParams.get(name));
  const tools = url.searchParams.get("tools");
  return {
    service,
    context: { client: read("client"), project: read("project") ?? valid(decoded(headers.get(PROJECT_HEADER))) },
    profile: read("profile") ?? undefined,
    skills: read("skills") === "1",
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
export const toKey = ({ service, context, search, profile, skills }: View): string =>
  JSON.stringify([service, context.client, context.project, search, profile, skills === true]);
