/** Secrets that stand where a text is cut: masked first and cut afterwards, nothing of one is left. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { toLog } from "../security/_kernel.ts";
import { letters } from "../security/_samples.ts";
import { startHub } from "./_hub.ts";

/** Where the hub's tools, the search and the archive cut a text. */
const CUTS = [60, 140, 160, 200, 300, 400, 1_000, 1_500, 2_000, 4_000];
const OFFSETS = [1, 4, 9, 18, 27, 36, 39];
const BODY = letters(36, 91);
const KEY = `ghp_${BODY}`;
const PARTS = Array.from({ length: BODY.length - 7 }, (_, i) => BODY.slice(i, i + 8));
const leftIn = (text: string) => PARTS.filter((part) => text.includes(part));

/** Logs below `home`; answers their sessions' ids. */
async function writeLogs(home: string): Promise<string[]> {
  const folder = join(home, ".claude/projects/-w-app");
  await mkdir(folder, { recursive: true });
  const ids: string[] = [];
  for (const cut of CUTS)
    for (const offset of OFFSETS) {
      const id = `aaaaaaaa-0000-4000-8000-${String(ids.length).padStart(12, "0")}`;
      // The word that is looked for is at the beginning; as much as fits of the key is before the cut.
      const filler = `needle ${"so it was ".repeat(500)}`.slice(0, Math.max(7, cut - offset - 1));
      const text = `${filler} ${KEY} and more`;
      const rows = [
        { role: "user" as const, text },
        { role: "call" as const, name: "Bash", input: { command: text, description: text }, id: "c" },
        { role: "result" as const, id: "c", text },
        { role: "assistant" as const, text },
      ];
      await writeFile(join(folder, `${id}.jsonl`), toLog(rows, "/w/app", "main"));
      ids.push(`claude-code:${id}`);
    }
  return ids;
}

it("no part of a secret is left where a tool, a snippet, a title or an export is cut", async () => {
  const t = await startHub({ plugins: [claude(), insights()] });
  const ids = await writeLogs(t.home);
  await t.send("POST", "/api/import", { all: true });
  const call = async (tool: string, args: object) => {
    const body = { name: `sessarc__${tool}`, arguments: { max_tokens: 20_000, ...args } };
    return JSON.stringify((await t.send("POST", "/api/mcp/call", body)).body);
  };
  for (const query of ["needle", "more", ""])
    expect(leftIn(await call("search_sessions", { query, limit: 50 })), query).toEqual([]);
  for (const id of ids) {
    for (const tool of ["get_session", "get_messages"])
      expect(leftIn(await call(tool, { session: id })), `${tool} ${id}`).toEqual([]);
    const path = `/api/sessions/${encodeURIComponent(id)}`;
    for (const cut of [50, 150, 1_000]) {
      const page = await t.json(`${path}/messages?redacted=1&cut=${cut}`);
      expect(leftIn(JSON.stringify(page)), `${id} cut at ${cut}`).toEqual([]);
    }
    const response = await t.kernel.fetch(`${path}/export-redacted?format=json`);
    expect(leftIn(await response.text()), `export of ${id}`).toEqual([]);
  }
});

it("a command masks secrets with `--redacted`, and unasked when an assistant runs it", async () => {
  const home = await makeTempDir();
  const ids = await writeLogs(home);
  await runCommand(["import", "--all"], home);
  const shown = ["search", "needle", "--limit", "100"];
  const whole = ["show", ids.at(-1) ?? ""];
  for (const args of [shown, [...shown, "--json"], whole, [...whole, "--json"], ["export", ids.at(-1) ?? ""]]) {
    const plain = await runCommand(args, home);
    expect(leftIn(plain.stdout).length, `${args.join(" ")}: ${plain.stderr}`).toBeGreaterThan(0);
    const redacted = await runCommand([...args, "--redacted"], home);
    expect([redacted.code, leftIn(redacted.stdout)], args.join(" ")).toEqual([0, []]);
    const assistant = await runCommand(args, home, { CLAUDECODE: "1" });
    expect([assistant.code, leftIn(assistant.stdout)], args.join(" ")).toEqual([0, []]);
    expect(assistant.stderr).toContain("since Claude Code runs this command");
    expect(leftIn((await runCommand([...args, "--raw"], home, { CLAUDECODE: "1" })).stdout).length).toBeGreaterThan(0);
  }
});
