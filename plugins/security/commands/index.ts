/** The sub commands of security: descriptions here, code behind `load`. */

import { type Command, REDACTED_HELP, REDACTED_OPTIONS } from "sessarc/terminal";

const guard: Command = {
  name: "guard",
  summary: "Installs, shows or removes the tool-call guard in an assistant",
  group: "tools",
  example: "status",
  usage:
    "install [--tool t] [--on-failure allow|block] [--observe] [--waiting] [--net] [--dry-run]\n<status|uninstall> [--tool t]",
  options: {
    tool: { type: "string", short: "t" },
    "on-failure": { type: "string" },
    observe: { type: "boolean" },
    waiting: { type: "boolean" },
    net: { type: "boolean" },
    "dry-run": { type: "boolean" },
  },
  help: {
    tool: "The assistant; `guard status` lists them, the first one is the default",
    "on-failure": "What happens to a call when the service does not answer: allow (default) or block",
    observe: "Record what would be blocked and block nothing",
    waiting: "Also report when the assistant waits for you, where it has such hooks",
    net: "Store files that git does not hold before a call destroys them (`sessarc undelete --net`); --no-net ends it",
    "dry-run": "Show the change to the settings and make none",
  },
  operands: ["install", "status", "uninstall"],
  values: { "on-failure": ["allow", "block"] },
  load: () => import("./guard.ts"),
};

const exportCommand: Command = {
  name: "export",
  summary: "Writes a session, or all, as files",
  group: "keep",
  example: "last --redacted -o session.html",
  usage: "<session|last> [--redacted] [--format md|html|json] [-o file] [--force]\n--all --to <folder> [--redacted]",
  options: {
    ...REDACTED_OPTIONS,
    format: { type: "string", short: "f" },
    output: { type: "string", short: "o" },
    force: { type: "boolean" },
    all: { type: "boolean" },
    to: { type: "string" },
  },
  help: {
    ...REDACTED_HELP,
    all: "Every session as Markdown and JSON, a table, and the raw logs; later only what changed",
    to: "Folder for --all: empty, or of an earlier export",
    redacted: "Replace secrets and personal data by placeholders",
    format: "md (default), html or json; by default from the file's name",
    output: "File to write (0600); standard output when left out",
    force: "Replace a file that is there",
  },
  values: { format: ["md", "html", "json"], output: "file", to: "folder" },
  current: () => true,
  load: () => import("./export.ts"),
};

const scrub: Command = {
  name: "scrub",
  summary: "Removes revoked secrets from the archive, and from logs",
  group: "keep",
  usage: "[secret …] [--originals] [--yes]\n--undo\n--drop-backups",
  options: {
    originals: { type: "boolean" },
    yes: { type: "boolean", short: "y" },
    undo: { type: "boolean" },
    "drop-backups": { type: "boolean" },
  },
  help: {
    originals: "Also from the logs at the assistants, with a copy until the assistant has written on",
    yes: "Remove them; without it, they are only looked for",
    undo: "Put the logs at the assistants back; the archive stays without the secrets",
    "drop-backups": "Remove the copies of changed logs, which still hold the secrets",
  },
  load: () => import("./scrub.ts"),
};

export const commands: readonly Command[] = [guard, exportCommand, scrub];
