/** Error codes of shares. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    SHARE_NOT_FOUND: { id: string };
  }
}

export const errors = defineErrors({
  SHARE_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No share ${id}`,
    fix: () => "GET /shares lists the shares.",
  },
});
