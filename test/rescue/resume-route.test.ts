import { chmod, mkdir, readFile, rm, watch, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { claudePath, claudeRows, importAll, plugins, writeLog } from "./_logs.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";

/** A home with one session, and a desktop whose terminal writes its words and its folder into a file. */
async function start(options: { screen?: boolean; host?: string } = {}) {
  const home = await makeTempDir();
  const cwd = join(home, "it's here");
  const bin = join(home, "bin");
  const opened = join(home, "opened");
  for (const folder of [cwd, bin, opened]) await mkdir(folder);
  const terminal = join(bin, "x-terminal-emulator");
  await writeFile(
    terminal,
    `#!/bin/sh\n{ pwd; for word; do printf '%s\\n' "$word"; done; } > '${opened}/part'\nmv '${opened}/part' '${opened}/words'\n`,
  );
  await chmod(terminal, 0o755);
  const said = { key: KEY, cwd, turns: 1 };
  const log = await writeLog(claudePath(home, said), claudeRows(said));
  const env = { PATH: `${bin}:/usr/bin:/bin`, SHELL: "/bin/sh", ...(options.screen !== false && { DISPLAY: ":7" }) };
  const k = await createTestKernel({
    home,
    plugins: plugins(),
    env,
    config: options.host ? { host: options.host } : {},
  });
  await importAll(k);
  const wrote = async () => {
    for await (const { filename } of watch(opened)) if (filename === "words") break;
    return (await readFile(join(opened, "words"), "utf8")).split("\n");
  };
  return { ...k, cwd, log, wrote, id: `claude-code:${KEY}` };
}

describe.skipIf(process.platform !== "linux")("resuming in the user's terminal", () => {
  it("opens it in the session's folder with the command of its assistant", async () => {
    const { json, send, cwd, wrote, id } = await start();
    expect(await json("/api/terminal")).toEqual({ name: "x-terminal-emulator" });
    const words = wrote();
    const { status, body } = await send("POST", `/api/sessions/${id}/resume`);
    expect([status, body]).toEqual([200, expect.objectContaining({ terminal: "x-terminal-emulator", cwd })]);
    expect(await words).toEqual([cwd, "-e", "/bin/sh", "-c", `claude --resume ${KEY}; exec '/bin/sh'`, ""]);
  });

  it("says the command where there is no screen", async () => {
    const { json, send, id } = await start({ screen: false });
    expect(await json("/api/terminal")).toEqual({ name: null });
    const { status, body } = await send<{ code: string; fix: string }>("POST", `/api/sessions/${id}/resume`);
    expect([status, body.code, body.fix]).toEqual([
      422,
      "NO_TERMINAL",
      expect.stringMatching(/^Run in a terminal: cd '.+' && claude --resume aaaaaaaa/),
    ]);
  });

  it("opens nothing where other machines reach the service", async () => {
    const { json } = await start({ host: "0.0.0.0" });
    expect(await json("/api/terminal")).toEqual({ name: null });
  });

  it("refuses a session whose folder or log is gone", async () => {
    const { send, cwd, log, id, kernel } = await start();
    const code = async () => (await send<{ code: string }>("POST", `/api/sessions/${id}/resume`)).body.code;
    await rm(cwd, { recursive: true });
    expect(await code()).toBe("NO_SUCH_FOLDER");
    await rm(log);
    await kernel.inject("importer").run(() => [], new Set());
    expect(await code()).toBe("NOT_RESUMABLE");
  });
});
