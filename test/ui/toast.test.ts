/** Notices, without a browser: how long each stays. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { act, dismiss, hold, toast, toasts } from "../../ui/state/toast.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});
const texts = () => toasts.map((one) => one.text);

it("a notice stays while the pointer or the focus is on it, and has its whole time again afterwards", () => {
  toast("Copied");
  toast("Deleted", { action: { label: "Undo", run() {} } });
  vi.advanceTimersByTime(3_000);
  hold(true);
  vi.advanceTimersByTime(60_000);
  toast("Saved");
  vi.advanceTimersByTime(60_000);
  expect(texts()).toEqual(["Copied", "Deleted", "Saved"]);
  hold(false);
  vi.advanceTimersByTime(3_900);
  expect(texts()).toEqual(["Copied", "Deleted", "Saved"]);
  vi.advanceTimersByTime(200);
  expect(texts()).toEqual(["Deleted"]);
  // Half a minute for what can be undone.
  vi.advanceTimersByTime(30_000);
  expect(texts()).toEqual([]);
  // Or as long as it can be.
  toast("Revoked", { action: { label: "Undo", run() {} }, ms: 120_000 });
  vi.advanceTimersByTime(119_000);
  expect(texts()).toEqual(["Revoked"]);
  vi.advanceTimersByTime(2_000);
  expect(texts()).toEqual([]);
});

it("one that is dismissed under the pointer does not hold the others for ever", () => {
  toast("Deleted");
  toast("Copied");
  hold(true);
  dismiss(toasts[0]?.id ?? -1);
  vi.advanceTimersByTime(4_100);
  expect(texts()).toEqual([]);
});

it("an Undo that fails says why and what to do", async () => {
  const run = () => Promise.reject(Object.assign(new Error("The disk is full."), { fix: "Make room." }));
  toast("Deleted", { action: { label: "Undo", run } });
  for (const one of toasts) await act(one);
  expect(toasts.at(-1)).toMatchObject({ text: "The disk is full. Make room.", bad: true });
  expect(texts()).not.toContain("Deleted");
});
