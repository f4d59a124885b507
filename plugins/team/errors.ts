/** Error codes of the team server and its clients. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    TEAM_DRIVER_MISSING: { driver: string };
  }
}

export const errors = defineErrors({
  TEAM_DRIVER_MISSING: {
    status: 500,
    why: ({ driver }) => `The team server needs the package ${driver}, which is not installed`,
    fix: ({ driver }) => `Run \`npm install -g ${driver}\`, then start the server again.`,
  },
});
