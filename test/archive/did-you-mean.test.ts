/** A search that finds nothing for a misspelt word offers the question as the archive spells it, and only where that finds something. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

let t: TestKernel;
beforeEach(async () => {
  t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  write("one", "Predict the harbour tides", "The gauge in Cuxhaven is slow: its sensor is offline.");
  write("two", "Rename the lighthouse", "Renamed everywhere.");
  await t.send("POST", "/api/import", { all: true });
});

function write(name: string, asked: string, said: string, home = t.home): void {
  const path = join(home, ".claude/projects/-w-app", `${name}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = [asked, said].map((content, i) => {
    const type = i === 0 ? "user" : "assistant";
    const message = { id: `${name}-${i}`, role: type, model: "m", content };
    return `${JSON.stringify({ type, uuid: `${name}-${i}`, timestamp: `2026-09-0${i + 1}T10:00:00Z`, cwd: "/w/app", message })}\n`;
  });
  writeFileSync(path, rows.join(""));
}
const suggestion = async (q: string, more = "") =>
  (await t.json<{ suggestion: string | null }>(`/api/search?q=${encodeURIComponent(q)}${more}`)).suggestion;

it.each([
  ["a letter swapped", "habrour", "harbour"],
  ["a letter missing, beside a word that is right", "tides harbor", "tides harbour"],
  ["two letters wrong in a long word", "ligthouze", "lighthouse"],
  ["a word of an answer, as it is written there", "cuxhavn", "Cuxhaven"],
  ["a filter beside it stays", "kind:assistant snesor", "kind:assistant sensor"],
])("%s", async (_case, q, wanted) => {
  expect(await suggestion(q)).toBe(wanted);
});

it.each([
  ["the word is found", "harbour"],
  ["each word is there, and no message has both", "harbour lighthouse"],
  ["what is near is in no message with the other word", "harbour lighthuose"],
  ["nothing is near", "zzzzqqqq"],
  ["it is too short to tell", "tdi"],
  ["the filter leaves nothing", "kind:thinking habrour"],
  ["it is left out", "-habrour kind:thinking"],
  ["signs of expressions", "ha(b+r[our"],
])("none where %s", async (_case, q) => {
  expect(await suggestion(q)).toBeNull();
});

it("none where texts are redacted, and none on a later page", async () => {
  expect(await suggestion("habrour", "&redacted=1")).toBeNull();
});

it("the command line has the command to paste", async () => {
  const home = await makeTempDir();
  write("one", "Predict the harbour tides", "It is slow.", home);
  expect((await runCommand(["import"], home)).code).toBe(0);
  const { code, stderr } = await runCommand(["search", "habrour"], home);
  expect(code).toBe(3);
  expect(stderr).toContain("Did you mean: sessarc search 'harbour'");
});
