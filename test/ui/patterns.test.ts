/** Colours of series. */
import { expect, it } from "vitest";
import { placesOf } from "../../ui/components/chart/patterns.ts";

it("a model keeps its colour when the range changes, and no two of a chart share one", () => {
  const whole = placesOf(["opus", "sonnet", "haiku", "gpt", "gemini", "grok"]);
  expect(new Set(whole.values()).size).toBe(6);
  const zoomed = placesOf(["gemini", "opus"]);
  expect(zoomed.get("gemini")).toBe(whole.get("gemini"));
  expect(zoomed.get("opus")).toBe(whole.get("opus"));
  expect(new Set(placesOf(["kimi", "opus", "qwen", "sonnet", "glm", "haiku"]).values()).size).toBe(6);
});
