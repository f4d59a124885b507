/** Who sees and may call what: one function for lists and calls, of every endpoint. */
import type { ServiceEntry } from "../entry.ts";

/** Who asks. Unknown is `null`: that matches `*` alone. */
export interface Audience {
  client: string | null;
  /** Id or path of the project the client works in. */
  project: string | null;
}

export type Decision = { allowed: true } | { allowed: false; reason: Refusal };
/** `hidden`: the service is not this client's; the other reasons are told in the management API alone. */
export type Refusal = "disabled" | "hidden" | "denied" | "not allowed" | "changed";

const ALLOWED: Decision = { allowed: true };
const refuse = (reason: Refusal): Decision => ({ allowed: false, reason });

/** Whether a service is there at all for somebody. */
export function decideService(entry: ServiceEntry, audience: Audience): Decision {
  if (!entry.enabled) return refuse("disabled");
  const { clients, projects } = entry.scope;
  return matches(clients, audience.client) && matches(projects, audience.project) ? ALLOWED : refuse("hidden");
}

/** Whether somebody may call a tool. `changed`: its definition is not the one that was accepted. Deny wins over everything. */
export function decideTool(entry: ServiceEntry, audience: Audience, tool: string, changed: boolean): Decision {
  const service = decideService(entry, audience);
  if (!service.allowed) return service;
  const { policy } = entry;
  if (policy.deny.some((glob) => matchesGlob(glob, tool))) return refuse("denied");
  const own = Object.hasOwn(policy.tools, tool) ? policy.tools[tool] : undefined;
  if (own?.enabled === false) return refuse("denied");
  const listed =
    policy.allow.length === 0 ? policy.default === "allow" : policy.allow.some((glob) => matchesGlob(glob, tool));
  if (!(own?.enabled ?? listed)) return refuse("not allowed");
  return changed ? refuse("changed") : ALLOWED;
}

const matches = (scope: "*" | readonly string[], value: string | null) =>
  scope === "*" || (value !== null && scope.includes(value));

/** `*` is any run of characters, `?` one. Linear in the name for each star. */
export function matchesGlob(glob: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let i = 0;
  while (i < name.length) {
    const wanted = glob[at];
    if (wanted === "*") {
      star = at++;
      resume = i;
    } else if (wanted === "?" || wanted === name[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resume;
    } else return false;
  }
  while (glob[at] === "*") at++;
  return at === glob.length;
}
