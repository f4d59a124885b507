/** What an assistant may not do to the archive without the user: read it whole, copy it, take the guard away. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestKernel } from "../kernel.ts";
import { plugins } from "./_kernel.ts";

const start = async () => {
  const t = await createTestKernel({ plugins: plugins() });
  const ask = async (tool_name: string, tool_input: object) => {
    const body = { hook_event_name: "PreToolUse", cwd: "/w", tool_name, tool_input };
    const { body: answer } = await t.send<{ decision: string; reason: string | null; findings: { rule: string }[] }>(
      "POST",
      "/api/security/pretooluse?client=claude-code",
      body,
    );
    return answer;
  };
  const { dataDir } = t.kernel.storage;
  const port = 41_799;
  t.kernel.announce({ url: `http://127.0.0.1:${port}/`, port, host: "127.0.0.1" });
  return { t, ask, dataDir, home: t.home, port };
};

describe("security: the archive itself", () => {
  it("stops what shows all sessions, copies them or takes the guard away, and says what to do instead", async () => {
    const { ask, dataDir, port } = await start();
    const commands = [
      "sessarc backup -o /tmp/all.tar",
      "npx sessarc backup",
      "npx -y sessarc@latest guard uninstall --tool claude-code",
      "cd /tmp && sessarc show last --raw",
      'sessarc search "key" --raw | head',
      `curl -s http://127.0.0.1:${port}/api/sessions`,
      `curl localhost:${port}/api/backup > x.tar`,
      `strings ${join(dataDir, "catalog.db")}`,
      `cp -r ${join(dataDir, "transcripts")} /tmp`,
      `tar cf - ${dataDir}`,
    ];
    for (const command of commands) {
      const answer = await ask("Bash", { command });
      expect([answer.decision, answer.findings.map(({ rule }) => rule)], command).toEqual(["block", ["own-archive"]]);
      expect(answer.reason).toContain("sessarc search --redacted");
    }
    expect(await ask("Read", { file_path: join(dataDir, "catalog.db") })).toMatchObject({ decision: "block" });
  });

  it("lets go on what asks the archive as the skill does, and what only names it", async () => {
    const { ask, dataDir, port } = await start();
    const commands = [
      "sessarc search --redacted tide",
      "sessarc show --redacted last --limit 20",
      "sessarc search backup",
      "sessarc usage daily --json",
      "sessarc guard status",
      `curl http://127.0.0.1:${port + 1}/api/sessions`,
      `sessarc usage --data-dir ${dataDir}`,
      'git commit -m "docs: how sessarc keeps a backup"',
      `ls ${join(dataDir, "files/skills")}`,
    ];
    for (const command of commands)
      expect([(await ask("Bash", { command })).decision, command]).toEqual(["allow", command]);
    const written = { file_path: "/w/README.md", content: "Run `sessarc backup`." };
    expect(await ask("Write", written)).toMatchObject({ decision: "allow" });
  });
});
