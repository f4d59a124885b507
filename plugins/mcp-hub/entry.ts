/** A service as the registry stores it. Its secrets are in clear in memory alone: vault/mask.ts makes what answers show. */
import * as v from "valibot";

/** The name before the `__`: so it never holds one itself, and there is room for the tool's name. */
export const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const SLUG_LENGTH = 20;
/** The archive as a service. */
export const BUILTIN_ID = "sessarc";

/** The types below are written out, and the schemas held to them: who compiles against this package needs no valibot. */
type Reads<T> = v.GenericSchema<unknown, T>;

interface ToolRule {
  enabled?: boolean | undefined;
  /** Instead of what the service says. */
  title?: string | undefined;
  description?: string | undefined;
  /** Digest of the definition that was accepted; a tool that reads otherwise is held. */
  pin?: string | undefined;
}

interface Policy {
  default: "allow" | "deny";
  /** Patterns of tools' names; deny wins. */
  allow: string[];
  deny: string[];
  tools: Record<string, ToolRule>;
}

/** An assistant in a project; `*` is any. */
export interface ScopePair {
  client: string;
  project: string;
}

/** Who sees a service: client and project must match, and one of the pairs where there are any. */
export interface Scope {
  clients: "*" | string[];
  projects: "*" | string[];
  /** Set where not every one of these clients sees the service in every one of these projects. */
  pairs?: ScopePair[] | undefined;
}

/**
 * `oauth`: a person signs in (`sessarc mcp sign-in`); `name` and `value` are the id and secret of a client that was registered by hand,
 * empty where the hub registers itself.
 */
export type Credential =
  | { kind: "bearer"; value: string }
  | { kind: "header" | "env" | "oauth"; name: string; value: string };

/** A credential as it is listed: sent back, it keeps the value. */
interface ListedCredential {
  kind: Credential["kind"];
  name: string | null;
  set: boolean;
  hint: string;
}

export type ServiceTransport = "stdio" | "http" | "sse";

/** What a client may set. */
export type ServicePatch = {
  [K in Exclude<keyof ServiceEntry, "id" | "sources" | "createdAt" | "updatedAt" | "credential">]?:
    | ServiceEntry[K]
    | undefined;
} & { credential?: Credential | ListedCredential | null | undefined };
export type ServiceInput = ServicePatch & { id?: string | undefined };

const text = (max: number) => v.pipe(v.string(), v.maxLength(max, `is longer than ${max} characters`));
const word = v.pipe(text(200), v.trim(), v.minLength(1, "is empty"));
const glob = v.pipe(text(200), v.minLength(1, "is empty"));
const globs = v.pipe(v.array(glob), v.maxLength(500));

const toolRule = v.strictObject({
  enabled: v.optional(v.boolean()),
  title: v.optional(text(200)),
  description: v.optional(text(4_000)),
  pin: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/, "is not a digest"))),
});

const policySchema = v.strictObject({
  default: v.optional(v.picklist(["allow", "deny"]), "allow"),
  allow: v.optional(globs, []),
  deny: v.optional(globs, []),
  tools: v.optional(v.record(text(200), toolRule), {}),
}) satisfies Reads<Policy>;

const names = v.union([v.literal("*"), v.pipe(v.array(word), v.maxLength(200))]);
const scopeSchema = v.strictObject({
  clients: v.optional(names, "*"),
  projects: v.optional(names, "*"),
  pairs: v.optional(v.pipe(v.array(v.strictObject({ client: word, project: word })), v.maxLength(1_000))),
}) satisfies Reads<Scope>;

const credentialSchema = v.variant("kind", [
  v.strictObject({ kind: v.literal("bearer"), value: text(16_384) }),
  v.strictObject({ kind: v.literal("header"), name: word, value: text(16_384) }),
  v.strictObject({ kind: v.literal("env"), name: word, value: text(16_384) }),
  v.strictObject({
    kind: v.literal("oauth"),
    name: v.optional(text(1_000), ""),
    value: v.optional(text(16_384), ""),
  }),
]) satisfies Reads<Credential>;

const listedCredential = v.strictObject({
  kind: v.picklist(["bearer", "header", "env", "oauth"]),
  name: v.nullable(text(1_000)),
  set: v.boolean(),
  hint: text(200),
}) satisfies Reads<ListedCredential>;

const values = v.record(word, text(16_384));
/** Fields a client may set; all of them optional, so that one schema reads both a new service and a change. */
const fields = {
  name: word,
  transport: v.picklist(["stdio", "http", "sse"]),
  command: v.nullable(v.pipe(text(4_096), v.minLength(1, "is empty"))),
  args: v.pipe(v.array(text(65_536)), v.maxLength(500)),
  env: values,
  cwd: v.nullable(text(4_096)),
  url: v.nullable(text(8_192)),
  headers: values,
  enabled: v.boolean(),
  scope: scopeSchema,
  credential: v.nullable(v.union([credentialSchema, listedCredential])),
  policy: policySchema,
  timeoutMs: v.pipe(v.number(), v.integer(), v.minValue(100, "is less than 100 ms"), v.maxValue(86_400_000)),
  /** The tool-call guard checks the arguments of every call first. */
  guard: v.boolean(),
};
export const servicePatch = v.partial(v.strictObject(fields)) satisfies Reads<ServicePatch>;
const slug = v.pipe(v.string(), v.regex(SLUG, "is not lower-case words joined by -"), v.maxLength(SLUG_LENGTH));
export const serviceInput = v.strictObject({
  ...v.partial(v.strictObject(fields)).entries,
  id: v.optional(slug),
}) satisfies Reads<ServiceInput>;

/** Where a service was imported from. `baseFp` is the fingerprint of the entry as it was then. */
export interface ServiceSource {
  entryKey: string;
  file: string;
  tool: string;
  baseFp: string;
  importedAt: string;
  takenOver?: boolean;
  backupId?: string;
}

export interface ServiceEntry {
  /** Slug; the part before `__` in the names of its tools. */
  id: string;
  name: string;
  transport: ServiceTransport;
  command: string | null;
  args: string[];
  env: Record<string, string>;
  cwd: string | null;
  url: string | null;
  headers: Record<string, string>;
  enabled: boolean;
  scope: Scope;
  credential: Credential | null;
  policy: Policy;
  timeoutMs: number;
  guard: boolean;
  sources: ServiceSource[];
  createdAt: string;
  updatedAt: string;
}

export const DEFAULT_TIMEOUT_MS = 60_000;

export function emptyEntry(id: string, at: string): ServiceEntry {
  return {
    id,
    name: id,
    transport: "stdio",
    command: null,
    args: [],
    env: {},
    cwd: null,
    url: null,
    headers: {},
    enabled: true,
    scope: { clients: "*", projects: "*" },
    credential: null,
    policy: { default: "allow", allow: [], deny: [], tools: {} },
    timeoutMs: DEFAULT_TIMEOUT_MS,
    guard: false,
    sources: [],
    createdAt: at,
    updatedAt: at,
  };
}

/** A slug made of any name: `GitHub (work)` → `github-work`; `service` when nothing is left. */
export function toSlug(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, SLUG_LENGTH).replace(/-+$/, "") || "service";
}

export type ServiceState = "idle" | "starting" | "running" | "failed" | "disabled";

/** How a service runs. */
export interface ServiceHealth {
  state: ServiceState;
  /** Why it failed the last time, with secrets hidden; null when it did not, or works again. */
  lastError: string | null;
  calls: number;
  p95Ms: number | null;
}
