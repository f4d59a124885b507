/** Commands without a service answer with what the logs have by now. */
import { existsSync } from "node:fs";
import { appendFile, cp, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { claudeTurn } from "../claude-turn.ts";
import { runCommand, serveHere } from "../command.ts";
import { fillDisk, mountSmall } from "../small-disk.ts";

const rows = (...turns: number[]) =>
  turns
    .flatMap((n) => claudeTurn(n))
    .map((row) => `${JSON.stringify(row)}\n`)
    .join("");

interface Answer {
  total: number;
  sessions: { id: string; title: string }[];
  asOf: string | null;
  behind: number | null;
}

async function homeWith(...names: string[]) {
  const home = await makeTempDir();
  const log = (name: string) => join(home, ".claude/projects/-w-app", `${name}.jsonl`);
  const write = async (name: string, text: string) => {
    await mkdir(dirname(log(name)), { recursive: true });
    await writeFile(log(name), text);
  };
  for (const [n, name] of names.entries()) await write(name, rows(n));
  const ask = async (...args: string[]) => {
    const { stdout, stderr, code } = await runCommand([...args, "--json"], home);
    return { answer: JSON.parse(stdout || "null") as Answer, stderr, code };
  };
  return { home, log, write, ask };
}

describe("a command without a service", () => {
  it("imports appended lines and new logs before it answers", async () => {
    const t = await homeWith("one");
    await runCommand(["import"], t.home);
    expect((await t.ask("sessions")).answer).toMatchObject({ total: 1, behind: 0 });
    await appendFile(t.log("one"), rows(5));
    await t.write("two", rows(6));
    const { answer, stderr } = await t.ask("sessions");
    expect(answer).toMatchObject({ total: 2, behind: 0 });
    expect(Date.parse(answer.asOf ?? "")).toBeGreaterThan(Date.now() - 60_000);
    expect(stderr).toBe("");
    const shown = await runCommand(["show", "last"], t.home);
    expect(shown.stdout).toContain("word6");
    const first = answer.sessions.find(({ id }) => id.endsWith("one"));
    const one = await runCommand(["show", first?.id ?? ""], t.home);
    expect(one.stdout).toContain("word5");
  });

  it("leaves the archive as it is with --no-sync, and says that logs are newer", async () => {
    const t = await homeWith("one");
    await runCommand(["import"], t.home);
    await t.write("two", rows(6));
    expect((await t.ask("sessions", "--no-sync")).answer).toMatchObject({ total: 1, behind: null });
    expect((await t.ask("sessions")).answer).toMatchObject({ total: 2, behind: 0 });
    expect((await t.ask("sessions", "--no-sync")).answer).toMatchObject({ total: 2, behind: 0 });
  });

  it("imports the first log of a folder that was empty, and those of an assistant that is new", async () => {
    const t = await homeWith("one");
    const empty = join(t.home, ".claude/projects/-w-other");
    await mkdir(empty);
    await runCommand(["import"], t.home);
    await t.ask("sessions");
    await writeFile(join(empty, "three.jsonl"), rows(7));
    expect((await t.ask("sessions")).answer.total).toBe(2);
    const codex = join(
      t.home,
      ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl",
    );
    await mkdir(dirname(codex), { recursive: true });
    const meta = {
      timestamp: "2026-11-20T10:00:00Z",
      type: "session_meta",
      payload: { id: "019a0000-0000-7000-8000-000000000001", timestamp: "2026-11-20T10:00:00Z", cwd: "/w/app" },
    };
    const said = {
      timestamp: "2026-11-20T10:00:01Z",
      type: "event_msg",
      payload: { type: "user_message", message: "hello" },
    };
    await writeFile(codex, `${JSON.stringify(meta)}\n${JSON.stringify(said)}\n`);
    expect((await t.ask("sessions")).answer.total).toBe(3);
  });

  it("marks a log that was removed and imports nothing that was left out", async () => {
    const t = await homeWith("one", "two");
    // Older than the import that left it out.
    await utimes(t.log("two"), 1_700_000_000, 1_700_000_000);
    const { home } = t;
    await importFromService(home, (id) => id.endsWith("one"));
    expect((await t.ask("sessions")).answer).toMatchObject({ total: 1, behind: 0 });
    await rm(t.log("one"));
    expect((await t.ask("sessions")).answer).toMatchObject({ total: 1, behind: 0 });
  });

  it("makes no archive where there is none, and asks a service without reading the logs", async () => {
    const t = await homeWith("one");
    const { stdout } = await runCommand(["usage", "--json"], t.home);
    expect(JSON.parse(stdout)).not.toHaveProperty("asOf");
    const service = await serveHere(["--no-import"], t.home);
    try {
      const response = await fetch(new URL("/api/import", service.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"all":true}',
      });
      expect(response.status).toBe(200);
      expect((await t.ask("sessions")).answer).toMatchObject({ total: 1 });
    } finally {
      await service.stop();
    }
    expect((await t.ask("sessions", "--no-sync")).answer).toMatchObject({ total: 1 });
  });
});

