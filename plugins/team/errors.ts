/** Error codes of the team server and its clients. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    TEAM_DRIVER_MISSING: { driver: string };
    TEAM_DATABASE_UNREACHABLE: { reason: string };
    TEAM_ROLES_MISSING: { roles: readonly string[]; user: string };
    TEAM_BUSY: { ms: number };
    TEAM_NOT_HERE: { what: string; instead: string };
  }
}

export const errors = defineErrors({
  TEAM_DRIVER_MISSING: {
    status: 500,
    why: ({ driver }) => `The team server needs the package ${driver}, which is not installed`,
    fix: ({ driver }) => `Run \`npm install -g ${driver}\`, then start the server again.`,
  },
  TEAM_DATABASE_UNREACHABLE: {
    status: 503,
    why: ({ reason }) => `The team's database does not answer: ${reason}`,
    fix: () => "Check that PostgreSQL runs and that the address of --database is right, then try again.",
  },
  TEAM_ROLES_MISSING: {
    status: 500,
    why: ({ roles, user }) =>
      `The database lacks the roles ${[roles].flat().join(" and ")}, and ${user} may not create them`,
    fix: ({ roles, user }) =>
      `As a superuser run \`${[roles]
        .flat()
        .map((role) => `CREATE ROLE ${role} NOLOGIN;`)
        .join(" ")} GRANT ${[roles].flat().join(", ")} TO ${user};\`, then start the server again.`,
  },
  TEAM_BUSY: {
    status: 503,
    why: ({ ms }) => `Another push is being stored, and was not done after ${ms} ms`,
    fix: () => "Try again: what was sent is not lost.",
  },
  TEAM_NOT_HERE: {
    status: 422,
    why: ({ what }) => `A team server does not do this: ${what}`,
    fix: ({ instead }) => `${instead}.`,
  },
});
