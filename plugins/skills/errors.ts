/** Error codes of skills. */
import { defineErrors, type Nothing } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    SKILL_NOT_FOUND: { id: string };
    SKILL_NOT_SCANNED: { path: string };
    SKILL_NOT_IMPORTABLE: { path: string; reason: string };
    SKILL_EXISTS: { id: string };
    SKILL_CHANGED: { path: string };
    SKILL_UNREADABLE: { id: string; reason: string };
    SKILL_TOOL_UNKNOWN: { tool: string; known: readonly string[] };
    SKILL_SCOPE_MISSING: { tool: string; scope: string };
    SKILL_PROJECT_GONE: { path: string };
    SKILL_LEAVES_PROJECT: { path: string; project: string };
    SKILL_LOCK_DIFFERS: { source: string };
    SKILL_IN_THE_WAY: { path: string; what: string };
    SKILL_ALREADY_VISIBLE: { id: string; tool: string; path: string; through: string };
    SKILL_NOT_LINKED: { id: string; tool: string };
    SKILL_NOT_OURS: { path: string; what: string };
    SKILL_COPY_EDITED: { path: string; files: string };
    SKILL_LINK_DENIED: { path: string; reason: string };
    SKILL_SNAPSHOT_NOT_FOUND: { id: string; snapshot: string };
    SKILL_SNAPSHOT_DAMAGED: { snapshot: string };
    SKILL_UPSTREAM_NONE: { id: string };
    SKILL_UPSTREAM_REFUSED: { what: string; reason: string };
    SKILL_UPSTREAM_FAILED: { url: string; reason: string };
    SKILL_UPSTREAM_LATE: { url: string; ms: number };
    SKILL_UPSTREAM_GONE: { url: string; ref: string };
    SKILL_UPSTREAM_UNUSABLE: { id: string; reason: string };
    SKILL_UPSTREAM_MOVED: { id: string };
    SKILL_CONFLICT: { id: string; files: string };
    SKILL_GIT_MISSING: Nothing;
  }
}

