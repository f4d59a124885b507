/** Error codes of undelete. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    VERSION_NOT_FOUND: { path: string };
    VERSION_UNKNOWN: { path: string; at: string };
    UNDELETE_EXISTS: { path: string };
    UNDELETE_NOT_A_FILE: { path: string };
    UNDELETE_PARTIAL: { path: string; state: string };
    RECEIPT_NOT_FOUND: { id: string };
    NET_NOT_FOUND: { id: string };
  }
}

export const errors = defineErrors({
  VERSION_NOT_FOUND: {
    status: 404,
    why: ({ path }) => `No session and no commit has a version of ${JSON.stringify(path)}`,
    fix: () =>
      "Check the name: a path is read from the current folder. GET /files/history lists the versions that are known.",
  },
  VERSION_UNKNOWN: {
    status: 404,
    why: ({ path, at }) => `No known version of ${JSON.stringify(path)} is meant by ${JSON.stringify(at)}`,
    fix: () => "`sessarc undelete <file> --list` lists the versions as `--at` takes them (GET /files/history).",
  },
  UNDELETE_EXISTS: {
    status: 409,
    why: ({ path }) => `${JSON.stringify(path)} is there already`,
    fix: () => "Choose a new folder. In place, `force` stores a copy of the file first and then replaces it.",
  },
  UNDELETE_NOT_A_FILE: {
    status: 422,
    why: ({ path }) => `${JSON.stringify(path)} is a folder, a link, a device, or larger than 64 MiB`,
    fix: () => "Put the files back into a new folder.",
  },
  UNDELETE_PARTIAL: {
    status: 422,
    why: ({ path, state }) => `${JSON.stringify(path)} is known only in part (${state})`,
    fix: () => "Put it back into a new folder, where a line marks each hole, or choose another version.",
  },
  RECEIPT_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No receipt ${JSON.stringify(id)}`,
    fix: () => "GET /files/receipts lists them.",
  },
  NET_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `Nothing was stored before a call ${JSON.stringify(id)}, or it was removed after its time`,
    fix: () => "GET /files/net lists what is stored.",
  },
});
