/** A service as fields of a form, and back as what is sent. Secrets come as masks; a mask that is sent back keeps the value. */

import type { HubService, ServicePatch } from "./hub.ts";
import { hubText } from "./words/index.ts";

type Transport = "stdio" | "http" | "sse";
interface ServiceForm {
  name: string;
  transport: Transport;
  command: string;
  args: string;
  env: string;
  cwd: string;
  url: string;
  headers: string;
  /** `oauth` is a sign-in elsewhere: shown here, and left as it is. */
  credential: "none" | "bearer" | "header" | "env" | "oauth";
  credentialName: string;
  /** Never filled in from the service. */
  secret: string;
  timeoutMs: string;
  guard: boolean;
  /** Empty: all. */
  clients: string[];
  policy: "allow" | "deny";
  allow: string;
  deny: string;
}

const pairs = (values: Record<string, string>, sign: string) =>
  Object.entries(values)
    .map(([name, value]) => `${name}${sign}${value}`)
    .join("\n");

export function toForm(service?: HubService): ServiceForm {
  const { transport = "stdio", credential, policy, scope } = service ?? {};
  return {
    name: service?.name ?? "",
    transport: transport === "builtin" ? "stdio" : transport,
    command: service?.command ?? "",
    args: (service?.args ?? []).join("\n"),
    env: pairs(service?.env ?? {}, "="),
    cwd: service?.cwd ?? "",
    url: service?.url ?? "",
    headers: pairs(service?.headers ?? {}, ": "),
    credential: credential?.kind ?? "none",
    credentialName: credential?.name ?? "",
    secret: "",
    timeoutMs: String(service?.timeoutMs ?? 60_000),
    guard: service?.guard ?? false,
    clients: scope === undefined || scope.clients === "*" ? [] : scope.clients,
    policy: policy?.default ?? "allow",
    allow: (policy?.allow ?? []).join("\n"),
    deny: (policy?.deny ?? []).join("\n"),
  };
}

const lines = (text: string) => text.split("\n").filter((line) => line.trim() !== "");
const globs = (text: string) => lines(text).map((line) => line.trim());
const orNull = (text: string) => (text.trim() === "" ? null : text.trim());

/** Throws an Error whose message names the invalid line. */
function readPairs(text: string, sign: "=" | ":"): Record<string, string> {
  return Object.fromEntries(
    lines(text).map((line) => {
      const at = line.indexOf(sign);
      if (at < 1) throw new Error(hubText("badLine", { line: line.slice(0, 40), sign }));
      const value = line.slice(at + 1);
      return [line.slice(0, at).trim(), sign === ":" ? value.trim() : value];
    }),
  );
}

/** Pairs of clients and projects belong to the clients they were set with. */
function toScope({ clients }: ServiceForm, service?: HubService): NonNullable<ServicePatch["scope"]> {
  const before = service?.scope;
  const known = before === undefined || before.clients === "*" ? [] : before.clients;
  if (before && JSON.stringify(known) === JSON.stringify(clients)) return before;
  return { clients: clients.length === 0 ? "*" : clients, projects: before?.projects ?? "*" };
}

/** What of a service the form can change. The built-in one has no transport of its own. */
export function toPatch(form: ServiceForm, service?: HubService): ServicePatch {
  const { secret, credential, credentialName } = form;
  const shared: ServicePatch = {
    timeoutMs: Number(form.timeoutMs),
    guard: form.guard,
    scope: toScope(form, service),
    policy: {
      default: form.policy,
      allow: globs(form.allow),
      deny: globs(form.deny),
      tools: service?.policy.tools ?? {},
    },
  };
  if (service?.transport === "builtin") return shared;
  const isProgram = form.transport === "stdio";
  const patch: ServicePatch = {
    ...shared,
    name: form.name,
    transport: form.transport,
    command: isProgram ? orNull(form.command) : null,
    args: isProgram ? lines(form.args) : [],
    env: isProgram ? readPairs(form.env, "=") : {},
    cwd: isProgram ? orNull(form.cwd) : null,
    url: isProgram ? null : orNull(form.url),
    headers: isProgram ? {} : readPairs(form.headers, ":"),
  };
  if (credential === "oauth") return patch;
  if (credential === "none") return { ...patch, credential: null };
  // Without a new value its mask is sent, which keeps the old one.
  const value = secret === "" ? (service?.credential?.hint ?? "") : secret;
  if (credential === "bearer") return { ...patch, credential: { kind: credential, value } };
  const name = credentialName;
  // The branches are equal but for their type: a union of kinds is not assignable to a union of credentials.
  return credential === "env"
    ? { ...patch, credential: { kind: credential, name, value } }
    : { ...patch, credential: { kind: credential, name, value } };
}
