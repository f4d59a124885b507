/** What a team server answers of the API. Everything else is refused: most routes are about the files and programs of one machine. */

/** Of a project's repository. The dashboard shows them where the server has repositories. */
export const HISTORY: readonly string[] = [
  "/api/projects/:id/commits",
  "/api/projects/:id/receipt",
  "/api/git/at",
  "/api/git/tree",
  "/api/git/file",
  "/api/git/blame",
  "/api/git/writers",
  "/api/git/line",
];

export const READ: readonly string[] = [
  "/api/status",
  "/api/plugins",
  "/api/projects",
  "/api/projects/activity",
  "/api/projects/git",
  "/api/projects/:id",
  "/api/sessions",
  "/api/sessions/find",
  "/api/sessions/:id",
  "/api/sessions/:id/messages",
  "/api/sessions/:id/outline",
  "/api/sessions/:id/find",
  "/api/sessions/:id/prompts",
  "/api/sessions/:id/figures",
  "/api/sessions/:id/context",
  "/api/sessions/:id/health",
  "/api/sessions/:id/causality",
  "/api/search",
  "/api/search/total",
  "/api/usage",
  "/api/insights",
  "/api/insights/calls",
  "/api/insights/sessions",
  "/api/health",
  "/api/import/status",
  "/api/prices",
  ...HISTORY,
  "/api/team/people",
  "/api/team/usage",
  "/api/team/sessions",
  "/plugins/team-view/ui.js",
  "/docs/**",
  "/**",
];

/** Agents ask by the tool protocol. Its tools read what the person may read. */
const MCP = ["GET", "POST", "DELETE"];

/** For the dashboard: the same routes, as it names them. */
export const offeredRoutes = (hasRepositories: boolean): string[] =>
  READ.filter((path) => path.startsWith("/api/") && (hasRepositories || !HISTORY.includes(path))).map(
    (path) => `GET ${path.slice("/api".length)}`,
  );

const isRead = (method: string) => method === "GET" || method === "HEAD";

/** Whether a route of a plugin may be in a person's kernel: by its path as it was defined. */
export const isRouteAllowed = (method: string, path: string): boolean =>
  path === "/mcp" ? MCP.includes(method) : isRead(method) && READ.includes(path.replace(/\/\*\*:\w+$/, "/**"));

/** Whether a request may reach a person's kernel. */
export function isAllowed(method: string, path: string): boolean {
  if (path === "/mcp") return MCP.includes(method);
  if (!isRead(method)) return false;
  if (!isApi(path)) return true;
  const segments = path.split("/");
  return READ.some((pattern) => !pattern.endsWith("/**") && fits(pattern.split("/"), segments));
}

/** Paths that are no page of the dashboard. */
export const isApi = (path: string): boolean =>
  ["/api", "/mcp", "/share", "/auth", "/plugins", "/oauth"].some(
    (mount) => path === mount || path.startsWith(`${mount}/`),
  );

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((step, i) => (step.startsWith(":") ? segments[i] !== "" : step === segments[i]));
