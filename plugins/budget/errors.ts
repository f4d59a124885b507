/** Error codes of budgets. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    BUDGET_INVALID: { reason: string };
  }
}

export const errors = defineErrors({
  BUDGET_INVALID: {
    status: 400,
    why: ({ reason }) => `The budgets were not stored: ${reason}`,
    fix: () => "`sessarc budget` (GET /budgets) lists those that are in effect.",
  },
});
