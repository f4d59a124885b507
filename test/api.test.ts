import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it } from "vitest";

/** Routes of the specification whose features exist, by plugin. */
const SPECIFIED = `
GET /scan · POST /import
GET /projects · GET /projects/:id · PATCH /projects/:id · DELETE /projects/:id
POST /projects/:id/associate · POST /projects/:id/sync · POST /projects/:id/unlink
GET /sessions/:id/messages · PATCH /sessions/:id · DELETE /sessions/:id · DELETE /sessions/:id/source-file
POST /sessions/:id/sync · GET /sessions/:id/causality · GET /sessions/:id/live · GET /sessions/:id/security-check
GET /sessions/:id/export-redacted · POST /sessions/:id/share
GET /git/at · GET /git/tree · GET /git/file
GET /search · GET /live/status
GET /security/rules · POST /security/rules · PATCH /security/rules/:id · DELETE /security/rules/:id
GET /security/interceptions · POST /security/pretooluse · POST /security/install-hook
POST /feedback
GET /mcp/services · POST /mcp/services · PATCH /mcp/services/:id · DELETE /mcp/services/:id
GET /mcp/status · GET /mcp/tools · POST /mcp/call · GET /mcp/log · GET /mcp/scan · POST /mcp/takeover
GET /skills · GET /skills/scan · POST /skills/import · POST /skills/github
GET /skills/:id · PATCH /skills/:id · DELETE /skills/:id · POST /skills/:id/link · POST /skills/:id/unlink
GET /skills/:id/snapshots · POST /skills/:id/restore · POST /skills/:id/check-upstream
GET /shares · DELETE /shares/:id · GET /shares/:id/page · GET /share/:token
GET /sessions/:id/replay-plan · GET /replay/preview · POST /replay/start · POST /replay/step · POST /replay/open
`;

/** What the wire contract adds to the specification, and what the dashboard needs beside it. */
const EXTRA = `
GET /import/status · POST /import/cancel · GET /sync · POST /sync · GET /sources · POST /sources · DELETE /sources · POST /sync/pause · POST /sync/resume · GET /live/turns · GET /live/changes
GET /backup · GET /storage · GET /vacuum · POST /vacuum · GET /sessions · GET /sessions/find · GET /sessions/left-out · GET /sessions/:id · GET /sessions/:id/outline · GET /sessions/:id/find
GET /sessions/:id/figures · GET /sessions/:id/context · GET /sessions/:id/prompts · GET /sessions/:id/images
GET /projects/git · GET /projects/activity · GET /insights/sessions · GET /insights/calls · GET /git/blame · GET /git/writers · GET /git/line · GET /git/find · GET /projects/:id/commits · GET /projects/:id/receipt · POST /projects/:id/git-notes · GET /projects/:id/agent-trace · GET /git/verify · GET /git/staged · POST /git/attest · GET /sessions/:id/edits
GET /traces · GET /traces/days · GET /traces/:id · DELETE /traces/:id
GET /notes · PATCH /sessions/:id/notes · GET /sessions/:id/notes · GET /tags · GET /searches · PUT /searches · DELETE /searches
GET /metrics · GET /metrics/otlp · GET /sessions/:id/spans · GET /report · GET /health · GET /sessions/:id/health
GET /waiting · POST /waiting · GET /limits
GET /recall/log · POST /recall/install · DELETE /recall/install
GET /budgets · PUT /budgets · GET /statusline · POST /statusline · POST /statusline/install · DELETE /statusline/install
GET /usage · GET /prices · POST /prices · DELETE /prices · PUT /prices/table · DELETE /prices/table · POST /prices/table/fetch · DELETE /prices/table/consent · GET /insights · GET /search/total
GET /mcp/matrix · GET /mcp/backups · DELETE /mcp/backups/:takeover · POST /mcp/restore · GET /mcp/calls · GET /mcp/skills · GET /skills/:id/folder-hash · GET /agent-plugin · POST /agent-plugin/install · POST /agent-plugin/uninstall · GET /agent-plugin/foreign · POST /agent-plugin/foreign · POST /mcp/services/:id/sign-in · GET /oauth/callback · GET /mcp · POST /mcp · DELETE /mcp · GET /mcp/:service · POST /mcp/:service · DELETE /mcp/:service
POST /shares/:id/restore · POST /sample · DELETE /sample
GET /files/history · GET /files/at · GET /files/destroyed · POST /files/put-back · GET /files/net · GET /files/receipts · POST /files/undo · GET /sessions/:id/lost-files
GET /recall · GET /skills/preview · GET /skills/usage · GET /skills/compare · POST /skills/:id/take · GET /skills/:id/drift · POST /skills/:id/update
GET /rules/proposals · POST /rules/accept · POST /rules/dismiss · DELETE /rules/dismissed/:id · POST /rules/undo · GET /rules/proof · POST /rules/proof · POST /rules/proof/stop
GET /rescue · GET /rescue/sessions · GET /rescue/folders · POST /rescue/plan · POST /rescue/restore · POST /rescue/undo · GET /rescue/reclaim · POST /rescue/reclaim · POST /rescue/reclaim/undo · POST /rescue/retention · DELETE /rescue/logs · GET /sessions/:id/handoff · GET /terminal · POST /sessions/:id/resume · GET /sessions/:id/log
GET /team · POST /team/join · PUT /team/projects · POST /team/push · POST /team/pushed · POST /team/withdraw · POST /team/open · POST /team/leave · POST /team/invites · GET /team/people · GET /team/access · POST /team/spaces · POST /team/revoke · POST /team/remove · POST /team/tokens · GET /team/tokens · POST /team/tokens/revoke
POST /replay/back · GET /replay/result · GET /replay/with · POST /replay/with · POST /replay/with/stop
GET /security/leaks · GET /security/leaks/count · GET /security/leaks/groups · POST /security/leaks/mark · GET /security/leaks/:id · GET /security/leaks/:id/commits · PATCH /security/leaks/:id · GET /security/scrub · POST /security/scrub/plan · POST /security/scrub · POST /security/scrub/undo · DELETE /security/scrub/backups
POST /security/rules/test · POST /security/rules/dry-run · GET /security/proof · GET /security/hook · DELETE /security/install-hook
`;

const listed = (text: string) =>
  text
    .split(/[·\n]/)
    .map((row) => row.trim())
    .filter(Boolean);

describe("the HTTP interface", async () => {
  const plugins = await Promise.all(defaultPlugins().map(async (entry) => (await entry.load?.())?.default()));
  const routes = plugins
    .flatMap((plugin) => [...(plugin?.routes ?? [])])
    .map((route) => `${route.method} ${route.path}`)
    .filter((route) => !route.includes("/**"));

  it.each(listed(SPECIFIED))("has %s", (route) => {
    expect(routes).toContain(route);
  });

  it("has nothing that is not listed", () => {
    const known = new Set([...listed(SPECIFIED), ...listed(EXTRA)]);
    expect(routes.filter((route) => !known.has(route))).toEqual([]);
    expect(listed(EXTRA).filter((route) => !routes.includes(route))).toEqual([]);
  });
});
