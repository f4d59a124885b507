/** Error codes of shares. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    SHARE_NOT_FOUND: { id: string };
    SHARE_ENDED: { id: string; session: string };
  }
}

export const errors = defineErrors({
  SHARE_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No share ${id}`,
    fix: () => "GET /shares lists the shares.",
  },
  SHARE_ENDED: {
    status: 409,
    why: ({ id }) => `Share ${id} has ended: it expired or was revoked`,
    fix: ({ session }) => `Share session ${session} again for a new link.`,
  },
});