export const errors = defineErrors({
  SKILL_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No skill ${id}`,
    fix: () => "`sessarc skills list` (GET /skills) names them.",
  },
  SKILL_NOT_SCANNED: {
    status: 404,
    why: ({ path }) => `No scanned skill at ${path}`,
    fix: () => "Scan first (GET /skills/scan), then name a path of its answer.",
  },
  SKILL_NOT_IMPORTABLE: {
    status: 409,
    why: ({ path, reason }) => `${path} cannot be imported: ${reason}`,
    fix: () => "GET /skills/scan says the class of every skill and the reason.",
  },
  SKILL_CHANGED: {
    status: 409,
    why: ({ path }) => `${path} holds other files than were shown`,
    fix: () => "Compare again (GET /skills/compare), and send the content hash of that answer.",
  },
  SKILL_EXISTS: {
    status: 409,
    why: ({ id }) => `There is a skill ${id} already`,
    fix: () => "Delete that one first, or give the other a name of its own.",
  },
  SKILL_UNREADABLE: {
    status: 422,
    why: ({ id, reason }) => `The folder of skill ${id} is not a skill now: ${reason}`,
    fix: () => "Repair it, or restore a snapshot.",
  },
  SKILL_TOOL_UNKNOWN: {
    status: 404,
    why: ({ tool, known }) => `No tool ${tool} that has skills; known are ${known.join(", ")}`,
  },
  SKILL_SCOPE_MISSING: { status: 422, why: ({ tool, scope }) => `${tool} has no folder for skills of scope ${scope}` },
  SKILL_PROJECT_GONE: {
    status: 422,
    why: ({ path }) => `The project's folder ${path} is gone`,
    fix: () => "Restore the folder, or link the skill for the user instead of the project.",
  },
  SKILL_LEAVES_PROJECT: {
    status: 422,
    why: ({ path, project }) => `${path} is reached through a link that leads out of the project ${project}`,
    fix: () => "Replace the link by a folder of the project, or link the skill for the user.",
  },
  SKILL_LOCK_DIFFERS: {
    status: 422,
    why: ({ source }) => `${source} holds other files than the lock says`,
    fix: () => "Check what changed, then run `sessarc skills lock` to write the lock again. Nothing was imported.",
  },
  SKILL_IN_THE_WAY: {
    status: 409,
    why: ({ path, what }) => `${what} is at ${path}`,
    fix: () => "Move it away or delete it yourself; sessarc never does.",
  },
  SKILL_ALREADY_VISIBLE: {
    status: 409,
    why: ({ id, tool, path, through }) => `${tool} sees ${id} already at ${path} (linked for ${through})`,
    fix: () => "Send `again: true` to have it listed twice.",
  },
  SKILL_NOT_LINKED: {
    status: 409,
    why: ({ id, tool }) => `sessarc has not linked ${id} into ${tool}`,
    fix: () => "`sessarc skills show <id>` lists its links.",
  },
  SKILL_NOT_OURS: {
    status: 409,
    why: ({ path, what }) => `${what} is at ${path}, which is not what sessarc put there`,
    fix: () => "Nothing was removed. Look at it, and remove it yourself when you do not need it.",
  },
  SKILL_COPY_EDITED: {
    status: 409,
    why: ({ path, files }) => `The copy at ${path} was edited: ${files}`,
    fix: () => "Nothing was removed. Save what you changed, then delete the folder yourself.",
  },
  SKILL_LINK_DENIED: {
    status: 422,
    why: ({ path, reason }) => `No link can be made at ${path} (${reason})`,
    fix: () => "Send `mode: copy`, which needs no links.",
  },
  SKILL_SNAPSHOT_NOT_FOUND: {
    status: 404,
    why: ({ id, snapshot }) => `Skill ${id} has no snapshot ${snapshot}`,
    fix: () => "GET /skills/:id/snapshots lists them.",
  },
  SKILL_SNAPSHOT_DAMAGED: {
    status: 422,
    why: ({ snapshot }) => `Snapshot ${snapshot} is damaged on disk`,
    fix: () => "Nothing was changed. Restore another snapshot.",
  },
  SKILL_UPSTREAM_NONE: { status: 422, why: ({ id }) => `Skill ${id} does not come from a repository` },
  SKILL_UPSTREAM_REFUSED: {
    status: 422,
    why: ({ what, reason }) => `${what} is refused: ${reason}`,
    fix: () => "Give an https or ssh address of a known host, and a plain branch, tag or commit.",
  },
  SKILL_UPSTREAM_FAILED: {
    status: 502,
    why: ({ url, reason }) => `${url} could not be read: ${reason}`,
    fix: () => "Check the address and your connection.",
  },
  SKILL_UPSTREAM_LATE: { status: 504, why: ({ url, ms }) => `${url} did not answer in ${ms / 1000} s` },
  SKILL_UPSTREAM_GONE: { status: 422, why: ({ url, ref }) => `${url} has no ${ref}` },
  SKILL_UPSTREAM_UNUSABLE: {
    status: 422,
    why: ({ id, reason }) => `The new version of ${id} cannot be taken: ${reason}`,
  },
  SKILL_UPSTREAM_MOVED: {
    status: 409,
    why: ({ id }) => `${id} is not what was shown any more`,
    fix: () => "Ask for the update again, look at it, and send the commit it shows.",
  },
  SKILL_CONFLICT: {
    status: 409,
    why: ({ id, files }) => `${id} was changed here and upstream in the same files: ${files}`,
    fix: () => "Send `conflicts: upstream` or `conflicts: mine`. What is replaced stays in a snapshot.",
  },
  SKILL_GIT_MISSING: { status: 422, why: () => "git is not installed", fix: () => "Install git 2.25 or later." },
});
