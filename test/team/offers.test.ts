/** What a team's server answers of other plugins' routes. */
import { expect, it } from "vitest";
import { readOffers } from "./node.ts";

it("is what their routes offer, and nothing else: each is read by people over their own sessions", async () => {
  const offers = await readOffers();
  expect(offers.named(true).sort()).toEqual(
    [
      ...["activity", "git", ":id", ":id/commits", ":id/receipt", ":id/agent-trace"].map(
        (path) => `GET /projects/${path}`,
      ),
      ...["causality", "context", "figures", "find", "health", "messages", "outline", "prompts"].map(
        (path) => `GET /sessions/:id/${path}`,
      ),
      ...["at", "blame", "file", "line", "tree", "verify", "writers"].map((path) => `GET /git/${path}`),
      ...["people", "sessions", "usage"].map((path) => `GET /team/${path}`),
      ...["projects", "sessions", "sessions/find", "sessions/:id", "search", "search/total", "usage"].map(
        (path) => `GET /${path}`,
      ),
      ...["insights", "insights/calls", "insights/sessions", "health", "import/status", "prices"].map(
        (path) => `GET /${path}`,
      ),
      ...["status", "plugins"].map((path) => `GET /${path}`),
    ].sort(),
  );
  expect(offers.paths.filter((path) => !path.startsWith("/api/")).sort()).toEqual(
    ["/**", "/docs/**", "/mcp", "/plugins/team-view/ui.js"].sort(),
  );
  expect(offers.named(false).filter((route) => /git\/(blame|line)|receipt/.test(route))).toEqual([]);
});
