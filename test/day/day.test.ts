/**
 * A day with the packed package: installed, started, at login again after a power cut, updated while it runs; two users, two archives, a full
 * disk, a clock that is set back. Whatever comes, each command answers with what the logs have by now, or says what it did not import in its second.
 */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { packedInstall } from "../door/_packed.ts";
import { fillDisk, mountSmall } from "../small-disk.ts";
import { runEntry } from "./_entry.ts";
import { type Machine, machine, runWords, toCli, toCopy, toSession, update } from "./_machine.ts";

let packed: string;
beforeAll(async () => {
  packed = await packedInstall();
});

const SENTENCE =
  /^(\d+) sessions? of (\d+) assistants? (?:is|are) safe\.(?: They cost about <?\$[\d.]+, <?\$[\d.]+ this week\.)?$/m;

interface Sessions {
  total: number;
  sessions: { id: string; messageCount: number }[];
  asOf: string | null;
  behind: number | null;
}

/** What each reading command shows of the newest turn, whose prompt is `word`. */
async function readAll(t: Machine, total: number, word: string): Promise<void> {
  const sessions = await t.json<Sessions>("sessions");
  expect(sessions).toMatchObject({ total });
  expect(await t.json("search", word)).toMatchObject({ total: { sessions: 1 } });
  expect((await t.run("show", "last")).stdout).toContain(word);
  for (const words of [["usage", "session"], ["report"], ["status"]]) {
    const { code, stdout, stderr } = await t.run(...words);
    expect([words, [0, 3].includes(code ?? 1)]).toEqual([words, true]);
    expect(stderr).not.toMatch(/newer|as of|error/i);
    expect(stdout).not.toBe("");
  }
  const usage = await t.json<{ rows: unknown[] }>("usage", "session");
  expect(usage.rows).toHaveLength(total);
}

