/** An entry of an assistant's file as a service of the hub, and the normal form in which both are compared. */
import { isAbsolute, join, resolve } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";
import * as v from "valibot";
import { DEFAULT_TIMEOUT_MS, emptyEntry, type ServiceEntry, serviceInput } from "../entry.ts";
import { findProblem } from "../registry/problem.ts";
import type { McpServerEntry } from "./contract.ts";
import { VARIABLES } from "./parts.ts";
import type { ConfigPlace } from "./places.ts";

/** What an entry says of a service: everything but name, scope and how the hub goes on with it. */
export type ServiceFields = Pick<
  ServiceEntry,
  "transport" | "command" | "args" | "env" | "cwd" | "url" | "headers" | "enabled" | "timeoutMs" | "policy"
>;

export interface Candidate {
  fields: ServiceFields;
  /** Why the hub cannot take it; empty when it can. */
  reasons: string[];
}

interface EntryContext {
  place: ConfigPlace;
  /** Folder of the project it is for; null for all. */
  project: string | null;
  env: AdapterEnv;
}

/** References are written `${NAME}` and `${NAME:-default}` from here on. */
export function toCandidate(entry: McpServerEntry, context: EntryContext): Candidate {
  const reasons = new Set((entry.only ?? []).map((field) => `${field}: only its own tool can make sense of it`));
  if (context.place.scope === "system") reasons.add("the file is the administrator's");
  const fill = (text: string) => rewrite(text, context, (reason) => reasons.add(reason));
  const values = (record: Record<string, string> | undefined) =>
    Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, fill(value)]));
  const command = entry.command === undefined ? null : fill(entry.command);
  const args = (entry.args ?? []).map(fill);
  const isLocal = entry.transport === "stdio";
  const { allow = [], deny = [] } = entry.tools ?? {};
  const fields: ServiceFields = {
    transport: entry.transport,
    command,
    args,
    env: values(entry.env),
    cwd: isLocal ? findFolder(entry.cwd && fill(entry.cwd), [command ?? "", ...args], context.project) : null,
    url: entry.url === undefined ? null : fill(entry.url),
    headers: values(entry.headers),
    enabled: entry.disabled !== true,
    timeoutMs: Math.min(Math.max(Math.round(entry.timeoutMs ?? DEFAULT_TIMEOUT_MS), 100), 86_400_000),
    policy: { default: "allow", allow, deny, tools: {} },
  };
  const read = v.safeParse(serviceInput, fields);
  if (!read.success) reasons.add(`${v.getDotPath(read.issues[0]) ?? "it"} ${read.issues[0].message}`);
  const problem = findProblem({ ...emptyEntry("new", ""), ...fields });
  if (problem) reasons.add(problem);
  return { fields, reasons: [...reasons] };
}

const PLAIN = /\$\{([^}]*)\}|\{file:[^}]*\}/g;

function rewrite(text: string, { place, project, env }: EntryContext, refuse: (reason: string) => void): string {
  const [tool = ""] = place.tools;
  const { variable } = place.contract;
  const kept: string[] = [];
  // References are replaced by marks first, so that the rest holds none.
  const rest = text.replace(
    new RegExp((typeof variable === "string" ? VARIABLES[variable] : variable).source, "g"),
    (...match: unknown[]) => {
      const groups = match.slice(
        1,
        match.findIndex((part) => typeof part === "number"),
      );
      const last = match.at(-1);
      const otherwise = typeof last === "object" && last !== null && "default" in last ? last.default : undefined;
      const name = String(groups.find((group) => typeof group === "string" && group !== otherwise) ?? "");
      if (otherwise === undefined && env.env[name] === undefined)
        refuse(`the variable ${name} is not set where sessarc runs`);
      kept.push(typeof otherwise === "string" ? `\${${name}:-${otherwise}}` : `\${${name}}`);
      return `\u0000${kept.length - 1}\u0000`;
    },
  );
  const known: Record<string, string | null> = {
    userHome: env.home,
    workspaceFolder: project,
    workspaceFolderBasename: project && (project.split(/[\\/]/).at(-1) ?? null),
    "/": "/",
    pathSeparator: "/",
  };
  const filled = rest.replace(PLAIN, (whole: string, name?: string) => {
    const value = name !== undefined && Object.hasOwn(known, name) ? known[name] : null;
    if (value === null || value === undefined) refuse(`${whole} means something to ${tool} alone`);
    return value ?? whole;
  });
  return filled.replace(/\0(\d+)\0/g, (_, i: string) => kept[Number(i)] ?? "");
}

/** Where it runs: as it says; else in its project, where a part of it looks like a path from there; else anywhere. */
function findFolder(cwd: string | undefined, parts: readonly string[], project: string | null): string | null {
  if (cwd !== undefined && cwd !== "")
    return project !== null && !isAbsolute(cwd) && !cwd.startsWith("${") ? join(project, cwd) : cwd;
  return project !== null && parts.some(isRelativePath) ? resolve(project) : null;
}

function isRelativePath(part: string): boolean {
  if (/^\.{1,2}([\\/]|$)/.test(part)) return true;
  if (/^[-@~$/]|:\/\/|^[A-Za-z]:[\\/]/.test(part)) return false;
  return /[\\/]/.test(part) || /\.(m?js|cjs|m?ts|py|sh|rb|jar|php|exe)$/.test(part);
}

/** Equal for equal servers, whatever the tool's way of writing, the order of names, and whether it is switched on. */
export function normalForm(entry: ServiceFields & Partial<Pick<ServiceEntry, "credential">>): {
  all: string;
  /** All but its time limit: of entries that differ in nothing else, the hub makes one service. */
  server: string;
  endpoint: string;
} {
  const { transport, command, args, cwd, credential, policy } = entry;
  const headers = Object.entries(entry.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const env = Object.entries(entry.env);
  if (credential?.kind === "bearer") headers.push(["authorization", `Bearer ${credential.value}`]);
  if (credential?.kind === "header") headers.push([credential.name.toLowerCase(), credential.value]);
  if (credential?.kind === "env") env.push([credential.name, credential.value]);
  const endpoint = transport === "stdio" ? { command, args, cwd } : { transport, url: normalUrl(entry.url ?? "") };
  const rest = {
    env: transport === "stdio" ? sorted(env) : [],
    headers: transport === "stdio" ? [] : sorted(headers),
    policy: [policy.default, [...policy.allow].sort(), [...policy.deny].sort()],
  };
  const { env: variables, headers: fields, policy: tools } = rest;
  const all = { ...endpoint, env: variables, headers: fields, timeoutMs: entry.timeoutMs, policy: tools };
  return {
    all: JSON.stringify(all),
    server: JSON.stringify({ ...endpoint, ...rest }),
    endpoint: JSON.stringify(endpoint),
  };
}

const sorted = (pairs: readonly (readonly [string, string])[]) =>
  Object.entries(Object.fromEntries(pairs)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** Scheme and host in lower case, no default port, no empty query. */
function normalUrl(text: string): string {
  const [, scheme = "", host = "", rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(text) ?? [];
  if (scheme === "") return text;
  const [, user = "", name = ""] = /^(.*@)?(.*)$/s.exec(host) ?? [];
  const port = scheme.toLowerCase() === "https://" ? /:443$/ : /:80$/;
  const path = rest.replace(/\?$/, "");
  return scheme.toLowerCase() + user + name.toLowerCase().replace(port, "") + (path === "" ? "/" : path);
}
