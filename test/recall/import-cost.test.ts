/** What an import of many sessions asks the catalogue for hooks that offer lines, and for logs that were scrubbed: nothing for each. */
import { expect, it } from "vitest";
import { countAsked } from "../asked.ts";
import { offering, post } from "./_hook.ts";
import { says, user, writeSessions } from "./sessions.ts";

it("asks once which sessions have offered lines and scrubbed logs, however many are imported", async () => {
  const turns = [user("look at the parser"), says("It is done.")];
  const { served } = await offering([{ n: 1, turns }]);
  const asked = countAsked(served.kernel.storage.db);
  const many = Array.from({ length: 60 }, (_, i) => ({ n: i + 2, turns }));
  await writeSessions(served.home, many);
  await post(served.kernel, "/api/import", { all: true });
  // Answered after what imports left to be done.
  await served.kernel.fetch("/api/recall/log");
  asked.on = false;
  const of = (table: string) => asked.reads.filter((sql) => sql.includes(`from ${table}`) && !sql.includes("order by"));
  expect(of("security_scrub_file").length).toBeLessThanOrEqual(1);
  expect(of("security_scrub_session").length).toBeLessThanOrEqual(1);
  expect(of("recall_offered").length).toBeLessThanOrEqual(1);
  expect(asked.statements.length).toBeGreaterThan(60);
});
