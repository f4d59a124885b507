/** Error codes of attestations and of the commit hook. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    ATTESTATION_INVALID: { reason: string };
    HOOK_UNUSABLE: { path: string; reason: string };
  }
}

export const errors = defineErrors({
  HOOK_UNUSABLE: {
    status: 409,
    why: ({ path, reason }) => `Cannot add a line to the hook ${path}: ${reason}`,
    fix: () => "Make it an executable shell script that starts with #!/bin/sh, or move it away, then install again.",
  },
  ATTESTATION_INVALID: {
    status: 422,
    why: ({ reason }) => `The attestation is not valid: ${reason}`,
    fix: () =>
      "Pass the file that `sessarc verify --format in-toto` printed, and with --key the public key of the machine that signed it.",
  },
});
