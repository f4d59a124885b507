/** Nothing that steers a terminal or turns the direction of its text is printed, whatever logs and other programs' files hold. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allCommands } from "../../core/cli/commands.ts";
import { printable, toTerminal } from "../../core/utils/printable.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import type { Ran } from "../built.ts";
import { runCommand } from "../command.ts";
import { EVERY, writeFiles } from "./_every.ts";

/** One of each kind: a sequence, its 8-bit form, a title, a bell, and every mark of direction. */
const EVIL =
  "\u001b[31m\u001b]0;title\u0007\u009b2J\u0085\u007f\b\u202e\u202d\u202a\u202b\u202c\u2066\u2067\u2068\u2069\u200e\u200f\u061c";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
const SEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const NAMES = Object.keys(EVERY);
const SESSION = "5e550000-0000-4000-8000-000000000001";

let home: string;

/** A session of Claude Code in which every text is hostile. */
function hostileLog(): string {
  const base = { cwd: `/w/${EVIL}red`, sessionId: SESSION, version: `2.1${EVIL}`, gitBranch: `main${EVIL}` };
  const at = (second: number) => new Date(Date.now() - 3_600_000 + second * 1000).toISOString();
  const tool = (name: string, input: object, i: number) => ({ type: "tool_use", id: `toolu_${i}`, name, input });
  const usage = { input_tokens: 10, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const calls = [
    tool("Bash", { command: `echo ${EVIL} owned`, description: EVIL }, 1),
    tool("Edit", { file_path: `/w/${EVIL}/a.ts`, old_string: `a${EVIL}`, new_string: `b${EVIL}` }, 2),
    tool(`mcp__${EVIL}__x`, { [EVIL]: EVIL }, 3),
    tool("Read", { file_path: `/w/${EVIL}/a.ts` }, 4),
  ];
  const rows: object[] = [
    { ...base, type: "user", uuid: "u0", timestamp: at(1), message: { role: "user", content: `owned ${EVIL} text` } },
    { type: "custom-title", customTitle: `report ${EVIL}gnp.exe`, sessionId: SESSION },
    { type: "summary", summary: `sum ${EVIL}`, leafUuid: "u0" },
  ];
  calls.forEach((call, i) => {
    rows.push(
      {
        ...base,
        type: "assistant",
        uuid: `a${i}`,
        timestamp: at(2 + 2 * i),
        requestId: `req_${i}`,
        message: {
          id: `msg_${i}`,
          type: "message",
          role: "assistant",
          model: `claude-${EVIL}x`,
          content: [{ type: "thinking", thinking: `owned ${EVIL}` }, { type: "text", text: `owned ${EVIL}` }, call],
          usage,
        },
      },
      {
        ...base,
        type: "user",
        uuid: `r${i}`,
        timestamp: at(3 + 2 * i),
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: call.id, content: `owned ${EVIL} failed`, is_error: true }],
        },
      },
    );
  });
  return `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;
}

const unsafe = ({ stdout, stderr }: Ran) => SEEN.exec(`${stdout}${stderr}`)?.[0].codePointAt(0)?.toString(16) ?? null;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "sessarc-control-"));
  await writeFiles(home, {
    [`.claude/projects/-w-app/${SESSION}.jsonl`]: hostileLog(),
    "bad.jsonl": `${EVIL}\n{"type":"${EVIL}`,
    "skill/SKILL.md": `---\nname: skill\ndescription: "does ${EVIL} things"\n---\n${EVIL}\n`,
    ".claude/skills/other/SKILL.md": `---\nname: "ot${EVIL}her"\ndescription: what ${EVIL}: is\n---\n`,
    ".claude.json": JSON.stringify({ mcpServers: { [`a${EVIL}`]: { command: `no${EVIL}such`, args: [EVIL] } } }),
    ".codex/config.toml": `model = "\u202ex"\n`,
    ".gemini/settings.json": `{"mcpServers": {"b": {"url": "http://x${JSON.stringify(EVIL).slice(1, -1)}"`,
  });
  await runCommand(["import"], home);
});
afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 3 }));

describe("what a terminal prints", () => {
  it("names every command", async () => {
    expect((await allCommands(defaultPlugins())).map(({ name }) => name).sort()).toEqual([...NAMES].sort());
  });

  it.each(NAMES)("cannot be steered: %s", async (name) => {
    for (const args of EVERY[name] ?? []) expect([args, unsafe(await runCommand(args, home))]).toEqual([args, null]);
  });

  it.each(NAMES)("is JSON of the same values, all the same: %s --json", async (name) => {
    for (const args of EVERY[name] ?? []) {
      const ran = await runCommand([...args, "--json"], home);
      expect([args, unsafe(ran)]).toEqual([args, null]);
    }
  });

  it("keeps what JSON holds", async () => {
    const { sessions } = JSON.parse((await runCommand(["sessions", "--json"], home)).stdout);
    expect(sessions[0].name ?? sessions[0].title).toContain("\u202e");
  });

  it("has this program's own colours on a terminal, and no others", async () => {
    const colours = new Set<string>();
    for (const args of [...(EVERY.sessions ?? []), ...(EVERY.search ?? []), ["show", "last"], ["usage", "session"]]) {
      const { stdout } = await runCommand(args, home, { TERM: "xterm" }, 120);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what styles begin with
      for (const code of stdout.match(/\u001b.{0,6}/g) ?? []) colours.add(code.split("m")[0] ?? "");
      expect(SEEN.exec(stdout.replaceAll("\u001b", "")), args.join(" ")).toBeNull();
    }
    expect(
      [...colours].every((code) => /^.\[[\d;]+$/.test(code)),
      [...colours].join(),
    ).toBe(true);
    expect(colours.size).toBeGreaterThan(1);
  });

  it("is safe where a wrong word is repeated: commands, flags, ids, files", async () => {
    for (const args of [
      [EVIL],
      ["show", EVIL],
      ["usage", `--${EVIL}`],
      ["import", "--file", EVIL],
      ["export", "last", "--format", EVIL],
      ["help", EVIL],
      ["--config", EVIL],
    ])
      expect(unsafe(await runCommand(args, home))).toBeNull();
  });
});

describe("text for a terminal", () => {
  it("loses what steers it, and marks of direction; letters of every script stay", () => {
    expect(printable(`a${EVIL}b`)).toBe("ab");
    expect(printable("مرحبا \u200c שלום 👩\u200d💻 \u0301e\tx\n")).toBe("مرحبا \u200c שלום 👩\u200d💻 \u0301e\tx\n");
  });

  it("keeps styles only where there are colours", () => {
    const text = "\u001b[1mbold\u001b[22m \u001b[5mblink\u001b[0m \u001b[2J";
    expect(toTerminal(text, true)).toBe("\u001b[1mbold\u001b[22m blink ");
    expect(toTerminal(text, false)).toBe("bold blink ");
  });

  it("is escaped in JSON, on one line or many, and in lines of JSON", () => {
    const value = { "k\u202e": "\u009bx\u007f" };
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2), `${JSON.stringify(value)}\n`]) {
      expect(SEEN.test(toTerminal(text, false))).toBe(false);
      expect(JSON.parse(toTerminal(text, true))).toEqual(value);
    }
    const lines = toTerminal(`${JSON.stringify(value)}\n${JSON.stringify([value])}\nno\u202e json`, false).split("\n");
    expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toEqual([value, [value]]);
    expect(lines[2]).toBe("no json");
  });
});
