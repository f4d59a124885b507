/** The guard's routes: the hooks' question, recent calls, installing. */
import { readFile } from "node:fs/promises";
import { defineRoute, type Json, type Kernel } from "sessarc";
import * as v from "valibot";
import type { ToolDecision } from "./guard.ts";
import { HELLO, hookKey, toPlaces, toProof } from "./install/hook-script.ts";
import { answerFields, answerHook, findContext, findFields } from "./reply.ts";
import { warmGuard } from "./warm.ts";

const name = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, "is not the name of an assistant"));

const pretooluse = defineRoute({
  method: "POST",
  path: "/security/pretooluse",
  summary: "Checks a tool call before it runs; installed hooks call it",
  limits: { bytes: 8 * 2 ** 20 },
  query: v.object({
    client: v.optional(name),
    hook: v.optional(name),
    /** The hook asks only for what is offered to the model, at a session's start or with a call. */
    event: v.optional(v.picklist(["start", "call"])),
  }),
  body: v.record(v.string(), v.unknown()),
  handler: async ({ kernel, query, body, event }): Promise<ToolDecision | Response> => {
    const guard = kernel.inject("guard");
    const contract = findContract(kernel, query.client);
    const nonce = event.req.headers.get("sessarc-nonce");
    const prove = async () => (nonce === null ? undefined : readProver(kernel, nonce));
    if (query.event !== undefined) {
      const text = await guard.context(body as Record<string, Json>, query.client ?? "", query.event);
      return answerFields(findContext(contract, query.event, text), await prove());
    }
    const { decision, context } = await guard.check(body as Record<string, Json>, query.client, query.hook);
    if (query.hook !== undefined && query.client !== undefined)
      return answerHook(contract, decision, context, await prove());
    return { ...findFields(contract, decision), ...decision };
  },
});

const findContract = ({ registry }: Kernel, client: string | undefined) =>
  client === undefined ? undefined : registry.adapters.get(client)?.guard;

const NONCE = /^[0-9a-f]{16,64}$/;

/** Returns a function that signs texts for the service's port; undefined if no hook was ever installed or no service runs. */
async function readProver(kernel: Kernel, nonce: string): Promise<((text: string) => string) | undefined> {
  const port = kernel.address?.port;
  const key = NONCE.test(nonce) && (await readFile(hookKey(toPlaces(kernel.storage).folder), "utf8").catch(() => ""));
  return key && port !== undefined ? (text) => toProof(key, nonce, port, text) : undefined;
}

const proof = defineRoute({
  method: "GET",
  path: "/security/proof",
  summary: "Proves to an installed hook that this service installed it, before the hook sends a call",
  query: v.object({ nonce: v.pipe(v.string(), v.regex(NONCE, "must be 16 to 64 hexadecimal digits")) }),
  handler: async ({ kernel, query }): Promise<Response> => {
    const prove = await readProver(kernel, query.nonce);
    return new Response(prove?.(HELLO) ?? "", { headers: { "content-type": "text/plain" } });
  },
});

const interceptions = defineRoute({
  method: "GET",
  path: "/security/interceptions",
  summary: "Recently checked tool calls, newest first",
  query: v.object({
    limit: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,4}$/, "must be a whole number"),
        v.transform(Number),
        v.minValue(1),
        v.maxValue(1000),
      ),
    ),
  }),
  handler: async ({ kernel, query }) => ({
    interceptions: await kernel.inject("guard").interceptions(query.limit ?? 100),
  }),
});

const install = defineRoute({
  method: "POST",
  path: "/security/install-hook",
  summary: "Installs the guard in an assistant's settings, which are backed up first",
  body: v.object({
    tool: v.optional(name),
    onFailure: v.optional(v.picklist(["allow", "block"])),
    mode: v.optional(v.picklist(["enforce", "observe"])),
    /** Also the hooks that report that the assistant waits. */
    waiting: v.optional(v.boolean()),
    /** Store files before a call destroys them. */
    net: v.optional(v.boolean()),
    dryRun: v.optional(v.boolean()),
  }),
  handler: async ({ kernel, body }) => {
    const installed = await kernel.inject("guard").install(body.tool, body);
    // The first call waits one second at most: in a service its rules are compiled by then.
    if (kernel.address) await warmGuard(kernel);
    return installed;
  },
});

const uninstall = defineRoute({
  method: "DELETE",
  path: "/security/install-hook",
  summary: "Removes exactly what installing added",
  query: v.object({ tool: v.optional(name) }),
  handler: ({ kernel, query }) => kernel.inject("guard").uninstall(query.tool),
});

const status = defineRoute({
  method: "GET",
  path: "/security/hook",
  summary: "The guard per assistant: installed, effective, last fired",
  handler: async ({ kernel }) => ({ tools: await kernel.inject("guard").status() }),
});

export const guardRoutes = [pretooluse, proof, interceptions, install, uninstall, status] as const;
