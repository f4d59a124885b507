import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { PLAIN, writeDatabase } from "../fixtures/opencode/build.ts";
import { claudePath, claudeRows, writeLog } from "./_logs.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";

async function imported() {
  const home = await makeTempDir();
  const cwd = join(home, "app");
  await mkdir(cwd);
  const said = { key: KEY, cwd, turns: 2 };
  const path = await writeLog(claudePath(home, said), claudeRows(said));
  expect((await runCommand(["import"], home)).code).toBe(0);
  return { home, cwd, path };
}

describe("sessarc rescue", () => {
  it("lists what is hidden, dying and gone, and says how to keep what is not archived", async () => {
    const { home, cwd, path } = await imported();
    await rm(path);
    await runCommand(["import"], home);
    const late = { key: KEY.replace(/1$/, "2"), cwd, turns: 1 };
    const old = await writeLog(claudePath(home, late), claudeRows(late));
    await utimes(old, new Date(), new Date(Date.now() - 28 * 86_400_000));
    const { code, stdout, stderr } = await runCommand(["rescue"], home);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1 session is archived.*\n1 is no longer listed by their assistants\./);
    expect(stdout).not.toContain("will be deleted");
    expect(stdout).toMatch(/Their log is gone \(1\)\n[\s\S]* aaaaaaaa$/m);
    expect(stderr).toContain(
      "1 logs will be deleted within 7 days and are not archived: `sessarc import --tool claude-code`",
    );
  });

  it("prints the paths, writes with --yes, and takes it back", async () => {
    const { home, path } = await imported();
    const bytes = await readFile(path);
    await rm(path);
    const dry = await runCommand(["rescue", "last"], home);
    expect([dry.code, dry.stdout, dry.stderr]).toEqual([
      0,
      expect.stringContaining(`writes     ${path}`),
      expect.stringContaining("Nothing was written. --yes writes it."),
    ]);
    await expect(readFile(path)).rejects.toThrow();
    const done = await runCommand(["rescue", "last", "--yes"], home);
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("is back in Claude Code")]);
    expect((await readFile(path)).equals(bytes)).toBe(true);
    expect((await runCommand(["rescue", "last", "--yes"], home)).stdout).toContain("is there already");
    expect((await runCommand(["rescue", "--undo", "last"], home)).stdout).toContain(`removed  ${path}`);
    await expect(readFile(path)).rejects.toThrow();
    const copy = await runCommand(["rescue", "last", "--in", home, "--yes", "--json"], home);
    expect(JSON.parse(copy.stdout).rescued[0].copy).toMatch(/^claude-code:/);
  });

  it("names the program that is missing and the command that puts a session of OpenCode back", async () => {
    const home = await makeTempDir();
    const database = join(home, ".local/share/opencode/opencode.db");
    await writeDatabase(database, [{ ...PLAIN, directory: home }]);
    const run = (...args: string[]) => runCommand(args, home, { PATH: home });
    expect((await run("import")).code).toBe(0);
    await writeDatabase(database, [{ ...PLAIN, id: "ses_other", directory: home }]);
    await run("import");
    const id = `opencode:${PLAIN.id}`;
    expect((await run("rescue", id)).stdout).toMatch(/runs +opencode import/);
    for (let n = 0; n < 2; n++) {
      const { code, stdout, stderr } = await run("rescue", id, "--yes");
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(
        /its program opencode is not in the PATH\n.*run where it is installed: opencode import \S+\.json$/m,
      );
      const file = /opencode import (\S+\.json)/.exec(stderr)?.[1] ?? "";
      expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ info: { id: PLAIN.id } });
    }
    // Nothing was put back, so that nothing is taken back.
    const undone = await run("rescue", "--undo", id);
    expect(undone.stderr).toContain(`Nothing was put back for session ${id}`);
    const json = await run("rescue", id, "--yes", "--json");
    expect([json.code, json.stderr]).toEqual([1, expect.stringContaining("RESCUE_COMMAND_MISSING")]);
  });

  it("changes how long logs are retained, and refuses what it cannot change", async () => {
    const { home } = await imported();
    const settings = join(home, ".claude/settings.json");
    await writeFile(settings, "{}");
    const args = ["rescue", "--keep-for", "3650", "--tool", "claude-code"];
    expect((await runCommand(args, home)).stderr).toContain("Nothing was written");
    expect((await runCommand([...args, "--yes"], home)).stdout).toContain("cleanupPeriodDays is set to 3650");
    expect(JSON.parse(await readFile(settings, "utf8"))).toEqual({ cleanupPeriodDays: 3650 });
    const codex = await runCommand(["rescue", "--keep-for", "9", "--tool", "codex"], home);
    expect([codex.code, codex.stderr]).toEqual([1, expect.stringContaining("cannot be changed")]);
    expect((await runCommand(["rescue", "--keep-for", "x"], home)).code).toBe(2);
    expect((await runCommand(["rescue", "--yes"], home)).code).toBe(2);
  });

  it("removes stored logs on request", async () => {
    const { home } = await imported();
    expect((await runCommand(["vacuum", "--logs"], home)).stdout).toContain("Stored logs removed");
    expect(JSON.parse((await runCommand(["rescue", "--json"], home)).stdout).stored).toMatchObject({ sessions: 0 });
  });
});

describe("sessarc resume", () => {
  /** A program of the assistant's name that says where it was started, and with what. */
  async function withProgram(home: string): Promise<Record<string, string>> {
    const bin = join(home, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "claude"), `#!/bin/sh\nprintf '%s ' "$PWD" "$@" > "${home}/started"\nexit 7\n`, {
      mode: 0o755,
    });
    return { PATH: `${bin}:${process.env.PATH ?? ""}` };
  }

  it.skipIf(process.platform === "win32")(
    "starts the assistant in the session's folder, with its exit code",
    async () => {
      const { home, cwd } = await imported();
      const env = await withProgram(home);
      expect((await runCommand(["resume", "last"], home, env)).code).toBe(7);
      expect(await readFile(join(home, "started"), "utf8")).toBe(`${cwd} --resume ${KEY} `);
      const printed = await runCommand(["resume", "last", "--print"], home, env);
      expect([printed.code, printed.stdout.trim()]).toEqual([0, `cd '${cwd}' && claude --resume ${KEY}`]);
    },
  );

  it.skipIf(process.platform === "win32")(
    "puts a lost log back first, and resumes a copy in another folder",
    async () => {
      const { home, cwd, path } = await imported();
      const env = await withProgram(home);
      await rm(path);
      await runCommand(["rescue"], home);
      const asked = await runCommand(["resume", "last"], home, env);
      expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining(`writes  ${path}`)]);
      expect((await runCommand(["resume", "last", "--yes"], home, env)).code).toBe(7);
      expect((await readFile(path)).length).toBeGreaterThan(0);
      await rm(cwd, { recursive: true });
      const gone = await runCommand(["resume", "last"], home, env);
      expect([gone.code, gone.stderr]).toEqual([
        1,
        expect.stringContaining("is gone. `sessarc resume last --in <folder>`"),
      ]);
      await mkdir(join(home, "moved"));
      expect((await runCommand(["resume", "last", "--in", join(home, "moved"), "--yes"], home, env)).code).toBe(7);
      expect(await readFile(join(home, "started"), "utf8")).toMatch(
        new RegExp(`^${home}/moved --resume [0-9a-f-]{36} $`),
      );
    },
  );
});
