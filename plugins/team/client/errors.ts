/** Error codes of the machine that pushes. */
import { defineErrors, type Nothing } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    TEAM_LINK_INVALID: { reason: string };
    TEAM_NOT_JOINED: Nothing;
    TEAM_JOINED: { address: string };
    TEAM_SERVER_UNKNOWN: { server: string; known: readonly string[] };
    TEAM_SPACE_UNKNOWN: { space: string; known: readonly string[] };
    TEAM_PERSON_UNKNOWN: { person: string; known: readonly string[] };
    TEAM_NO_PROJECTS: Nothing;
    TEAM_UNREACHABLE: { address: string; reason: string };
    TEAM_ANSWER_INVALID: { address: string; reason: string };
    TEAM_NO_ACCESS: { address: string; code: string; reason: string; remedy: string };
    TEAM_REFUSED: { address: string; code: string; reason: string; remedy: string };
  }
}

/** The remedy is the server's word, not this machine's. */
const toAdvice = ({ remedy }: { remedy: string }): string =>
  remedy === "" ? "Ask an owner of the team, or the person who runs the server." : `The server advises: ${remedy}`;

defineErrors({
  TEAM_LINK_INVALID: {
    status: 422,
    why: ({ reason }) => `The invitation link is invalid: ${reason}`,
    fix: () => "Pass the whole link that the team's owner sent, such as https://team.example.com/join#code.",
  },
  TEAM_NOT_JOINED: {
    status: 409,
    why: () => "This machine is in no team",
    fix: () => "Run `sessarc team join <link>` with an invitation link of the team.",
  },
  TEAM_JOINED: {
    status: 409,
    why: ({ address }) => `This machine has joined ${address} already`,
    fix: () => "Run `sessarc team leave` first if you want to join as another person.",
  },
  TEAM_SERVER_UNKNOWN: {
    status: 422,
    why: ({ server, known }) => `This machine has not joined a server ${server}; it has joined ${known.join(", ")}`,
    fix: () => "Name one of them with --server.",
  },
  TEAM_SPACE_UNKNOWN: {
    status: 422,
    why: ({ space, known }) => `You have no space ${space} on the server; there are ${known.join(", ")}`,
    fix: () => "Name one of them; an owner of the team can add you to another one.",
  },
  TEAM_PERSON_UNKNOWN: {
    status: 422,
    why: ({ person, known }) =>
      `${person} is not the name or id of one person of the team; there are ${known.join(", ")}`,
    fix: () => "Name a person by the id, or by a name that only one has.",
  },
  TEAM_NO_PROJECTS: {
    status: 409,
    why: () => "No project is chosen for this team, so nothing may leave this machine",
    fix: () => "Run `sessarc team projects <project>` for each project to push, then try again.",
  },
  TEAM_UNREACHABLE: {
    status: 503,
    why: ({ address, reason }) => `The team's server ${address} does not answer: ${reason}`,
    fix: () => "Try again later with `sessarc push`: it sends what the server lacks.",
  },
  TEAM_ANSWER_INVALID: {
    status: 502,
    why: ({ address, reason }) => `The team's server ${address} sent an answer that is not accepted: ${reason}`,
    fix: () =>
      "Nothing was done with the answer. Ask the person who runs the server what answers at this address, and update sessarc on both machines.",
  },
  TEAM_NO_ACCESS: {
    status: 403,
    why: ({ address, code, reason }) => `The team's server ${address} refuses this machine (${code}): ${reason}`,
    fix: toAdvice,
  },
  TEAM_REFUSED: {
    status: 422,
    why: ({ address, code, reason }) => `The team's server ${address} refused this (${code}): ${reason}`,
    fix: toAdvice,
  },
});
