/** What a client of the hub that lists its tools starts: the first question then finds the list of sessions and the rules ready. */
import { expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { serveTest } from "../_setup.ts";
import { countAsked } from "../asked.ts";
import { rawSession } from "../mcp-hub/_raw.ts";
import { post } from "./_hook.ts";
import { says, user, writeSessions } from "./sessions.ts";

it("reads the sessions when a client lists the tools, not with its first question", async () => {
  const { kernel, home, url } = await serveTest({ plugins: defaultPlugins(), flags: { sync: false } });
  await writeSessions(home, [{ n: 1, turns: [user("paint the lighthouse"), says("The lighthouse is red now.")] }]);
  await post(kernel, "/api/import", { all: true });
  const asked = countAsked(kernel.storage.db);
  const lists = () => asked.reads.filter((sql) => /from session where not/.test(sql)).length;
  await kernel.fetch("/api/status");
  expect(lists()).toBe(0);
  const session = await rawSession(url);
  await session.ask({ id: 1, method: "tools/list", params: {} });
  await expect.poll(lists).toBe(1);
  const { evidence } = await kernel.inject("recall").answer({ question: "is the lighthouse painted red" });
  expect(evidence.length).toBeGreaterThan(0);
  expect(lists()).toBe(1);
});
