/** What the service answers. A team's server has some routes of a local one: its page lists them. A local service has all. */
import type { RouteKey } from "../client.ts";

const listed = document.querySelector<HTMLMetaElement>("meta[name=sessarc-routes]")?.content.split(", ");
const routes = listed && new Set(listed);

/** The service runs where the assistants run. */
export const isLocal = routes === undefined;

export const offers = (route: RouteKey): boolean => routes?.has(route) ?? true;

/** Whether the service may have the project's repository: a local one has its folder, a team's server a mirror with the same first commit. */
export const hasRepository = ({ path, identity }: { path: string | null; identity: { key: string } }): boolean =>
  offers("GET /git/blame") && (isLocal ? path !== null : identity.key.startsWith("shared:commit:"));

/** Entries whose route the service has. */
export const offered = <T extends { needs?: RouteKey }>(entries: readonly T[]): T[] =>
  entries.filter(({ needs }) => needs === undefined || offers(needs));

/** By the beginning of an address: the route without which its screen shows nothing. */
const NEEDS: Record<string, RouteKey> = {
  notes: "GET /notes",
  files: "GET /files/history",
  import: "GET /scan",
  "tools/servers": "GET /mcp/matrix",
  "tools/skills": "GET /skills",
  tools: "GET /security/leaks",
  rescue: "GET /rescue",
  shares: "GET /shares",
  "help/feedback": "POST /feedback",
  replay: "GET /sessions/:id/replay-plan",
};

export function hasScreen({ path }: { path: string }): boolean {
  const asked = Object.entries(NEEDS).find(([start]) => `${path}/`.startsWith(`/${start}/`));
  return asked === undefined || offers(asked[1]);
}
