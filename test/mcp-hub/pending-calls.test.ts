/** A call that asks more than once: each round of questions has a state of its own. */
import { expect, it, onTestFinished } from "vitest";
import { createPendingCalls } from "../../plugins/mcp-hub/hub/pending-calls.ts";

type Caller = Parameters<ReturnType<typeof createPendingCalls>["run"]>[0];

it("mcp-hub: an answered round of a call cannot be answered again while the next one waits", async () => {
  const pendingCalls = createPendingCalls();
  onTestFinished(() => pendingCalls.close());
  const { signal } = new AbortController();
  const client: Caller = { session: "s", protocol: "modern", capabilities: { elicitation: {} }, tell() {} };
  const asksTwice = async ({ ask }: Caller) => {
    const first = await ask?.("elicitation/create", { message: "first" }, signal);
    const second = await ask?.("elicitation/create", { message: "second" }, signal);
    return { first, second };
  };
  const answer = (state: unknown, key: string, response: object) =>
    pendingCalls.run(client, signal, { state: String(state), responses: { [key]: response } }, asksTwice);

  const first = await pendingCalls.run(client, signal, undefined, asksTwice);
  const second = await answer(first.requestState, "elicitation-1", { action: "accept" });
  expect(second).toMatchObject({ inputRequests: { "elicitation-2": { params: { message: "second" } } } });
  expect(second.requestState).not.toBe(first.requestState);

  await expect(answer(first.requestState, "elicitation-2", { action: "decline" })).rejects.toThrow("no longer waits");
  expect(await answer(second.requestState, "elicitation-2", { action: "cancel" })).toEqual({
    first: { action: "accept" },
    second: { action: "cancel" },
  });
});
