/** What a server answers beside its API: checks of its health, joining, signing in, and the description of its API. */
import { defineRoute, SessarcError } from "sessarc";
import { messageIn } from "sessarc/serve";
import { isInside } from "../gate.ts";
import { page, signInPage } from "../pages.ts";
import { type Access, readAsked, readCaller } from "./route.ts";

export const pageRoutes = [
  defineRoute({
    method: "GET",
    path: "/healthz",
    mount: "/",
    summary: "The process lives",
    meta: { scope: "open" } satisfies Access,
    handler: () => text("ok\n", 200),
  }),
  defineRoute({
    method: "GET",
    path: "/readyz",
    mount: "/",
    summary: "The database answers",
    meta: { scope: "open" } satisfies Access,
    handler: async ({ kernel, event }) => {
      const { services } = readAsked(kernel, event);
      return (await services.isReady()) ? text("ready\n", 200) : text("the database does not answer\n", 503);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/metrics",
    mount: "/",
    summary: "Figures for Prometheus, for addresses of the own network",
    meta: { scope: "open" } satisfies Access,
    handler: async ({ kernel, event }) => {
      const { services } = readAsked(kernel, event);

      // What comes through the proxy comes from anywhere.
      if (!isInside(event.req, messageIn(event.req))) throw new SessarcError("TEAM_UNAUTHORIZED", {});
      return text(services.metrics.text(await services.gauges()), 200);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/join",
    mount: "/",
    summary: "The page of an invitation",
    meta: { scope: "open" } satisfies Access,
    handler: () =>
      page(
        "Join this team",
        `<p>You are invited to read and share sessions of coding assistants here. The address of this page is your invitation: it works once.</p>
<ol><li>Install sessarc on your machine, where it is not yet:<code>npm install -g sessarc</code></li>
<li>Copy the address of this page, and run:<code>sessarc team join &lt;address&gt;</code></li>
<li>Open the team's dashboard from your machine:<code>sessarc team open</code></li></ol>`,
        200,
      ),
  }),
  defineRoute({
    method: "GET",
    path: "/auth/:ticket",
    mount: "/",
    summary: "Signs a browser in, once",
    meta: { scope: "open" } satisfies Access,
    handler: ({ kernel, event, params }) => {
      const { services } = readAsked(kernel, event);
      return signInPage(services.tokens, services.gate(), params.ticket);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/team/api/openapi.json",
    mount: "/",
    summary: "Every route of the server's API, described by the schemas that validate it",
    meta: { scope: "signed-in" } satisfies Access,
    handler: ({ kernel, event }): Promise<Record<string, unknown>> => {
      const { services } = readCaller(kernel, event);
      return services.describe();
    },
  }),
] as const;

const text = (body: string, status: number): Response =>
  new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
