/** Error codes of insights. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    PRICE_NOT_SET: { model: string };
    PRICE_TABLE_INVALID: { where: string; reason: string };
  }
}

export const errors = defineErrors({
  PRICE_NOT_SET: {
    status: 404,
    why: ({ model }) => `No price of ${model} was set in the dashboard`,
    fix: () => "GET /prices lists them in `own`; a price of the configuration file is changed there.",
  },
  PRICE_TABLE_INVALID: {
    status: 400,
    why: ({ where, reason }) => `The price table is invalid: ${where} ${reason}`,
    fix: () =>
      "The prices in force are unchanged. Load a JSON file in the format of genai-prices (its data.json), or go back with `sessarc prices update --reset`.",
  },
});
