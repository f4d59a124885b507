/** What was not checked is never called clean: decoded whole within a budget, and beyond it named by a check, left out of a file. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import security from "../../plugins/security/index.ts";
import { builtinRules, createRedactor, createScanner, customRule } from "../../plugins/security/secrets/engine.ts";
import { hideIn } from "../../plugins/security/secrets/hide.ts";
import share from "../../plugins/share/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { LONG } from "../rounds.ts";
import { type Row, SESSION, startWith, toLog } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const token = `ghp_${letters(36, 17)}`;
const hidden = Buffer.from(`export TOKEN=${token}\n`).toString("base64");
/** Encoded text of `mb` MB that does not look like a secret. */
const stretches = (mb: number) =>
  Array.from({ length: mb * 10 }, (_, i) =>
    Buffer.from(`line ${i} of a harmless file\n`.repeat(3000)).toString("base64"),
  )
    .map((text) => text.slice(0, 104_000))
    .join("\n,\n");

const CHECK = `/api/sessions/${SESSION}/security-check`;
const EXPORT = `/api/sessions/${SESSION}/export-redacted`;
const plugins = (budgetMs: number) => [archive(), claude(), security({ budgetMs }), share()];
interface Check {
  findings: { seq: number }[];
  unchecked: number[];
  partial: boolean;
}
const frames = async (response: Response) =>
  (await response.text())
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice(6)) as Record<string, unknown> & { type: string });

it("a check and an export decode all of a text, also behind 4 MB of other encoded stretches", async () => {
  const t = await startWith([{ role: "user", text: `${stretches(5)}\n,\n${hidden}` }]);
  const check = await t.json<Check>(CHECK);
  expect(check).toMatchObject({ partial: false, unchecked: [] });
  expect(check.findings.map(({ seq }) => seq)).toContain(0);
  const response = await t.fetch(`${EXPORT}?format=json`);
  expect(response.headers.get("sessarc-unchecked")).toBe("0");
  const text = await response.text();
  expect(text).not.toContain(hidden.slice(20, 50));
  expect(text.length).toBeGreaterThan(4_000_000);
  const told = await frames(await t.fetch(CHECK, { headers: { accept: "text/event-stream" } }));
  expect(told.at(-1)).toMatchObject({ type: "done", partial: false });
});

it.each(LONG ? ["a", "\0", "\\", "%41"] : ["a", "%41"])(
  "megabytes of %j are no reason to give up on the text, which is said not to be whole",
  (unit) => {
    const scanner = createScanner(builtinRules());
    const text = `GITHUB_TOKEN=${token}\n${unit.repeat((15 * 2 ** 20) / unit.length)}`;
    const { findings, partial } = scanner.scan(text, { forms: true, budgetMs: 500 });
    expect(findings.map(({ ruleId }) => ruleId)).toEqual(["github-pat"]);
    expect(partial).toBe(true);
  },
);

it("finds what is encoded at any place of a long text", () => {
  const scanner = createScanner(builtinRules());
  // Around the places where the clock is read.
  for (const before of [262_100, 262_144 - 1_024, 262_144 - 1_000, 262_143, 600_000]) {
    const text = `${"a line of a log\n".repeat(40_000).slice(0, before)}\n,\n${hidden}\n,\n${"more and more\n".repeat(100_000)}`;
    const { findings, partial } = scanner.scan(text, { forms: true });
    expect([findings.map(({ start, end }) => text.slice(start, end)), partial], String(before)).toEqual([
      [hidden],
      false,
    ]);
  }
});

it("finds what is encoded between lines of single words", () => {
  const scanner = createScanner(builtinRules());
  for (const text of [`${hidden}\n${"more\n".repeat(10)}`, `a_name_of_more_than_24_letters\n${hidden}\nexit`])
    expect(scanner.scan(text, { forms: true }).findings.map(({ start, end }) => text.slice(start, end))).toEqual([
      hidden,
    ]);
});

it("a check names a message that is nested deeper than it looks", async () => {
  const nested = (depth: number) => Array.from({ length: depth }).reduce<unknown>((inner) => [inner], `use ${token}`);
  const t = await startWith([50, 110].map((depth) => ({ role: "call", input: { a: nested(depth) } })));
  const check = await t.json<Check>(CHECK);
  expect(check.findings.map(({ seq }) => seq)).toEqual([0]);
  expect(check).toMatchObject({ partial: true, unchecked: [1] });
  expect(await (await t.fetch(`${EXPORT}?format=json`)).text()).not.toContain(token);
});

