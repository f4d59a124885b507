/** GET /docs/** : the guides of the package as Markdown, for the dashboard's Help. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineRoute, SessarcError } from "sessarc";
import { resolveInside } from "sessarc/files";

export const guides = defineRoute({
  method: "GET",
  path: "/docs/**",
  meta: { team: true },
  mount: "/",
  summary: "A page of the guides, as Markdown",
  handler: async ({ params }) => {
    const missing = () => new SessarcError("ROUTE_NOT_FOUND", { method: "GET", path: `/docs/${params._}` });
    if (!params._.endsWith(".md")) throw missing();
    const file = await resolveInside(folder(), params._).catch(() => undefined);
    const text = file === undefined ? undefined : await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) throw missing();
    return new Response(text, {
      headers: { "content-type": "text/markdown; charset=utf-8", "cache-control": "no-cache" },
    });
  },
});

/** `docs` of this package, wherever this module was bundled to. */
function folder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("sessarc/package.json")), "docs");
}
