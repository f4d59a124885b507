/** Work of which only the newest run counts, without a browser. */
import { expect, it, onTestFinished, vi } from "vitest";
import { effectScope } from "vue";
import { ApiError } from "../../ui/client.ts";
import { useLatest } from "../../ui/state/latest.ts";

/** A task that is answered by hand, in any order. */
function byHand() {
  const runs: { signal: AbortSignal; answer(value: string): void; fail(error: unknown): void }[] = [];
  const scope = effectScope();
  onTestFinished(() => scope.stop());
  const latest = scope.run(() =>
    useLatest((signal) => new Promise<string>((answer, fail) => runs.push({ signal, answer, fail }))),
  );
  if (!latest) throw new Error("No scope");
  return { ...latest, runs, scope };
}
const gone = () => new ApiError({ status: 0, code: "UNREACHABLE", message: "gone" });

it.each([
  ["is answered", (run: { answer(value: string): void }) => run.answer("old")],
  ["fails", (run: { fail(error: unknown): void }) => run.fail(gone())],
])("the newest run counts, even if the one before it %s later", async (_, end) => {
  const { runs, run, data, error, pending } = byHand();
  const first = run();
  const second = run();
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  runs[1]?.answer("new");
  await second;
  if (runs[0]) end(runs[0]);
  await first;
  expect([data.value, error.value, pending.value]).toEqual(["new", undefined, false]);
});

it("the last answer stays while the next is on its way and when that fails; it is fresh in neither case", async () => {
  const { runs, run, data, fresh, error } = byHand();
  const first = run();
  runs[0]?.answer("first");
  await first;
  expect([data.value, fresh.value]).toEqual(["first", "first"]);
  const second = run();
  expect([data.value, fresh.value]).toEqual(["first", undefined]);
  const failure = gone();
  runs[1]?.fail(failure);
  await second;
  expect([data.value, fresh.value, error.value]).toEqual(["first", undefined, failure]);
});

it("a component that is gone takes no answer and asks nothing more", async () => {
  const { runs, run, data, scope } = byHand();
  const first = run();
  scope.stop();
  runs[0]?.answer("late");
  await first;
  await run();
  expect([runs.length, runs[0]?.signal.aborted, data.value]).toEqual([1, true, undefined]);
});

it("a fault of the page is on the console; what the service refuses is not", async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const { runs, run } = byHand();
  const first = run();
  runs[0]?.fail(gone());
  await first;
  expect(said).not.toHaveBeenCalled();
  const second = run();
  runs[1]?.fail(new TypeError("x is undefined"));
  await second;
  expect(said).toHaveBeenCalledOnce();
});
