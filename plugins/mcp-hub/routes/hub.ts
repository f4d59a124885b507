/** How the hub does, what it offers, a call by hand, and its log. */
import { defineRoute, isRecord, type JsonRecord, type Kernel, type RouteContext, SessarcError } from "sessarc";
import { serviceUrl } from "sessarc/serve";
import * as v from "valibot";
import { PROTOCOL_VERSIONS } from "../endpoint/endpoint.ts";
import type { ServiceEntry } from "../entry.ts";
import { toTokens } from "../hub/finder.ts";
import { type Hub, MANAGER } from "../hub/hub.ts";
import { shownTool } from "../hub/listings.ts";
import { hubName } from "../hub/names.ts";
import { shownEntries } from "../hub/shown-log.ts";
import { type View, withProfile } from "../hub/view.ts";
import { toChanges } from "../policy/pins.ts";
import { decideTool } from "../policy/policy.ts";
import { fromHubUri } from "../skills/uris.ts";
import type { Caller } from "../upstream/pool.ts";
import { RpcError, toMessage } from "../upstream/rpc-error.ts";

const context = {
  client: v.optional(v.pipe(v.string(), v.maxLength(200))),
  project: v.optional(v.pipe(v.string(), v.maxLength(200))),
};
const toView = (query: { client?: string | undefined; project?: string | undefined }): View => ({
  service: null,
  context: { client: query.client ?? null, project: query.project ?? null },
  search: false,
});

const status = defineRoute({
  method: "GET",
  path: "/mcp/status",
  summary: "The hub: its address, revisions, services and connected clients",
  handler: async ({ kernel }) => {
    const { services, hub, endpoint } = kernel.inject("mcp");
    const entries = await services.list();
    const running = entries.filter((entry) => hub.health(entry).state === "running");
    return {
      endpoint: `${serviceUrl(kernel)}mcp`,
      protocolVersion: PROTOCOL_VERSIONS[0],
      protocolVersions: [...PROTOCOL_VERSIONS],
      services: entries.length,
      enabled: entries.filter(({ enabled }) => enabled).length,
      running: running.length,
      sessions: endpoint.sessions,
    };
  },
});

