/** Questions asked again and again, without a browser. */
import { afterEach, expect, it, vi } from "vitest";
import { effectScope } from "vue";
import { usePoll } from "../../ui/state/poll.ts";

afterEach(() => vi.unstubAllGlobals());

it("an answer that comes after that of a later question is not shown", async () => {
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
  const answers: ((value: string) => void)[] = [];
  const scope = effectScope();
  const poll = scope.run(() => usePoll(() => new Promise<string>((answer) => answers.push(answer)), 60_000));
  if (!poll) throw new Error("No scope");
  const second = poll.now();
  answers[1]?.("new");
  await second;
  answers[0]?.("old");
  await new Promise(setImmediate);
  expect(poll.data.value).toBe("new");
  scope.stop();
});
