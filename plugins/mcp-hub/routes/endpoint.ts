/** The protocol endpoint: of all services, and of one with its names unchanged. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const anything = v.unknown();
/** As the protocol's own servers take. */
const limits = { bytes: 4 * 2 ** 20 };

const streamAll = defineRoute({
  method: "GET",
  path: "/mcp",
  meta: { team: true },
  mount: "/",
  summary: "The stream of a client's session with the hub",
  handler: ({ kernel, event }) => kernel.inject("mcp").endpoint.handle(event, undefined, null),
});

const askAll = defineRoute({
  method: "POST",
  path: "/mcp",
  meta: { team: true },
  mount: "/",
  summary: "Messages to the hub: JSON-RPC over streamable HTTP",
  body: anything,
  limits,
  handler: ({ kernel, event, body }) => kernel.inject("mcp").endpoint.handle(event, body, null),
});

const endAll = defineRoute({
  method: "DELETE",
  path: "/mcp",
  meta: { team: true },
  mount: "/",
  summary: "Ends a client's session with the hub",
  handler: ({ kernel, event }) => kernel.inject("mcp").endpoint.handle(event, undefined, null),
});

const streamOne = defineRoute({
  method: "GET",
  path: "/mcp/:service",
  mount: "/",
  summary: "The stream of a client's session with one service",
  handler: ({ kernel, event, params }) => kernel.inject("mcp").endpoint.handle(event, undefined, params.service),
});

const askOne = defineRoute({
  method: "POST",
  path: "/mcp/:service",
  mount: "/",
  summary: "Messages to one service, its names unchanged",
  body: anything,
  limits,
  handler: ({ kernel, event, params, body }) => kernel.inject("mcp").endpoint.handle(event, body, params.service),
});

const endOne = defineRoute({
  method: "DELETE",
  path: "/mcp/:service",
  mount: "/",
  summary: "Ends a client's session with one service",
  handler: ({ kernel, event, params }) => kernel.inject("mcp").endpoint.handle(event, undefined, params.service),
});

export const endpointRoutes = [streamAll, askAll, endAll, streamOne, askOne, endOne] as const;
