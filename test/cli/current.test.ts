/** Commands without a service answer with what the logs have by now. */
import { appendFile, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { claudeTurn } from "../claude-turn.ts";
import { runCommand, serveHere } from "../command.ts";

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
    const service = await serveHere([], t.home);
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

async function importFromService(home: string, isWanted: (id: string) => boolean) {
  const service = await serveHere([], home);
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
