/** Error codes of the sample data. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    SAMPLE_NOT_STARTED: { reason: string };
  }
}

export const errors = defineErrors({
  SAMPLE_NOT_STARTED: {
    status: 409,
    why: ({ reason }) => `The service with sample data did not start: ${reason}`,
    fix: () => "`npx sessarc --demo` in a terminal shows the same.",
  },
});
