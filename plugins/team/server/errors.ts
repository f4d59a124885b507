/** Error codes of the team server. */
import { defineErrors, type Nothing } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    TEAM_ADDRESS_INVALID: { address: string };
    TEAM_UNAUTHORIZED: Nothing;
    TEAM_FORBIDDEN: { needs: string };
    TEAM_INVITE_INVALID: Nothing;
    TEAM_KEY_INVALID: { reason: string };
    TEAM_KEY_KNOWN: Nothing;
    TEAM_SIGNATURE_INVALID: Nothing;
    TEAM_MACHINE_REVOKED: Nothing;
    TEAM_RATE_LIMITED: { seconds: number };
    TEAM_NOT_FOUND: { what: string; id: string };
    TEAM_LAST_OWNER: Nothing;
    TEAM_BLOB_WRONG: { sha256: string; reason: string };
    TEAM_BLOBS_MISSING: { missing: string };
    TEAM_MANIFEST_INVALID: { reason: string };
    TEAM_SESSION_TOO_LARGE: { id: string; what: string; has: number; most: number };
    TEAM_PUSH_FAILED: { id: string; reason: string };
    TEAM_WITHDRAWN: { id: string };
    TEAM_FULL: { what: string };
    TEAM_STORE_INVALID: { reason: string };
    TEAM_REPOSITORIES_MISSING: { folder: string };
    TEAM_NO_REPOSITORY: { project: string };
  }
}

defineErrors({
  TEAM_ADDRESS_INVALID: {
    status: 422,
    why: ({ address }) => `${address} is not an address like https://team.example.com`,
    fix: () => "Pass the scheme and the host to --address, and a port if it is not the usual one; no path.",
  },
  TEAM_UNAUTHORIZED: {
    status: 401,
    why: () => "The request has no valid sign-in",
    fix: () => "Run `sessarc team open` for a new sign-in link, or `sessarc push` again for a new token.",
  },
  TEAM_FORBIDDEN: {
    status: 403,
    why: ({ needs }) => `This sign-in may not do that: it needs ${needs}`,
    fix: () => "Ask an owner of the team for an invitation with that right.",
  },
  TEAM_INVITE_INVALID: {
    status: 403,
    why: () => "The invitation is unknown, used, revoked or expired",
    fix: () => "Ask an owner of the team for a new invitation link.",
  },
  TEAM_KEY_INVALID: {
    status: 422,
    why: ({ reason }) => `The public key is invalid: ${reason}`,
    fix: () => "Send the 32 bytes of an Ed25519 public key as base64url.",
  },
  TEAM_KEY_KNOWN: {
    status: 409,
    why: () => "A machine with this key has joined already",
    fix: () => "Run `sessarc team leave`, then join again: that makes a new key.",
  },
  TEAM_SIGNATURE_INVALID: {
    status: 401,
    why: () => "The request for a token is not signed by a machine of this team, is too old, or was sent before",
    fix: () => "Check the clock of the machine.",
  },
  TEAM_MACHINE_REVOKED: {
    status: 401,
    why: () => "The access of this machine to the team was ended",
    fix: () =>
      "Ask an owner of the team for an invitation, then run `sessarc team leave` and `sessarc team join <link>`.",
  },
  TEAM_RATE_LIMITED: {
    status: 429,
    why: () => "Too many requests of this kind from one address",
    fix: ({ seconds }) => `Try again in ${seconds} seconds.`,
  },
  TEAM_NOT_FOUND: {
    status: 404,
    why: ({ what, id }) => `There is no ${what} ${id}`,
    fix: () => "List what there is: `sessarc team status`.",
  },
  TEAM_LAST_OWNER: {
    status: 409,
    why: () => "This is the last machine with the right `own`: without it the team has no owner",
    fix: () => "Invite another machine with `own` first.",
  },
  TEAM_BLOB_WRONG: {
    status: 422,
    why: ({ sha256, reason }) => `The chunk ${sha256} was refused: ${reason}`,
    fix: () => "Send the bytes that have this SHA-256, compressed by gzip, at most 2 MiB inflated.",
  },
  TEAM_BLOBS_MISSING: {
    status: 409,
    why: ({ missing }) => `Chunks of this session are not on the server: ${missing}`,
    fix: () => "Send them with PUT /team/api/blobs/<sha256>, then push the session again.",
  },
  TEAM_MANIFEST_INVALID: {
    status: 422,
    why: ({ reason }) => `The session was refused: ${reason}`,
    fix: () => "Update sessarc on the machine that pushes, then push again.",
  },
  TEAM_SESSION_TOO_LARGE: {
    status: 422,
    why: ({ id, what, has, most }) => `${id} has ${has} ${what}; this server takes at most ${most} of one session`,
    fix: () => "Leave this session on its machine. The other sessions of the push are not affected.",
  },
  TEAM_PUSH_FAILED: {
    status: 422,
    why: ({ id, reason }) => `${id} could not be imported: ${reason}`,
    fix: () => "Push it again. If it fails again, update sessarc on both machines.",
  },
  TEAM_WITHDRAWN: {
    status: 410,
    why: ({ id }) => `${id} was withdrawn from this server`,
    fix: () => "Push it with `again: true` if it shall come back.",
  },
  TEAM_FULL: {
    status: 507,
    why: ({ what }) => `The server's ${what} is full: nothing can be stored`,
    fix: () =>
      "Ask the person who runs the server to make room for it, then try again: what was stored can be read meanwhile, and nothing of it is lost.",
  },
  TEAM_STORE_INVALID: {
    status: 422,
    why: ({ reason }) => `--blobs is invalid: ${reason}`,
    fix: () => 'Pass a folder, or a driver of unstorage as JSON: {"name":"s3","options":{…}}.',
  },
  TEAM_REPOSITORIES_MISSING: {
    status: 422,
    why: ({ folder }) => `--repositories is invalid: there is no folder ${folder}`,
    fix: () => "Create it, with a folder for each space and the mirrors of its repositories in that.",
  },
  TEAM_NO_REPOSITORY: {
    status: 422,
    why: ({ project }) => `The server has no repository of ${project} that you may read`,
    fix: () =>
      "Ask the person who runs the server for a mirror of it in the folder of a space that you are in (`sessarc team serve --repositories`).",
  },
});
