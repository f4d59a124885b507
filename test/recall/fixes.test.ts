/** An error that was seen before is answered with what fixed it. */
import { expect, it } from "vitest";
import type { Answer } from "../../plugins/recall/index.ts";
import { makeTempDir } from "../_setup.ts";
import { edit, fails, says, shell, startWith, user } from "./sessions.ts";

it("names the commands and edits that fixed an error, in its line, once, and with secrets masked", async () => {
  const key = `sk_${"live"}_4eC39HqLyjWDarjtT1zdp7dc`;
  const at = (day: number) => `2026-11-2${day}T10:00:00.000Z`;
  const { kernel } = await startWith(await makeTempDir(), [
    {
      ...{ n: 1, cwd: "/w/app", at: at(0) },
      turns: [
        user("run the migrations"),
        fails("./migrate.sh", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
        shell(`STRIPE_KEY=${key} docker compose up -d`),
        shell("./migrate.sh"),
        says("Migrated."),
      ],
    },
    {
      ...{ n: 2, cwd: "/w/app", at: at(1) },
      turns: [
        user("check the types"),
        fails("npx tsc", "a.ts(3,1): error TS2322: Type 'string' is not assignable to type 'number'."),
        edit("/w/app/src/a.ts"),
        shell("npx tsc"),
        says("They are right now."),
      ],
    },
    {
      ...{ n: 3, cwd: "/w/app", at: at(2) },
      turns: [
        user("run the tests"),
        fails("npm test", "Error: Cannot find module 'left-pad'"),
        says("It is not there."),
      ],
    },
  ]);
  const ask = async (query: Record<string, string>) =>
    (await (await kernel.fetch(`/api/recall?${new URLSearchParams(query)}`)).json()) as Answer;
  const refused = await ask({ error: "connect ECONNREFUSED 127.0.0.1:5432" });
  expect(refused.evidence[0]?.fix).toEqual({ text: expect.stringContaining("docker compose up -d"), files: [] });
  expect(refused.text).toMatch(/\(worked again at #5 after ".*docker compose up -d"\)/);
  expect(JSON.stringify(refused)).not.toContain(key);
  expect((await ask({ error: "TS2322" })).text).toContain('(worked again at #5 after changes of "/w/app/src/a.ts")');
  const none = await ask({ error: "Cannot find module 'left-pad'" });
  expect([none.evidence[0]?.fix, none.text]).toEqual([undefined, expect.stringContaining("(nothing fixed it there)")]);
  // A question about a command has the fix as a line.
  const command = await ask({ command: "./migrate.sh" });
  expect(command.text.match(/docker compose up -d/g)).toHaveLength(1);
});
