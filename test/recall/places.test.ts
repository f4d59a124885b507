/** An answer says where the words of its question are: whole words, of any form and meaning, in what is shown. */
import { expect, it } from "vitest";
import type { Answer } from "../../plugins/recall/index.ts";
import { makeTempDir } from "../_setup.ts";
import { edit, fails, says, shell, startWith, type Turn, user } from "./sessions.ts";

it("names the places of a question's words in title, command and text", async () => {
  const { kernel } = await startWith(await makeTempDir(), [
    {
      ...{ n: 1, cwd: "/w/app", at: "2026-11-20T10:00:00.000Z" },
      turns: [
        user("Run the migrations of the ledger"),
        fails("./migrate.sh", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
        shell("docker compose up -d"),
        shell("./migrate.sh"),
      ],
    },
    {
      ...{ n: 2, cwd: "/w/app", at: "2026-11-21T10:00:00.000Z" },
      turns: [user("Store the tides"), says("The harbour's extremes are stored, since stationExtremes is slow.")],
    },
  ]);
  const ask = async (q: string) => {
    const [first] = ((await (await kernel.fetch(`/api/recall?${new URLSearchParams({ q })}`)).json()) as Answer)
      .evidence;
    const words = (text: string, places: readonly (readonly [number, number])[]) =>
      places.map(([start, end]) => text.slice(start, end));
    return (
      first && [
        words(first.title, first.places.title),
        words(first.command ?? "", first.places.command),
        words(first.text, first.places.text),
      ]
    );
  };
  expect(await ask("how was econnrefused of the migrate command fixed?")).toEqual([
    ["migrations"],
    ["migrate"],
    ["ECONNREFUSED"],
  ]);
  expect(await ask("which extreme of the harbour is slow?")).toEqual([
    [],
    [],
    ["harbour", "extremes", "Extremes", "slow"],
  ]);
});

it("shows the message, not the name of a call that worked again, where only the message has the words", async () => {
  const after = "export const extremes = computed(tide);";
  const failed: Turn = {
    ...{ call: "Edit", input: { file_path: "/w/app/src/server.js", old_string: "b", new_string: after } },
    ...{ result: "", failed: true },
  };
  const { kernel } = await startWith(await makeTempDir(), [
    { n: 1, turns: [user("Serve the water"), failed, edit("/w/app/src/server.js", "a", after), says("Done.")] },
  ]);
  const q = "how are the tide extremes computed?";
  const answer = (await (await kernel.fetch(`/api/recall?${new URLSearchParams({ q })}`)).json()) as Answer;
  expect(answer.evidence[0]).toMatchObject({ kind: "ran", text: expect.stringContaining(after) });
});

it("shows the stretch of a long message that has most of the words", async () => {
  const filler = "Other things were written meanwhile. ".repeat(20);
  const alone = ["timeout", "retry", "zebra"].map((word) => `The ${word} came up. ${filler}`).join("");
  const text = `${alone}Then the retry of the zebra got a timeout of five seconds. ${filler}`;
  const { kernel } = await startWith(await makeTempDir(), [{ n: 1, turns: [user("Go on"), says(text)] }]);
  const q = "which timeout has the retry of the zebra?";
  const answer = (await (await kernel.fetch(`/api/recall?${new URLSearchParams({ q })}`)).json()) as Answer;
  expect(answer.evidence[0]?.text).toContain("the retry of the zebra got a timeout of five seconds");
});
