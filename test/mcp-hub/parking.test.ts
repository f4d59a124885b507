/** A call that asks more than once: each round of questions has a state of its own. */
import { expect, it, onTestFinished } from "vitest";
import { createParking } from "../../plugins/mcp-hub/hub/parking.ts";
import type { Caller } from "../../plugins/mcp-hub/upstream/pool.ts";

it("mcp-hub: an answered round of a call cannot be answered again while the next one waits", async () => {
  const parking = createParking();
  onTestFinished(() => parking.close());
  const { signal } = new AbortController();
  const client: Caller = { session: "s", era: "modern", capabilities: { elicitation: {} }, tell() {} };
  const asksTwice = async ({ ask }: Caller) => {
    const first = await ask?.("elicitation/create", { message: "first" }, signal);
    const second = await ask?.("elicitation/create", { message: "second" }, signal);
    return { first, second };
  };
  const answer = (state: unknown, key: string, response: object) =>
    parking.run(client, signal, { state: String(state), responses: { [key]: response } }, asksTwice);

  const first = await parking.run(client, signal, undefined, asksTwice);
  const second = await answer(first.requestState, "elicitation-1", { action: "accept" });
  expect(second).toMatchObject({ inputRequests: { "elicitation-2": { params: { message: "second" } } } });
  expect(second.requestState).not.toBe(first.requestState);

  await expect(answer(first.requestState, "elicitation-2", { action: "decline" })).rejects.toThrow("no longer waits");
  expect(await answer(second.requestState, "elicitation-2", { action: "cancel" })).toEqual({
    first: { action: "accept" },
    second: { action: "cancel" },
  });
});
