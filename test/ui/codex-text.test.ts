/** What Codex writes around its texts, as the reader shows it. */
import { expect, it } from "vitest";
import { patchParts } from "../../ui/features/code/patch-parts.ts";
import { outputHead } from "../../ui/features/session/output-head.ts";
import { describeUi, load, useSharedStage } from "./browser.ts";

it.each([
  [
    "a command that ended",
    "Chunk ID: 1a2b3c\nWall time: 0.2000 seconds\nProcess exited with code 0\nOriginal token count: 4\nOutput:\n",
    { code: 0, seconds: 0.2, isRunning: false },
  ],
  [
    "one that runs",
    "Chunk ID: 1a\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n",
    { seconds: 10, isRunning: true },
  ],
  ["the earlier form", "Exit code: 1\nWall time: 2 seconds\nOutput:\n", { code: 1, seconds: 2, isRunning: false }],
])("the head of an output is recognized: %s", (_, head, fields) => {
  expect(outputHead(`${head}Wall time: 9 seconds\n`)).toEqual({ text: head, ...fields });
});

it.each([
  ["text before it", "x\nWall time: 2 seconds\nOutput:\nb"],
  ["another line in it", "Exit code: 1\nWall time: 2 seconds\nNote: x\nOutput:\nb"],
  ["no code", "Wall time: 2 seconds\nOutput:\nb"],
  ["no output", "Exit code: 1\nWall time: 2 seconds\n"],
])("what only looks like a head stays text: %s", (_, text) => {
  expect(outputHead(text)).toBeUndefined();
});

it("a patch is two versions of each stretch of each file", () => {
  const patch = [
    ...["*** Begin Patch", "*** Add File: new.ts", "+one", "+", "*** Update File: old.ts", "*** Move to: moved.ts"],
    ...["@@ function f", " same", "-- a", "+++ b", "", "@@", "-gone", "*** End of File", "*** Delete File: last.ts"],
    "*** End Patch",
  ].join("\n");
  expect(patchParts(patch)).toEqual([
    { path: "new.ts", isFirst: true, isWhole: true, isDeleted: false, before: "", after: "one\n\n" },
    {
      path: "old.ts",
      isFirst: true,
      isWhole: false,
      isDeleted: false,
      movedTo: "moved.ts",
      before: "same\n- a\n\n",
      after: "same\n++ b\n\n",
    },
    {
      path: "old.ts",
      isFirst: false,
      isWhole: false,
      isDeleted: false,
      movedTo: "moved.ts",
      before: "gone\n",
      after: "",
    },
    { path: "last.ts", isFirst: true, isWhole: false, isDeleted: true, before: "", after: "" },
  ]);
  expect(patchParts("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b")).toBeUndefined();
  expect(patchParts("*** Begin Patch\n+lost\n*** End Patch")).toBeUndefined();
  expect(patchParts("*** Begin Patch\n*** Update File: a\nwhat\n*** End Patch")).toBeUndefined();
});

describeUi("dashboard: a session of Codex", () => {
  const get = useSharedStage();

  it("has the head of an output as one small word, and whole where it is asked for", async () => {
    const stage = get();
    const { page } = stage;
    const answer = await stage.served.kernel.fetch("/api/sessions?tool=codex&limit=50");
    const { sessions } = (await answer.json()) as { sessions: { id: string }[] };
    const withHead = await firstWith(stage.served.kernel, sessions, /^Chunk ID: /);
    await load(stage, `/sessions/${encodeURIComponent(withHead.id)}?m=${withHead.seq}`);
    const row = page.locator("article[aria-current=true]");
    const head = row.getByRole("button", { name: /^(exit code \d+ · )?[\d.]+ s$/ }).first();
    await head.waitFor();
    expect(await row.innerText()).not.toContain("Chunk ID");
    await head.click();
    await expect.poll(() => row.innerText()).toContain("Chunk ID");
    await head.click();
    await expect.poll(() => row.innerText()).not.toContain("Chunk ID");
    // The list of calls reports the same time.
    const list = await stage.served.kernel.fetch("/api/insights/calls?limit=50");
    const { calls } = (await list.json()) as { calls: { sessionId: string; seq: number; name: string; ms: number }[] };
    const call = calls.find(({ sessionId, name }) => sessionId.startsWith("codex:") && name === "exec_command");
    await load(stage, `/sessions/${encodeURIComponent(call?.sessionId ?? "")}?m=${call?.seq}`);
    const took = `${Math.round((call?.ms ?? 0) / 100) / 10} s`;
    await row.getByRole("button", { name: took }).click();
    const wall = ((call?.ms ?? 0) / 1000).toFixed(4);
    await expect.poll(() => row.innerText()).toContain(`Wall time: ${wall} seconds`);
    expect(stage.problems()).toEqual([]);
  });
});

async function firstWith(
  kernel: { fetch(path: string): Promise<Response> | Response },
  sessions: readonly { id: string }[],
  text: RegExp,
): Promise<{ id: string; seq: number }> {
  for (const { id } of sessions) {
    const answer = await kernel.fetch(`/api/sessions/${encodeURIComponent(id)}/messages?limit=200`);
    const { messages } = (await answer.json()) as { messages: { seq: number; kind: string; text: string }[] };
    const found = messages.find((one) => one.kind === "tool_result" && text.test(one.text));
    if (found) return { id, seq: found.seq };
  }
  throw new Error("No such message in the sample data");
}
