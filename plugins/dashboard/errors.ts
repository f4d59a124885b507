import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    DASHBOARD_NOT_BUILT: Record<never, never>;
    MESSAGE_NOT_FOUND: { id: string; seq: number };
  }
}

defineErrors({
  DASHBOARD_NOT_BUILT: {
    status: 404,
    why: () => "The dashboard is not built",
    fix: () => "Run npm run build; the API answers without it",
  },
  MESSAGE_NOT_FOUND: {
    status: 404,
    why: ({ id, seq }) => `No message ${seq} in ${id}`,
    fix: () => "GET /sessions/:id says how many there are; they are numbered from 0",
  },
});
