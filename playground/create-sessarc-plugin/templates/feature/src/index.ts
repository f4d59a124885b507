/** Starter: a route, and a page in the dashboard that shows its answer. */
import { readFile } from "node:fs/promises";
import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
// Types alone: services and routes of the built-in plugins.
import type {} from "sessarc/plugins";

/** What `npm run build` makes of ui.ts. Found from src/ and from dist/. */
const UI = new URL("../dist/ui.js", import.meta.url);

export interface Busy {
  name: string;
  sessions: number;
  messages: number;
}

export const routes = [
  defineRoute({
    method: "GET",
    path: "/starter/busiest",
    summary: "The projects with most sessions",
    handler: async ({ kernel }): Promise<Busy[]> => {
      const projects = await kernel.inject("archive").projects();
      return projects
        .map(({ name, sessionCount, messageCount }) => ({ name, sessions: sessionCount, messages: messageCount }))
        .sort((a, b) => b.sessions - a.sessions || b.messages - a.messages)
        .slice(0, 20);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/plugins/starter/ui.js",
    mount: "/",
    summary: "Its part of the dashboard",
    handler: async () =>
      new Response(await readFile(UI), { headers: { "content-type": "text/javascript; charset=utf-8" } }),
  }),
] as const;

export default definePlugin({ name: "starter", compatibility: "^1", dependsOn: ["archive"], routes });

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