describe.skipIf(process.platform !== "linux")("a day", () => {
  it("from the first run over reboots to an update", async () => {
    const own = await toCopy(packed);
    const t = await machine(toCli(own));
    for (const n of [1, 2, 3]) await t.write(n, n);

    // First run, at a terminal: a sentence, figures, one question.
    const words = [process.execPath, toCli(own), "serve", "--no-open", "--port", "0"].join(" ");
    const first = await runWords(["script", "-qec", words, "/dev/null"], { ...t.env, TERM: "xterm" }, t.home, "y\n");
    const said = stripVTControlCharacters(first.stdout).replaceAll("\r", "\n");
    expect(SENTENCE.exec(said)?.slice(1, 3)).toEqual(["3", "1"]);
    expect(first.stdout.split("Keep sessarc running, and start it at login?")).toHaveLength(2);
    expect(first.stdout).toMatch(/sessarc runs in the background at http/);

    // It runs, and follows.
    expect(await t.status()).toMatchObject({ running: true, background: true, login: { kind: "profile" } });
    await t.write(4, 4);
    await expect.poll(async () => (await t.json<Sessions>("sessions")).total).toBe(4);
    await readAll(t, 4, "word4");

    // A power cut. Without a service the commands are as current.
    await t.kill();
    await t.write(5, 5);
    await t.write(1, 6);
    await readAll(t, 5, "word6");
    expect(await t.status()).toMatchObject({ running: false });

    // The machine starts, and the login shell reads the profile; a second one does, too.
    await t.write(6, 7);
    const login = (await t.status()).login ?? { kind: "", path: "" };
    await runEntry(login, t.home);
    await runEntry(login, t.home);
    await expect.poll(async () => (await t.status()).running).toBe(true);
    await expect.poll(async () => (await t.json<Sessions>("sessions")).total).toBe(6);
    await readAll(t, 6, "word7");
    expect(await t.status()).toMatchObject({ background: true, ended: null });

    // An update while it runs: status names both versions, the next command starts the new one.
    const old = await t.status();
    await update(own, "99.0.0");
    expect(await t.status()).toMatchObject({ running: true, pid: old.pid, version: old.version, installed: "99.0.0" });
    expect((await t.run("status")).stdout).toMatch(`${old.version}; 99.0.0 is installed: sessarc restart`);
    await t.write(7, 8);
    const next = await t.run("sessions");
    expect(next.stderr).toBe(`The service was of sessarc ${old.version}; it was started again with 99.0.0.\n`);
    expect(await t.status()).toMatchObject({ running: true, version: "99.0.0", background: true });
    await expect.poll(async () => (await t.json<Sessions>("sessions")).total).toBe(7);
    await readAll(t, 7, "word8");
    // And after a reboot as well: the entry names the package, not its version.
    await t.kill();
    await runEntry(login, t.home);
    await expect.poll(async () => (await t.status()).version).toBe("99.0.0");

    expect((await t.run("stop", "--at-login")).stdout).toBe("No longer starts at login\nStopped\n");
    expect(await t.status()).toMatchObject({ running: false, login: null });
  });

  it("a unit of systemd and an entry of the desktop start it, with the user's folders", async () => {
    for (const kind of ["systemd", "autostart"]) {
      const t = await machine(toCli(packed), kind === "autostart" ? { XDG_CURRENT_DESKTOP: "GNOME" } : {});
      if (kind === "systemd") {
        // A manager that starts nothing.
        const said = 'case "$*" in *restart*) exit 1 ;; esac';
        await writeFile(join(t.env.PATH ?? "", "systemctl"), `#!/bin/sh\n${said}\n`);
        await chmod(join(t.env.PATH ?? "", "systemctl"), 0o755);
      }
      await t.write(1, 1);
      expect(await t.run("start", "--at-login", "--port", "0")).toMatchObject({ code: 0 });
      const { login } = await t.status();
      expect(login?.kind).toBe(kind);
      await t.kill();
      if (login) await runEntry(login, t.home);
      await expect.poll(async () => (await t.status()).running).toBe(true);
      // It found the logs in `CLAUDE_CONFIG_DIR`, which only the entry names.
      await expect.poll(async () => (await t.json<Sessions>("sessions")).total).toBe(1);
      await t.write(2, 2);
      await expect.poll(async () => (await t.json<Sessions>("sessions")).total).toBe(2);
      expect((await t.run("stop", "--at-login")).code).toBe(0);
    }
  });

  it("an assistant that is installed after the service is followed", async () => {
    const t = await machine(toCli(packed));
    // The folder is there, without a log in it.
    await mkdir(join(t.home, "claude/projects"), { recursive: true });
    expect((await t.run("start", "--port", "0")).code).toBe(0);
    await expect.poll(async () => (await t.run("status")).stdout).toMatch(/follows the logs/);
    await t.write(1, 1);
    await expect.poll(async () => (await t.json<Sessions>("sessions")).total).toBe(1);
  });

  it("two users, and two archives of one of them, have a service each", async () => {
    const [ann, bob] = [await machine(toCli(packed)), await machine(toCli(packed))];
    await ann.write(1, 1);
    await bob.write(2, 2, 2);
    const second = ["--data-dir", join(ann.home, "xdg/data/sessarc", "..", "second")];
    for (const [t, flags] of [
      [ann, []],
      [bob, []],
      [ann, second],
    ] as const)
      expect((await t.run("start", "--port", "0", ...flags)).code).toBe(0);
    const of = (t: Machine, ...flags: string[]) => t.json<Sessions>("sessions", ...flags);
    for (const [t, flags, id] of [
      [ann, [], 1],
      [bob, [], 2],
      [ann, second, 1],
    ] as const)
      await expect
        .poll(() => of(t, ...flags))
        .toMatchObject({ total: 1, sessions: [{ id: `claude-code:${toSession(id)}` }] });
    expect((await bob.run("stop")).stdout).toBe("Stopped\n");
    expect([(await ann.status()).running, (await bob.status()).running]).toEqual([true, false]);
    expect((await ann.run("stop", ...second)).stdout).toBe("Stopped\n");
    expect((await ann.status()).running).toBe(true);
  });

  it("a full disk stops nothing that reads, and what could not be imported comes when there is room", async (test) => {
    const t = await machine(toCli(packed));
    await mkdir(t.data, { recursive: true });
    const unmount = mountSmall(t.data, "6m");
    if (!unmount) return test.skip();
    try {
      await t.write(1, 1);
      await t.run("import");
      const full = join(t.data, "full");
      fillDisk(full);
      await t.write(2, 2);
      const behind = await t.run("sessions", "--json");
      expect([behind.code, JSON.parse(behind.stdout)]).toMatchObject([0, { total: 1 }]);
      expect(behind.stderr).toMatch(/full.*The answer is as of \d\d:\d\d/);
      const start = await t.run("start", "--port", "0");
      expect([start.code, start.stderr]).toEqual([1, expect.stringMatching(/full/)]);
      expect(start.stderr).not.toMatch(/^\s+at /m);
      await writeFile(full, "");
      await expect.poll(() => t.json("sessions")).toMatchObject({ total: 2, behind: 0 });
      expect((await t.run("start", "--port", "0")).code).toBe(0);
      fillDisk(full);
      await t.write(3, 3);
      expect((await t.run("show", "last")).code).toBe(0);
      await writeFile(full, "");
      await t.write(3, 4);
      await expect.poll(async () => (await t.json<Sessions>("sessions")).total, { timeout: 120_000 }).toBe(3);
      expect((await t.run("stop")).code).toBe(0);
    } finally {
      await t.kill();
      unmount();
    }
  });

  it("a clock that is set back hides nothing that is written then", async () => {
    const t = await machine(toCli(packed));
    await t.write(1, 1);
    await t.run("import");
    const back = join(t.home, "back.mjs");
    await writeFile(back, "const now = Date.now; Date.now = () => now() - 2 * 86_400_000;\n");
    const yesterday = { ...t, env: t.env };
    yesterday.env.NODE_OPTIONS = `--import=${back}`;
    await t.write(2, 2);
    await expect.poll(() => t.json("sessions")).toMatchObject({ total: 2, behind: 0 });
    expect((await t.run("start", "--port", "0")).code).toBe(0);
    await t.write(3, 3);
    await expect.poll(async () => (await t.json<Sessions>("sessions")).total).toBe(3);
    // Set right again: the next command restarts nothing, and loses nothing.
    delete yesterday.env.NODE_OPTIONS;
    await t.write(1, 9);
    await expect.poll(async () => (await t.run("show", toSession(1))).stdout).toContain("word9");
    expect(await t.status()).toMatchObject({ running: true, background: true });
    expect(JSON.parse(await readFile(join(t.data, "service.json"), "utf8"))).toMatchObject({ restarts: [] });
  });
});
