/** Who sees and may call what: one function for lists and calls, of every endpoint. */
import type { Scope, ScopePair, ServiceEntry } from "../entry.ts";

/** Who asks. Unknown is `null`: that matches `*` alone. */
export interface ClientContext {
  client: string | null;
  /** Id or path of the project the client works in. */
  project: string | null;
  /** The group of tools it is limited to: patterns of `<service>__<tool>`. */
  tools?: readonly string[] | undefined;
}

type Decision = { allowed: true } | { allowed: false; reason: Refusal };
/** `hidden`: the service is not this client's; only the management API reports the other reasons. */
type Refusal = "disabled" | "hidden" | "denied" | "not allowed" | "not in the profile" | "changed";

const ALLOWED: Decision = { allowed: true };
const refuse = (reason: Refusal): Decision => ({ allowed: false, reason });

/** Whether a client sees a service at all. */
export function decideService(entry: ServiceEntry, context: ClientContext): Decision {
  if (!entry.enabled) return refuse("disabled");
  const { clients, projects, pairs } = entry.scope;
  const { client, project } = context;
  const isPaired = pairs === undefined || pairs.some((pair) => isAt(pair, client, project));
  return isPaired && matches(clients, client) && matches(projects, project) ? ALLOWED : refuse("hidden");
}

const isAt = (pair: ScopePair, client: string | null, project: string | null) =>
  (pair.client === "*" || pair.client === client) && (pair.project === "*" || pair.project === project);

/** The places of both, and no other combination of their clients and projects. */
export function mergeScopes(one: Scope, other: Scope): Scope {
  const all = [...toPairs(one), ...toPairs(other)];
  const pairs = all.filter(
    (pair, i) => !all.some((wider, j) => covers(wider, pair) && (j < i || !covers(pair, wider))),
  );
  const clients = toNames(pairs.map(({ client }) => client));
  const projects = toNames(pairs.map(({ project }) => project));
  const every = toPairs({ clients, projects }).every((pair) => pairs.some((wider) => covers(wider, pair)));
  return every ? { clients, projects } : { clients, projects, pairs };
}

const covers = (wider: ScopePair, pair: ScopePair) =>
  (wider.client === "*" || wider.client === pair.client) && (wider.project === "*" || wider.project === pair.project);

function toPairs({ clients, projects, pairs }: Scope): ScopePair[] {
  const list = (names: "*" | readonly string[]) => (names === "*" ? ["*"] : names);
  return pairs ?? list(clients).flatMap((client) => list(projects).map((project) => ({ client, project })));
}

const toNames = (names: readonly string[]): "*" | string[] => (names.includes("*") ? "*" : [...new Set(names)]);

/** Whether a client may call a tool. `changed`: its definition is not the one that was accepted. Deny wins over everything. */
export function decideTool(entry: ServiceEntry, context: ClientContext, tool: string, changed: boolean): Decision {
  const service = decideService(entry, context);
  if (!service.allowed) return service;
  const { policy } = entry;
  const { tools } = context;
  if (tools && !tools.some((glob) => matchesGlob(glob, `${entry.id}__${tool}`))) return refuse("not in the profile");
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
function matchesGlob(glob: string, name: string): boolean {
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
