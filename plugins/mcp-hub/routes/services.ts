/** Management of services. Nothing is started by any of it. */
import { defineRoute } from "sessarc";
import { serviceInput, servicePatch } from "../entry.ts";
import { toWire } from "./wire.ts";

const list = defineRoute({
  method: "GET",
  path: "/mcp/services",
  summary: "Registered services with how they run, and what is wrong with their lists; secrets are masked",
  handler: async ({ kernel }) => {
    const { services, hub } = kernel.inject("mcp");
    const all = await services.list();
    return { services: await Promise.all(all.map((entry) => toWire(hub, entry))) };
  },
});

const put = defineRoute({
  method: "POST",
  path: "/mcp/services",
  summary: "Adds a service, or changes the one with this id or name",
  body: serviceInput,
  handler: async ({ kernel, body }) => {
    const { services, hub } = kernel.inject("mcp");
    const { entry, created } = await services.put(body);
    return { ...(await toWire(hub, entry)), created };
  },
});

const patch = defineRoute({
  method: "PATCH",
  path: "/mcp/services/:id",
  summary: "Changes a service; a mask that is sent back keeps the value",
  body: servicePatch,
  handler: async ({ kernel, params, body }) => {
    const { services, hub } = kernel.inject("mcp");
    const entry = await services.update(params.id, body);
    return toWire(hub, entry);
  },
});

const remove = defineRoute({
  method: "DELETE",
  path: "/mcp/services/:id",
  summary: "Stops a service and forgets it with its secrets",
  handler: async ({ kernel, params }) => {
    await kernel.inject("mcp").services.remove(params.id);
    return { removed: true as const };
  },
});

export const serviceRoutes = [list, put, patch, remove] as const;