const tools = defineRoute({
  method: "GET",
  path: "/mcp/tools",
  summary: "Tools of all services (or of one), allowed or not, and what they cost a client's context",
  query: v.object({
    service: v.optional(v.string(), "*"),
    /** Instead of each service's own `timeoutMs`: a service that takes longer is reported in `errors`, with its last known tools. */
    timeoutMs: v.optional(v.pipe(v.string(), v.digits(), v.toNumber(), v.minValue(1), v.maxValue(86_400_000))),
    ...context,
  }),
  handler: async ({ kernel, query }) => {
    const { services, hub } = kernel.inject("mcp");
    const { context: who } = withProfile(toView(query), kernel.config.mcp.profiles);
    const all = await services.list();
    if (query.service !== "*") await services.get(query.service);
    const asked = all.filter(({ id, enabled }) => enabled && (query.service === "*" || query.service === id));
    const errors: Record<string, string> = {};
    const lists = asked.map(async (entry) => {
      const { listing, error } = await readListing(hub, entry, query.timeoutMs ?? entry.timeoutMs);
      if (error !== undefined) errors[entry.id] = error;
      const tools = (listing?.items.tools ?? []).map((tool) => {
        const name = String(tool.name);
        const change = listing?.changed.get(name) ?? null;
        const decision = decideTool(entry, who, name, change !== null);
        const { description, inputSchema } = shownTool(entry, tool, toView(query));
        return {
          name: hubName(entry.id, name),
          service: entry.id,
          tool: name,
          description: typeof description === "string" ? description : null,
          inputSchema: isRecord(inputSchema) ? inputSchema : {},
          allowed: decision.allowed,
          reason: decision.allowed ? null : decision.reason,
          change: change && {
            digest: change.digest,
            before: plain(change.before),
            after: plain(change.after),
            changes: toChanges(change),
          },
        };
      });
      const problems = (listing?.problems ?? []).map((problem) => ({ service: entry.id, ...problem }));
      return { tools, problems };
    });
    const found = await Promise.all(lists);
    const shown = found.flatMap(({ tools }) => tools).filter(({ allowed }) => allowed);
    return {
      tools: found.flatMap(({ tools }) => tools),
      errors,
      problems: found.flatMap(({ problems }) => problems),
      tokens: toTokens(shown.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
    };
  },
});

/** The lists of a service as they are now; the last known ones, and why, where it fails or takes longer. */
async function readListing(hub: Hub, entry: ServiceEntry, ms: number) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SessarcError("UPSTREAM_TIMEOUT", { service: entry.id, ms })), ms);
  });
  try {
    return { listing: await Promise.race([hub.catalog.of(entry, MANAGER), late]), error: undefined };
  } catch (error) {
    return { listing: await hub.lists(entry), error: toMessage(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Without fields that are not there: an answer is JSON. */
const plain = (value: JsonRecord): JsonRecord => JSON.parse(JSON.stringify(value)) as JsonRecord;

/** As a client that declares the skills extension, and can be asked nothing. */
const SKILLED: Caller = { ...MANAGER, protocol: "modern", skills: true };

const skills = defineRoute({
  method: "GET",
  path: "/mcp/skills",
  summary:
    "Skills as clients of the skills extension see them: the store's and services', and what is left out with the reason",
  query: v.object(context),
  handler: async ({ kernel, query }) => {
    const { skills: found, leftOut } = await kernel
      .inject("mcp")
      .hub.skills.list({ ...toView(query), skills: true }, SKILLED);
    const shown = found.map(({ uri, frontmatter, resources }) => ({
      uri,
      service: fromHubUri(uri)?.service ?? "",
      name: frontmatter.name,
      description: frontmatter.description,
      /** Null: the service makes its files when they are read. */
      files: resources === "dynamic" ? null : resources.length,
      bytes: resources === "dynamic" ? null : resources.reduce((sum, { size }) => sum + size, 0),
    }));
    return { skills: shown, leftOut };
  },
});

const call = defineRoute({
  method: "POST",
  path: "/mcp/call",
  summary: "Calls a tool by its name in the hub",
  query: v.object(context),
  body: v.strictObject({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(300)),
    arguments: v.optional(v.record(v.string(), v.unknown()), {}),
    timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(86_400_000))),
  }),
  limits: { bytes: 4 * 2 ** 20 },
  handler: async (ctx) => {
    const { name, arguments: args, timeoutMs } = ctx.body;
    const started = performance.now();
    const result = await callTool(ctx.kernel, ctx, { name, arguments: args }, timeoutMs);
    return { result: plain(result), ms: Math.round((performance.now() - started) * 100) / 100 };
  },
});

async function callTool(
  kernel: Kernel,
  { query, signal }: Pick<RouteContext<unknown, Parameters<typeof toView>[0]>, "query" | "signal">,
  params: JsonRecord,
  timeoutMs: number | undefined,
): Promise<JsonRecord> {
  const { hub } = kernel.inject("mcp");
  const request = { caller: MANAGER, method: "tools/call", params, signal, timeoutMs };
  try {
    return await hub.ask(toView(query), request, null);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const service = String(params.name).split("__")[0] ?? "";
    throw new SessarcError("UPSTREAM_FAILED", { service, reason: error.message }, { cause: error });
  }
}

const log = defineRoute({
  method: "GET",
  path: "/mcp/log",
  summary: "The last messages that went through the hub, newest first, secrets masked",
  query: v.object({
    service: v.optional(v.string()),
    limit: v.optional(v.pipe(v.string(), v.digits(), v.toNumber(), v.minValue(1), v.maxValue(1_000))),
  }),
  handler: async ({ kernel, query }) => {
    const { hub, services } = kernel.inject("mcp");
    const service = query.service === "*" ? undefined : query.service;
    const entries = hub.log.newest(query.limit ?? 100, service);
    return { capacity: hub.log.capacity, entries: await shownEntries(kernel, services, entries) };
  },
});

const calls = defineRoute({
  method: "GET",
  path: "/mcp/calls",
  summary: "Calls of tools with the session and message each was made in, and figures of every tool",
  query: v.object({
    service: v.optional(v.string()),
    session: v.optional(v.string()),
    limit: v.optional(v.pipe(v.string(), v.digits(), v.toNumber(), v.minValue(1), v.maxValue(1_000))),
  }),
  handler: async ({ kernel, query: { service, session, limit = 100 } }) => {
    const { hub, history } = kernel.inject("mcp");
    await hub.flush();
    const [newest, figures] = await Promise.all([history.newest({ service, session, limit }), history.figures()]);
    return { calls: newest, tools: figures };
  },
});

export const hubRoutes = [status, tools, skills, call, calls, log] as const;
