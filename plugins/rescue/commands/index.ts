/** The rescue's sub commands: descriptions here, code behind `load`. */
import type { Command } from "sessarc/terminal";

const rescueCommand: Command = {
  name: "rescue",
  summary: "Sessions that assistants hide, delete or lost; restores them",
  group: "keep",
  usage:
    "[--state s] [--tool t] [--limit n]\n<session…> [--in folder] [--yes]\n--undo <session>\n--keep-for days --tool t [--yes]",
  options: {
    state: { type: "string", short: "s" },
    tool: { type: "string", short: "t" },
    limit: { type: "string" },
    in: { type: "string" },
    yes: { type: "boolean", short: "y" },
    undo: { type: "boolean" },
    "keep-for": { type: "string" },
  },
  help: {
    state: "Sessions in this state alone",
    tool: "Only this assistant; with --keep-for, the one whose setting changes",
    limit: "Sessions to show for each state, 1 to 200 (default 20)",
    in: "Make a copy with a new id for this folder: the project moved, or its worktree is gone",
    yes: "Write; without it, the paths are only printed",
    undo: "Remove exactly what putting this session back wrote",
    "keep-for": "Let the assistant retain its logs for so many days: a backup and one edit of its settings",
  },
  values: { state: ["listed", "hidden", "dying", "gone", "reclaimed", "folder-gone"], in: "folder" },
  current: () => true,
  load: () => import("./rescue.ts"),
};

const resumeCommand: Command = {
  name: "resume",
  summary: "Resumes a session in its assistant, in its folder",
  group: "look",
  example: "last",
  usage: "<session|last> [--in folder] [--print] [--yes]",
  options: { in: { type: "string" }, print: { type: "boolean" }, yes: { type: "boolean", short: "y" } },
  help: {
    in: "Resume a copy in this folder: the project moved, or its worktree is gone",
    print: "Only print the command",
    yes: "Put the log back without a question",
  },
  values: { in: "folder" },
  current: () => true,
  load: () => import("./resume.ts"),
};

const handoffCommand: Command = {
  name: "handoff",
  summary: "Writes a brief of a session for another assistant",
  group: "keep",
  example: "last --to codex --start",
  usage: "<session|last> [--to tool] [--tokens n] [--copy]\n<session|last> --to tool --start",
  options: {
    to: { type: "string" },
    tokens: { type: "string" },
    copy: { type: "boolean" },
    start: { type: "boolean" },
  },
  help: {
    to: "The assistant it is for, as codex or claude-code",
    tokens: "Length of the brief at most, 200 to 32000 (default 4000)",
    copy: "Put it into the clipboard too, by way of the terminal",
    start: "Start the assistant with it, in the session's folder",
  },
  current: () => true,
  load: () => import("./handoff.ts"),
};

const reclaimCommand: Command = {
  name: "reclaim",
  summary: "Removes old logs at assistants whose bytes the archive holds",
  group: "keep",
  usage: "[--tool t] [--older-than 30d] [--yes | --dry-run]\n--undo",
  options: {
    tool: { type: "string", short: "t" },
    "older-than": { type: "string" },
    yes: { type: "boolean", short: "y" },
    "dry-run": { type: "boolean" },
    undo: { type: "boolean" },
  },
  help: {
    tool: "Logs of this assistant alone",
    "older-than": "Logs that were not written for so long, 7d or more (default 30d)",
    yes: "Remove them; without it, they are only counted",
    "dry-run": "Only count them, also with --yes, and import nothing before",
    undo: "Put all of them back, byte for byte",
  },
  // A dry run imports nothing either.
  current: (flags) => flags["dry-run"] !== true,
  load: () => import("./reclaim.ts"),
};

export const commands: readonly Command[] = [rescueCommand, resumeCommand, handoffCommand, reclaimCommand];
