/** Opens an archive it may not write, asks what can be asked, and says the answers. */
import { createKernel, loadConfig } from "../../core/entries/serve.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import live from "../../plugins/live/index.ts";
import mcp from "../../plugins/mcp-hub/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import skills from "../../plugins/skills/index.ts";

const [home = "", dataDir = ""] = process.argv.slice(2);
const env = { home, platform: process.platform, env: {} };
const config = await loadConfig({ cwd: home, env, flags: { dataDir, port: 0 } });
const lines: string[] = [];
const plugins = [archive(), claude(), insights(), live(), mcp(), security(), share(), skills()];
const kernel = await createKernel({ config, env, plugins, log: (line) => lines.push(line) });
const answers: Record<string, unknown> = {};
const paths = [
  "/status",
  "/sessions",
  "/search?q=needle",
  "/usage",
  "/insights",
  "/shares",
  "/doctor",
  "/skills",
  "/mcp/scan",
  "/mcp/backups",
];
for (const path of paths) {
  const response = await kernel.fetch(`/api${path}`);
  answers[path] = { status: response.status, body: await response.json() };
}
const { sessions } = (answers["/sessions"] as { body: { sessions: { id: string }[] } }).body;
const id = sessions[0]?.id;
const check = await kernel.fetch(`/api/sessions/${id}/security-check`);
answers.check = { status: check.status, body: await check.json() };
answers.messages = (await kernel.fetch(`/api/sessions/${id}/messages`)).status;
const init = { method: "POST", body: '{"all":true}' };
answers.import = await (await kernel.fetch("/api/import", init)).json();
answers.rename = await (await kernel.fetch(`/api/sessions/${id}`, { method: "PATCH", body: '{"name":"x"}' })).json();
await kernel.close();
console.log(JSON.stringify({ answers, lines }));
