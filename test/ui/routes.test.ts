/** Every route of the specification has a place in the dashboard where a person comes to it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestKernel } from "sessarc/test";
import { describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";

const UI = fileURLToPath(new URL("../../ui", import.meta.url));
const sources = readdirSync(UI, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(vue|ts)$/.test(name))
  .map((name) => readFileSync(join(UI, name), "utf8"))
  .join("\n");
const readme = readFileSync(join(UI, "README.md"), "utf8");
const [, section = ""] = readme.split("## Where each route is met");
const listed = [...(section.split("\n## ")[0] ?? "").matchAll(/`((?:GET|POST|PATCH|DELETE) \/[^`]+)`/g)].map(
  (match) => match[1] ?? "",
);
/** Asked for in another way than by the client: an event source, the link of a share. */
const OTHERWISE: Record<string, string> = {
  "GET /sessions/:id/live": "/sessions/:id/live",
  "GET /share/:token": "created.url",
};

/** What is asked by programs alone: assistants and their hub, the command line, the page itself. */
const FOR_PROGRAMS = [
  /^(GET|POST|DELETE) \/mcp(\/:service)?$/,
  // The command line gives a session's prompts to another assistant.
  /^(GET|POST) \/replay\/with(\/stop)?$/,
  /^GET \/(docs\/\*\*|oauth\/callback|sessions\/find|search\/total|security\/proof|\*\*)$/,
  // The command line says how current its answer is, and who is removed; skills are previewed by --dry-run.
  /^GET \/(sync|skills\/preview)$|^POST \/team\/remove$/,
  // A program that must not be disturbed pauses the imports; Settings resume them.
  /^POST \/sync\/pause$/,
  // Sessions of some days, for pages of plugins.
  /^GET \/insights\/sessions$/,
  // Scripts mark one secret; the page marks several at once.
  /^PATCH \/security\/leaks\/:id$/,
  // For Prometheus, and for collectors of OpenTelemetry by the command line.
  /^GET \/metrics(\/otlp)?$|^GET \/sessions\/:id\/spans$/,
  // The command line proves lines for a project's instructions: what it runs and reads is named there.
  /^(GET|POST) \/rules\/proof(\/stop)?$/,
  // The command line loads a price table.
  /^(PUT|DELETE) \/prices\/table$/,
  // Exports of the command line hold them.
  /^GET \/sessions\/:id\/notes$/,
  // The status line of an assistant, put there by the command line.
  /^(GET|POST|DELETE) \/statusline(\/install)?$/,
  // The command line and the hub.
  /^GET \/git\/writers$|^POST \/projects\/:id\/git-notes$|^GET \/projects\/:id\/agent-trace$|^GET \/git\/(verify|staged)$|^POST \/git\/attest$/,
  /^DELETE \/rescue\/logs$/,
  // The command line says what was removed of secrets, and removes the copies of changed logs.
  /^GET \/security\/scrub$|^DELETE \/security\/scrub\/backups$/,
  // The command line installs the hooks of recall, and shows what they offered.
  /^GET \/recall(\/log)?$|^(POST|DELETE) \/recall\/install$/,
  // The command line shows skills as clients of the hub see them, installs the plugin for assistants, and imports those of others.
  /^GET \/mcp\/skills$|^GET \/skills\/:id\/folder-hash$|^(GET|POST) \/agent-plugin(\/|$)/,
  // The command line shows what is left of deleted sessions, and exports raw logs.
  /^(GET|DELETE) \/traces(\/:id)?$|^GET \/sessions\/:id\/log$/,
  // The command line shows and puts back files that are gone.
  /^(GET|POST) \/files\/|^GET \/sessions\/:id\/lost-files$/,
  // The command line joins a team and pushes.
  /^(GET|POST|PUT) \/team(\/(join|projects|push|withdraw|open|leave|invites|people|access|spaces|revoke|tokens(\/revoke)?))?$/,
  // The page asks by their addresses, Settings link to the first.
  /^GET \/(openapi\.json|status|projects\/git|live\/(status|turns|changes))$/,
];

describe("routes of the specification", () => {
  it("are in the table of the dashboard, each once, and the dashboard asks for each", () => {
    expect(listed.length).toBeGreaterThan(60);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.filter((route) => !sources.includes(OTHERWISE[route] ?? `"${route}"`))).toEqual([]);
  });

  it("are routes of the product, of which none is left without a place", async () => {
    const t = await createTestKernel({ plugins: defaultPlugins() });
    const { plugins } = (await (await t.fetch("/api/plugins")).json()) as { plugins: { routes: string[] }[] };
    const served = new Set(plugins.flatMap((one) => one.routes));
    expect(listed.filter((route) => !served.has(route))).toEqual([]);
    const met = (route: string) => route in OTHERWISE || sources.includes(`"${route}"`);
    const rest = [...served].filter((route) => !FOR_PROGRAMS.some((one) => one.test(route)));
    expect(rest.filter((route) => !met(route))).toEqual([]);
  });
});
