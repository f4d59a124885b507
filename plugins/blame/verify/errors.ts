/** Error codes of attestations. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    ATTESTATION_INVALID: { reason: string };
  }
}

export const errors = defineErrors({
  ATTESTATION_INVALID: {
    status: 422,
    why: ({ reason }) => `The attestation is not valid: ${reason}`,
    fix: () =>
      "Pass the file that `sessarc verify --format in-toto` printed, and with --key the public key of the machine that signed it.",
  },
});
