/** A session with all that is hard to show: escape codes, other scripts, wide tables, pictures, commands, plans, questions, a text of 5 MB. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const ODD_ID = "0dd00000-1111-4111-8111-111111111111";
const SUMMARY = `This session is being continued from a previous conversation that ran out of context.\n\n## Done\n\n${Array.from({ length: 12 }, (_, i) => `- step ${i + 1} of what was done before`).join("\n")}\n\nThe last word of the summary`;
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
const ESC = "\u001b";
const MARKDOWN = `Here is what I found in \`src/cache.js\` and [the tests](test/cache.test.js:12), see https://example.com/a_(b).

- [x] read the module
- [ ] write the test

| a rather long heading of a column | another heading | third | fourth | fifth |
|---|---|---|---|---|
| unbreakableidentifierofacolumn | \`const answerToEverything = 42\` | two words | four words in here | fifth column with quite a lot of words to say |

هذه فقرة باللغة العربية تُقرأ من اليمين إلى اليسار.

中文段落与 emoji 👩‍👩‍👧‍👦🏳️‍🌈 以及 한국어, 日本語.

Letters by name: &copy; &AMP; &hellip; &NotEqualTilde; &semi; &#x1F600; and none of it: &notit; &nosuch; &lt;b&gt; \`&copy;\`.`;

export async function writeOddSession(home: string, options: { large?: boolean; at?: number } = {}): Promise<string> {
  const cwd = join(home, "code", "odd");
  const folder = join(home, ".claude", "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"));
  await mkdir(folder, { recursive: true });
  let n = 0;
  const start = options.at ?? Date.UTC(2025, 10, 18, 9);
  const row = (type: string, content: unknown, more: object = {}) =>
    JSON.stringify({
      type,
      uuid: `odd-${++n}`,
      sessionId: ODD_ID,
      cwd,
      version: "2.1.0",
      timestamp: new Date(start + n * 20_000).toISOString(),
      message: {
        role: type,
        content,
        ...(type === "assistant" && {
          id: `m${n}`,
          model: "claude-sonnet-4-5",
          usage: {
            input_tokens: 1200,
            output_tokens: 300,
            cache_read_input_tokens: 9000,
            cache_creation_input_tokens: 400,
          },
        }),
      },
      ...more,
    });
  const call = (name: string, input: unknown, content: unknown, failed = false) => {
    const id = `toolu_odd_${n}`;
    return [
      row("assistant", [{ type: "tool_use", id, name, input }]),
      row("user", [{ type: "tool_result", tool_use_id: id, content, ...(failed && { is_error: true }) }]),
    ];
  };
  const rows = [
    row("user", SUMMARY, { isCompactSummary: true }),
    row(
      "user",
      "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src/cache.js carefully</command-args>",
    ),
    row("user", "<command-name>/cost</command-name><command-args></command-args>"),
    row("assistant", [{ type: "text", text: MARKDOWN }]),
    row("user", "مرحبا، هذا نص عربي\nand a line of English\n你好，世界 👋🏽"),
    ...call(
      "Bash",
      { command: "npm test" },
      `${ESC}[2K${ESC}]0;a title\u0007${ESC}[32m✓ green passes${ESC}[39m\n${ESC}[1;31m✗ red fails${ESC}[0m\n 10%\r 55%\r100% done`,
    ),
    ...call("Read", { file_path: join(cwd, "shot.png") }, [
      { type: "text", text: "a picture" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
    ]),
    ...call(
      "ExitPlanMode",
      { plan: "## The plan\n\n1. **Measure** first\n2. then change" },
      "User has approved your plan.",
    ),
    ...call(
      "AskUserQuestion",
      {
        questions: [
          {
            question: "Which store?",
            header: "Store",
            options: [
              { label: "Memory", description: "gone with the process" },
              { label: "Disk", description: "stays" },
            ],
          },
        ],
      },
      'User has answered your questions: "Which store?"="Disk".',
    ),
    ...call("TaskCreate", { subject: "Write the test", description: "for the cache" }, "Task #1 created"),
    ...call("Task", { description: "Look around", prompt: "Look at **all** of it" }, "## Report\n\nAll is *well*."),
    ...["a", "b", "c", "d"].flatMap((name) =>
      call("Read", { file_path: join(cwd, `src/${name}.js`) }, `// ${name}\nconst hiddenNeedle = "${name}";`),
    ),
    ...call(
      "Edit",
      { file_path: join(cwd, "src/cache.js"), old_string: "const ttl = 1;", new_string: "const ttl = 60;" },
      "done",
    ),
    ...call(
      "Bash",
      { command: "node missing.js" },
      "Error: Cannot find module 'missing.js'\n    at load (node:internal)",
      true,
    ),
    ...(options.large
      ? call(
          "Bash",
          { command: "cat huge.log" },
          `${"a line of a log that is very long\n".repeat(150_000)}far needle\n`,
        )
      : []),
    row("assistant", [{ type: "text", text: "API Error: 529 overloaded_error" }], { isApiErrorMessage: true }),
  ];
  await writeFile(join(folder, `${ODD_ID}.jsonl`), `${rows.join("\n")}\n`);
  return `claude-code:${ODD_ID}`;
}

/** A session all of whose names are too long, turned round or written from right to left. */
export async function writeOddNames(home: string): Promise<string> {
  const long = "Donaudampfschifffahrtsgesellschaft".repeat(5);
  const cwd = join(home, "code", long);
  const id = "0dd00001-1111-4111-8111-111111111111";
  const folder = join(home, ".claude", "projects", "-odd-names");
  await mkdir(folder, { recursive: true });
  const use = { type: "tool_use", id: "t1", name: `mcp__${long}`, input: { file_path: join(cwd, `${long}.ts`) } };
  const result = { type: "tool_result", tool_use_id: "t1", content: long, is_error: true };
  const edit = { file_path: join(cwd, "مجلد", `${long}.ts`), old_string: "a", new_string: long };
  const rows = [
    ["user", `مرحبا، English \u202egnp.exe and ${long}`],
    ["assistant", [use]],
    ["user", [result]],
    ["assistant", [{ type: "tool_use", id: "t2", name: "Edit", input: edit }]],
    ["user", [{ type: "tool_result", tool_use_id: "t2", content: "done" }]],
  ].map(([type, content], n) =>
    JSON.stringify({
      type,
      uuid: `names-${n}`,
      sessionId: id,
      cwd,
      gitBranch: long,
      timestamp: new Date(Date.UTC(2025, 10, 18, 12, n)).toISOString(),
      message: { role: type, content, ...(type === "assistant" && { id: `n${n}`, model: `vendor/${long}` }) },
    }),
  );
  await writeFile(join(folder, `${id}.jsonl`), `${rows.join("\n")}\n`);
  return `claude-code:${id}`;
}

/** A log that holds no time, no prompt and no title, written just now. */
export async function writeUndated(home: string): Promise<void> {
  const cwd = join(home, "code", "odd");
  const folder = join(home, ".claude", "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"));
  await mkdir(folder, { recursive: true });
  const sessionId = "0dd99999-1111-4111-8111-111111111111";
  const message = { role: "assistant", id: "m-undated", content: [{ type: "text", text: "A reply alone" }] };
  const row = { type: "assistant", uuid: "undated", sessionId, cwd, message };
  await writeFile(join(folder, `${sessionId}.jsonl`), `${JSON.stringify(row)}\n`);
}