it("a short text that could not be checked in time is hidden whole", () => {
  const rules = [customRule({ id: "own", name: "Tickets", pattern: "ACME-[0-9]+" })];
  const scanner = createScanner(rules, { categories: ["secret"] });
  expect(hideIn(scanner, "see ACME-12345")).toBe("see ••••••");
  expect(hideIn(scanner, "see ACME-12345", { budgetMs: -1 })).toBe("[REDACTED:not-checked]");
});

it("past the budget a check names the messages, and is not kept as an answer", async () => {
  const rows: Row[] = [
    { role: "user", text: `use ${token}` },
    { role: "assistant", text: "done" },
  ];
  const t = await startWith(rows, { plugins: plugins(0) });
  expect(await t.json(CHECK)).toMatchObject({ findings: [], partial: true, unchecked: [0, 1], scannedBytes: 0 });
  const { db } = t.kernel.storage;
  expect(await db.all("select * from security_check")).toEqual([]);
});

it("whoever went before it began is worked for no further", async () => {
  const t = await startWith([{ role: "user", text: `use ${token}` }]);
  const redactor = t.kernel.inject("redactor");
  const signal = AbortSignal.abort();
  await expect(redactor.check(SESSION, true, { signal })).rejects.toThrow("does not wait");
  await expect(redactor.document(SESSION, "md", true, { signal })).rejects.toThrow("does not wait");
});

it("past the budget no text leaves, in a file or a share, and both say how many were left out", async () => {
  const t = await startWith([{ role: "user", text: `Please use ${token} for the upload` }], { plugins: plugins(0) });
  for (const format of ["md", "html", "json"]) {
    const response = await t.fetch(`${EXPORT}?format=${format}`);
    const text = await response.text();
    expect(text).not.toMatch(/ghp_|upload/);
    expect(Number(response.headers.get("sessarc-unchecked"))).toBeGreaterThan(0);
    expect(text).toMatch(
      format === "json" ? /"not-checked":\d/ : /texts could not be checked in time and were left out/,
    );
  }
  const { body } = await t.send<{ redactions: Record<string, number> }>("POST", `/api/sessions/${SESSION}/share`, {});
  expect(body.redactions["not-checked"]).toBeGreaterThan(0);
  const told = await frames(await t.fetch(EXPORT, { headers: { accept: "text/event-stream" } }));
  expect(told.at(-1)).toMatchObject({ type: "done", redactions: { "not-checked": expect.any(Number) } });
});

it("the command line says what was left out, and ends with 1", async () => {
  const home = await makeTempDir();
  const write = async (rows: readonly Row[]) => {
    await mkdir(join(home, ".claude/projects/-w-app"), { recursive: true });
    await writeFile(join(home, ".claude/projects/-w-app/s.jsonl"), toLog(rows, "/w/app", "main"));
    await runCommand(["import"], home);
  };
  await write([{ role: "user", text: `use ${token}` }]);
  const whole = await runCommand(["export", "last", "--redacted"], home);
  expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining("[REDACTED:github-pat") });
  // A rule leaves what it would take back again and again.
  await write([
    { role: "user", text: `use ${token}` },
    { role: "assistant", text: `Why? ${"ZXlKa1\\".repeat(20_000)}` },
  ]);
  const ran = await runCommand(["export", "last", "--redacted"], home);
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(/1 text could not be checked in time/) });
  expect(ran.stdout).not.toContain("Why?");
});

it("what is compressed larger than the budget makes the answer partial instead of clean", () => {
  const scanner = createScanner(builtinRules());
  const bomb = gzipSync(Buffer.concat([Buffer.alloc(90 << 20, "harmless "), Buffer.from(token)]), {
    level: 1,
  }).toString("base64");
  expect(scanner.scan(bomb, { forms: true })).toMatchObject({ findings: [], partial: true });
  const redactor = createRedactor(scanner);
  expect(redactor.redactText(`see ${bomb}`)).toBe("[REDACTED:not-checked]");
  const small = gzipSync(Buffer.from(`${"harmless ".repeat(9)}TOKEN=${token}\n`.repeat(50)));
  // Cut in the middle it still gives what there is.
  const cut = small.subarray(0, small.length - 12).toString("base64");
  expect(scanner.scan(cut, { forms: true }).findings).toHaveLength(1);
});
