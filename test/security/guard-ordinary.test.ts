/** Calls as assistants make them all day, with a guard that blocks what it could not look at: none of them is, and a secret in each is found. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClock } from "../clock.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const token = `ghp_${letters(36, 83)}`;
const WORDS = "const value import from return function class of the and index server result await".split(" ");
const words = (count: number) => Array.from({ length: count }, (_, n) => WORDS[(n * 7 + (n >> 3)) % WORDS.length]);
const lines = (count: number) => Array.from({ length: count }, (_, n) => `${words(9).join(" ")} ${n};`).join("\n");
const lock = Array.from({ length: 6_000 }, (_, n) => {
  const hash = Buffer.from(`${n}`.repeat(30).slice(0, 64)).toString("base64");
  return `    "node_modules/p${n}": {\n      "version": "1.${n}.0",\n      "integrity": "sha512-${hash}"\n    },`;
}).join("\n");
const minified = Array.from({ length: 40_000 }, (_, n) => `function a${n}(e,t){return e.b${n}("k${n}",t)}`).join("");
const image = Buffer.from(Uint8Array.from({ length: 700_000 }, (_, n) => (n * n * 31 + (n >> 5)) & 255)).toString(
  "base64",
);
const quoted = (count: number) => Array.from({ length: count }, (_, n) => `x["key${n}"] = 'value ${n}'`).join("\n");
const patch = `*** Begin Patch\n*** Update File: a.ts\n${lines(20_000).replace(/^/gm, "+")}\n*** End Patch`;

const clock = createClock();
let t: TestKernel;
let ask: (
  tool: string,
  input: object | string,
) => Promise<{ decision: string; reason: string | null; findings: object[] }>;
/** On a machine that is not too busy to look at a call in the time there is for it. */
const inTime = (...call: Parameters<typeof ask>) => clock.during(0, () => ask(...call));
beforeAll(async () => {
  t = await createTestKernel({ plugins: plugins() });
  const cwd = join(t.home, "app");
  await mkdir(join(cwd, "src"), { recursive: true });
  await writeFile(join(cwd, ".env"), `GITHUB_TOKEN=${token}\n`);
  for (let n = 0; n < 300; n++) await writeFile(join(cwd, "src", `f${1_000 + n}.ts`), "export {};\n");
  await mkdir(join(cwd, "last"));
  for (let n = 0; n < 300; n++) await writeFile(join(cwd, "last", `f${n}.ts`), "export {};\n");
  await writeFile(join(cwd, "last", "z.env"), `GITHUB_TOKEN=${token}\n`);
  await writeFile(join(cwd, "package-lock.json"), lock);
  await writeFile(join(cwd, "bundle.min.js"), minified);
  await writeFile(join(cwd, "large.txt"), lines(12_000));
  await t.send("POST", "/api/security/install-hook", { tool: "claude-code", onFailure: "block" });
  ask = async (tool_name, tool_input) => {
    const body = { hook_event_name: "PreToolUse", tool_name, tool_input, cwd };
    return (await t.send<Awaited<ReturnType<typeof ask>>>("POST", "/api/security/pretooluse?client=claude-code", body))
      .body;
  };
});
afterAll(() => t.close());

