import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    DASHBOARD_NOT_BUILT: Record<never, never>;
  }
}

defineErrors({
  DASHBOARD_NOT_BUILT: {
    status: 404,
    why: () => "The dashboard is not built",
    fix: () => "Run npm run build; the API answers without it",
  },
});
