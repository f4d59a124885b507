/** `sessarc import --file`: an export of a chat product, which no folder of an assistant holds. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

const chat = (uuid: string, text: string) => ({
  uuid,
  name: "Lamps",
  created_at: "2026-06-01T10:00:00Z",
  updated_at: `2026-06-01T10:00:0${text.length % 10}Z`,
  chat_messages: [{ uuid: `${uuid}-1`, sender: "human", text, created_at: "2026-06-01T10:00:01Z" }],
});

async function exported(home: string, content: unknown, name = "conversations.json"): Promise<string> {
  const folder = join(home, "export");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), JSON.stringify(content));
  return join(folder, name);
}

describe("sessarc import --file", () => {
  it("imports an export once, replaces conversations of a later one, and goes on reading nothing", async () => {
    const home = await makeTempDir();
    const first = await runCommand(
      ["import", "--file", await exported(home, [chat("c1", "Hello"), chat("c2", "Hi")])],
      home,
    );
    expect([first.code, first.stdout, first.stderr]).toEqual([
      0,
      expect.stringContaining("2 imported"),
      expect.stringContaining("no tokens"),
    ]);

    const again = await runCommand(["import", "--file", await exported(home, [chat("c1", "Hello, lamp")])], home);
    expect(again.stdout).toContain("1 imported");
    const shown = await runCommand(["show", "claude-ai:c1"], home);
    expect(shown.stdout).toContain("Hello, lamp");
    const sessions = await runCommand(["sessions", "--json"], home);
    expect(sessions.stdout.match(/claude-ai:c\d/g)?.sort()).toEqual(["claude-ai:c1", "claude-ai:c2"]);

    const scan = await runCommand(["import", "--dry-run"], home);
    expect(scan.code).toBe(3); // no export is found without its path
  });

  it("refuses what is not an export", async () => {
    const home = await makeTempDir();
    const run = async (...args: string[]) => {
      const { code, stderr } = await runCommand(["import", ...args], home);
      return [code, stderr];
    };
    expect(await run("--file", join(home, "none.json"))).toEqual([2, expect.stringContaining("There is no file")]);
    expect(await run("--file", await exported(home, [{ a: 1 }]))).toEqual([
      2,
      expect.stringContaining("not an export"),
    ]);
    expect(await run("--file", await exported(home, [chat("c", "x")], "other.json"))).toEqual([
      2,
      expect.stringContaining("not an export"),
    ]);
    expect(await run("--file", "x", "--tool", "codex")).toEqual([2, expect.stringContaining("--file")]);
  });
});
