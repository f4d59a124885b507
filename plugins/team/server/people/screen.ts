/** Serves the screen People as a plugin serves its part of the dashboard. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineRoute } from "sessarc";

/** The module that the build makes of `screen/`, found by the package's own name, wherever this one was bundled to. */
const toModule = () =>
  join(dirname(createRequire(import.meta.url).resolve("sessarc/package.json")), "dist/plugins/team/people-screen.mjs");

export const peopleScreen = defineRoute({
  method: "GET",
  path: "/plugins/team-view/ui.js",
  meta: { team: true },
  mount: "/",
  summary: "The screen People of the dashboard",
  handler: async () =>
    new Response(await readFile(toModule()), {
      headers: { "content-type": "text/javascript; charset=utf-8", "cache-control": "no-cache" },
    }),
});
