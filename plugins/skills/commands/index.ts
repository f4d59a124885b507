/** The sub command of skills: description here, code behind `load`. */
import type { Command } from "sessarc/terminal";

const skills: Command = {
  name: "skills",
  summary: "Keeps skills in one store and links them into every assistant",
  group: "tools",
  example: "list",
  usage: [
    "list | scan | lock | install [--frozen] | show|delete <skill> | tags <skill> [tags]",
    "link|unlink <skill> --tool t [--project p] | import <path|address> | init <name>",
    "update <skill> [--yes] | snapshots <skill> | restore <skill> <snapshot>",
  ].join("\n"),
  options: {
    tool: { type: "string", short: "t" },
    project: { type: "string", short: "p" },
    copy: { type: "boolean" },
    again: { type: "boolean" },
    self: { type: "boolean" },
    ref: { type: "string" },
    path: { type: "string" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean", short: "y" },
    conflicts: { type: "string" },
    clear: { type: "boolean" },
    "remove-files": { type: "boolean" },
    lock: { type: "string" },
    frozen: { type: "boolean" },
  },
  help: {
    tool: "link, unlink: the assistant, such as claude-code or codex",
    project: "link, unlink: into this project (id or folder) instead of the user's own folder",
    copy: "link: copy the files instead of linking",
    again: "link: even though the assistant sees the skill through another folder",
    self: "import: the skill that teaches an assistant to ask this archive",
    ref: "import: branch, tag or commit of the repository",
    path: "import: folder of the repository",
    "dry-run": "import: show what there is and import nothing",
    yes: "update, import of a plugin: write what was shown",
    clear: "tags: remove all of them",
    "remove-files": "delete: the files in the store, too; a snapshot of them stays",
    lock: "lock, install: the lock file; default skills.lock in this folder",
    frozen: "install: never write the lock, and fail where it does not name a revision and content",
    conflicts: "update: `mine` or `upstream` for files changed on both sides",
  },
  operands: [
    ...["list", "scan", "show", "link", "unlink", "import", "update"],
    ...["restore", "snapshots", "tags", "delete", "init", "lock", "install"],
  ],
  load: () => import("./skills.ts"),
};

export const commands: readonly Command[] = [skills];