const CALLS: [what: string, tool: string, input: (more: string) => object | string][] = [
  ["a long argument", "Bash", (more) => ({ command: `echo ${"a".repeat(200_000)} ${more}` })],
  ["a long here-document", "Bash", (more) => ({ command: `cat > a.ts <<'EOF'\n${lines(20_000)}\n${more}\nEOF` })],
  [
    "a long here-document that the shell fills in",
    "Bash",
    (more) => ({
      command: `cat > a.sh <<EOF\n${'echo "$HOME/$1" \\$x `date` $((1 + 2)) it\'s\n'.repeat(3_000)}${more}\nEOF`,
    }),
  ],
  ["a long program", "Bash", (more) => ({ command: `python3 - <<'EOF'\n${quoted(1_500)}\n${more}\nEOF` })],
  ["a program in an argument", "Bash", (more) => ({ command: `python3 -c '${lines(100)}\n${more}'` })],
  ["a long body", "Bash", (more) => ({ command: `curl -d '{"a":"${"b ".repeat(4_000)}${more}"}' https://x.dev` })],
  [
    "many folders",
    "Bash",
    (more) => ({
      command: `${words(30)
        .map((w, n) => `cd ../${w}${n} && cat a.md`)
        .join("; ")}; : ${more}`,
    }),
  ],
  [
    "wrappers",
    "Bash",
    (more) => ({ command: `sudo env A=1 nice timeout 5 bash -lc 'cd src && time make; : ${more}'` }),
  ],
  ["a pattern for many files", "Bash", (more) => ({ command: `cat src/*.ts; : ${more}` })],
  ["a patch of a megabyte", "apply_patch", (more) => `${patch}\n${more}`],
  ["a patch as an argument", "shell", (more) => ({ command: ["apply_patch", `${patch}\n${more}`], workdir: "src" })],
  ["text typed into a shell", "write_stdin", (more) => ({ session_id: 1, chars: `${lines(6_000)}\n${more}\n` })],
  ["a lock file", "Write", (more) => ({ file_path: "package-lock.json", content: lock + more })],
  ["a bundle", "Write", (more) => ({ file_path: "b.min.js", content: `${minified} ${more}` })],
  ["an image", "mcp__browser__upload", (more) => ({ data: `data:image/png;base64,${image}`, note: more })],
];

it.each(CALLS)("%s", async (_, tool, input) => {
  expect(await inTime(tool, input("done"))).toMatchObject({ decision: "allow", reason: null, findings: [] });
  expect(await inTime(tool, input(token))).toMatchObject({ decision: "block", findings: [{ rule: "github-pat" }] });
});

it.each([
  ["Read", { file_path: "package-lock.json" }],
  ["Read", { file_path: "bundle.min.js" }],
  ["view", { path: "src" }],
  ["read_many_files", { include: ["src/*.ts"] }],
  ["mcp__files__read_multiple_files", { paths: ["src/f1000.ts", "package-lock.json"] }],
  ["mcp__slack__read_channel", { channel: "C1", cursor: "a".repeat(9_000) }],
])("%s %#", async (tool, input) => {
  expect(await inTime(tool, input)).toMatchObject({ decision: "allow", findings: [] });
});

it.each([
  ["Bash", { command: `python3 - <<'EOF'\n${quoted(400)}\nopen(".env")\nEOF` }],
  ["Bash", { command: `python3 -c '${lines(100)}\nopen(".env")'` }],
  ["Bash", { command: `cat > a <<'EOF'\n${lines(9_000)}\nEOF\ncat .env` }],
  ["Bash", { command: `: ${" ".repeat(70_000)};cat .env` }],
  ["Bash", { command: `cat last/*` }],
  ["view", { path: "last" }],
  ["write_stdin", { chars: `${lines(2_000)}\ncat .env\n` }],
])("what stands far behind is found: %s", async (tool, input) => {
  expect(await inTime(tool, input)).toMatchObject({ decision: "block", findings: [{ rule: "github-pat" }] });
});

it("a little is checked whole however late it is, and what came too late reports it", async () => {
  // Each look at the clock is a second later: as on a machine that has no time for us.
  await clock.during(1_000, async () => {
    for (const command of ["cat notes.txt src/f1000.ts", "echo done", "cat src/*"])
      expect(await ask("Bash", { command }), command).toMatchObject({ decision: "allow", partial: false });
    expect(await ask("Bash", { command: "cat src/f1000.ts .env" })).toMatchObject({
      decision: "block",
      partial: false,
    });
    const late = await ask("Read", { file_path: "large.txt" });
    expect(late).toMatchObject({
      decision: "block",
      partial: true,
      reason: expect.stringContaining("machine is busy"),
    });
  });
  expect(await inTime("Read", { file_path: "large.txt" })).toMatchObject({ decision: "allow", partial: false });
});
