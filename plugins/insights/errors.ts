/** Error codes of insights. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    PRICE_NOT_SET: { model: string };
  }
}

export const errors = defineErrors({
  PRICE_NOT_SET: {
    status: 404,
    why: ({ model }) => `No price of ${model} was set in the dashboard`,
    fix: () => "GET /prices lists them in `own`; a price of the configuration file is changed there.",
  },
});
