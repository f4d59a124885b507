/** The guard in Codex is on when Codex itself would run it: it keeps digests of the hooks its user trusts. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GuardStatus } from "../../plugins/security/index.ts";
import { serveTest } from "../_setup.ts";
import { toTrustHash } from "../codex-trust.ts";
import { plugins } from "./_kernel.ts";

const headers = { "content-type": "application/json" };

async function start() {
  const served = await serveTest({ plugins: plugins() });
  const config = join(served.home, ".codex", "config.toml");
  await mkdir(dirname(config), { recursive: true });
  const install = async (options: object = {}) => {
    const body = JSON.stringify({ tool: "codex", ...options });
    return (await fetch(`${served.url}api/security/install-hook`, { method: "POST", headers, body })).json();
  };
  const status = async () => {
    const { tools } = (await (await fetch(`${served.url}api/security/hook`)).json()) as { tools: GuardStatus[] };
    return tools.find((one) => one.tool === "codex");
  };
  /** As Codex's own /hooks does it, for the hook as it is there now. */
  const trust = async (group = 0, more = "", lists: readonly [string, string][] = [["PreToolUse", "pre_tool_use"]]) => {
    const path = join(served.home, ".codex", "hooks.json");
    const { hooks } = JSON.parse(await readFile(path, "utf8"));
    const states = lists.map(([list, event]) => {
      const entry = hooks[list][group];
      const hash = toTrustHash(entry, entry.hooks[0], event);
      return `[hooks.state."${path}:${event}:${group}:0"]\n${more}trusted_hash = "${hash}"\n`;
    });
    await writeFile(config, states.join(""));
  };
  return { served, install, status, trust };
}

describe("security: the guard in Codex", () => {
  it("is not working before it is trusted, on when it is, and not working when it was switched off", async () => {
    const { install, status, trust } = await start();
    await install();
    expect(await status()).toMatchObject({ installed: true, effective: false });
    expect((await status())?.problems.join()).toContain("accept it with /hooks");
    await trust();
    expect(await status()).toMatchObject({ installed: true, effective: true, problems: [] });
    await trust(0, "enabled = false\n");
    expect((await status())?.problems.join()).toContain("switch it on with /hooks");
  });

  it("is not working any more once its command changed, until it is trusted again", async () => {
    const { install, status, trust } = await start();
    await install();
    await trust();
    await install({ onFailure: "block" });
    expect(await status()).toMatchObject({ installed: true, effective: false });
    expect((await status())?.problems.join()).toContain("changed since you trusted it");
    await trust();
    expect(await status()).toMatchObject({ effective: true });
  });

  it("is not working while its hooks that report waiting are not trusted", async () => {
    const { install, status, trust } = await start();
    await install({ waiting: true });
    await trust();
    expect((await status())?.problems.join()).toContain("accept it with /hooks");
    await trust(0, "", [
      ["PreToolUse", "pre_tool_use"],
      ["PermissionRequest", "permission_request"],
      ["Stop", "stop"],
    ]);
    expect(await status()).toMatchObject({ waiting: true, effective: true, problems: [] });
  });

  it("stays trusted when it is installed again as it is, and when the service moves", async () => {
    const { served, install, status, trust } = await start();
    await install();
    await trust();
    await install({ mode: "observe" });
    expect(await status()).toMatchObject({ effective: true, mode: "observe" });
    await served.close();
    const moved = await serveTest({ plugins: plugins(), home: served.home });
    const { tools } = (await (await fetch(`${moved.url}api/security/hook`)).json()) as { tools: GuardStatus[] };
    expect(tools.find((one) => one.tool === "codex")).toMatchObject({ effective: true });
  });

  it("is known by its place: behind a hook that came later it has to be trusted again", async () => {
    const { served, install, status, trust } = await start();
    await install();
    await trust();
    const path = join(served.home, ".codex", "hooks.json");
    const settings = JSON.parse(await readFile(path, "utf8"));
    settings.hooks.PreToolUse.unshift({ hooks: [{ type: "command", command: "mine.sh" }] });
    await writeFile(path, JSON.stringify(settings));
    expect(await status()).toMatchObject({ effective: false });
    await trust(1);
    expect(await status()).toMatchObject({ effective: true });
  });

  it("reckons digests as Codex 0.169 does", () => {
    // What `hooks/list` of its app-server answered for these.
    const hook = { type: "command", command: "/bin/sh -c 'x' é \"q\" < > &", timeout: 10 };
    expect(toTrustHash({}, hook)).toBe("sha256:eafadd6d1501c1da61e56232fb7da5f826a73a1af4facd3450efdd6571a39ebb");
    expect(toTrustHash({ matcher: "Bash" }, { type: "command", command: "echo b", statusMessage: "hi" })).toBe(
      "sha256:5437bb4281cba0d194004b865c98f33051ae0a786a09d6d555366be86e9e76df",
    );
  });
});