const SLOW = `
import { readdirSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { defineAdapter } from "sessarc/adapter";
export default defineAdapter(() => ({
  name: "slow",
  label: "Slow",
  roots: ({ home }) => [home + "/slow"],
  async *scan(root) {
    for (const name of readdirSync(root)) {
      const { size, mtimeMs } = statSync(root + "/" + name);
      yield { tool: "slow", key: name, path: root + "/" + name, size, mtime: mtimeMs, exclusive: true };
    }
  },
  open: () => ({
    version: () => "1",
    async *read() {
      await wait(700);
      yield { kind: "user", text: "slow" };
      return { usage: {} };
    },
  }),
}));
`;

describe("what a second is not enough for", () => {
  it("is imported newest first; the rest is counted on stderr, and is imported by later commands", async () => {
    const t = await homeWith("one");
    await runCommand(["import"], t.home);
    const plugin = join(t.home, "slow.ts");
    await writeFile(plugin, SLOW);
    await mkdir(join(t.home, "slow"));
    for (const name of ["a", "b", "c"]) await writeFile(join(t.home, "slow", name), name);
    const first = await t.ask("sessions", "--plugin", plugin);
    const behind = first.answer.behind ?? 0;
    expect(behind).toBeGreaterThan(0);
    expect(first.answer.total).toBe(4 - behind);
    expect(first.stderr).toMatch(/^As of \d\d:\d\d; \d logs? (?:is|are) newer: sessarc import$/m);
    let last = first;
    for (let n = 0; n < 30 && last.answer.behind !== 0; n++) last = await t.ask("sessions", "--plugin", plugin);
    expect(last.answer).toMatchObject({ total: 4, behind: 0 });
  });
});

describe("a first start that is ended", () => {
  it("goes on with later commands, though its logs look as if they had been left out", async () => {
    const t = await homeWith("one");
    await utimes(t.log("one"), 1_700_000_000, 1_700_000_000);
    const plugin = join(t.home, "held.ts");
    // Reads nothing before there is a file `go`, and reports by `reading` that it waits for it.
    const gate = 'writeFileSync(ROOT + "/../reading", ""); while (!existsSync(ROOT + "/../go")) await wait(5);';
    const held = SLOW.replace("await wait(700);", gate)
      .replaceAll("ROOT", JSON.stringify(join(t.home, "slow")))
      .replace("import { readdirSync, statSync }", "import { existsSync, readdirSync, statSync, writeFileSync }");
    await writeFile(plugin, held);
    await mkdir(join(t.home, "slow"));
    for (const name of ["a", "b", "c", "d", "e", "f"]) {
      const path = join(t.home, "slow", name);
      await writeFile(path, name);
      await utimes(path, 1_700_000_000, 1_700_000_000);
    }
    const first = await serveHere(["--plugin", plugin], t.home);
    await expect.poll(() => existsSync(join(t.home, "reading"))).toBe(true);
    const ended = first.stop();
    await writeFile(join(t.home, "go"), "");
    await ended;
    let last = await t.ask("sessions", "--plugin", plugin);
    for (let n = 0; n < 30 && last.answer.behind !== 0; n++) last = await t.ask("sessions", "--plugin", plugin);
    expect(last.answer).toMatchObject({ total: 7, behind: 0 });
  });
});

describe("a full disk", () => {
  it("answers as of the last import, and says why", async (test) => {
    const t = await homeWith("one");
    await runCommand(["import"], t.home);
    const data = join(t.home, ".local/share/sessarc");
    const stored = join(t.home, "stored");
    await cp(data, stored, { recursive: true });
    const unmount = mountSmall(data, "4m");
    if (!unmount) return test.skip();
    try {
      await cp(stored, data, { recursive: true });
      await t.write("two", rows(6));
      fillDisk(join(data, "full"));
      const { answer, stderr, code } = await t.ask("sessions");
      expect(code).toBe(0);
      expect(answer.total).toBe(1);
      expect(stderr).toMatch(/full.*The answer is as of \d\d:\d\d/);
    } finally {
      unmount();
    }
  });
});

async function importFromService(home: string, isWanted: (id: string) => boolean) {
  const service = await serveHere(["--no-import"], home);
  try {
    const scan = await (await fetch(new URL("/api/scan", service.url))).json();
    const { projects } = scan as { projects: { sessions: { id: string }[] }[] };
    const sessions = projects.flatMap((project) => project.sessions.map(({ id }) => id)).filter(isWanted);
    await fetch(new URL("/api/import", service.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sessions }),
    });
  } finally {
    await service.stop();
  }
}
