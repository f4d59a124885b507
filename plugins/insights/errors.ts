/** Error codes of insights. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    PRICE_NOT_SET: { model: string };
    PRICE_TABLE_INVALID: { where: string; reason: string };
    PRICE_CONSENT_NEEDED: { address: string };
    PRICE_FETCH_FAILED: { address: string; reason: string };
    PRICE_TABLE_OLDER: { address: string; date: string; inForce: string };
  }
}

export const errors = defineErrors({
  PRICE_NOT_SET: {
    status: 404,
    why: ({ model }) => `No price of ${model} was set in the dashboard`,
    fix: () =>
      "`sessarc prices` (GET /prices) lists them in `own`; a price of the configuration file is changed there.",
  },
  PRICE_TABLE_INVALID: {
    status: 400,
    why: ({ where, reason }) => `The price table is invalid: ${where} ${reason}`,
    fix: () =>
      "The prices in force are unchanged. Load a JSON file in the format of genai-prices (its data.json), or go back with `sessarc prices update --reset`.",
  },
  PRICE_CONSENT_NEEDED: {
    status: 409,
    why: ({ address }) => `Nothing was fetched: the consent to requests to ${address} is missing`,
    fix: () => "`sessarc prices update` and Settings > Prices ask for it.",
  },
  PRICE_FETCH_FAILED: {
    status: 502,
    why: ({ address, reason }) => `The price table was not fetched: ${address} ${reason}`,
    fix: () => "The prices in force are unchanged. Try again later, or load a file: `sessarc prices update <file>`.",
  },
  PRICE_TABLE_OLDER: {
    status: 409,
    why: ({ address, date, inForce }) =>
      `The table at ${address} is of ${date}, older than the one in force, which is of ${inForce}`,
    fix: () =>
      "The prices in force are unchanged. Check this machine's clock; `sessarc prices update --reset` goes back to the table that comes with sessarc.",
  },
});
