/** How many tokens a model takes, by the price table. */
import { createRequire } from "node:module";
import type * as Table from "@pydantic/genai-prices";
import { findModel } from "./match.ts";

/** Undefined where the table does not say. The first call loads the table (30 ms once). */
export function windowOf(model: string): number | undefined {
  // The long form of a model is named by the tool, not by the table.
  if (model.endsWith("[1m]")) return 1_000_000;
  const { findProvider } = createRequire(import.meta.url)("@pydantic/genai-prices") as typeof Table;
  return findModel(model, findProvider)?.model.context_window;
}
