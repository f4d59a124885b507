/** Commands of notes: descriptions here, code behind `load`. */
import type { Command } from "sessarc/terminal";

const MESSAGE = { message: { type: "string", short: "m" } } as const;
const MESSAGE_HELP = { message: "A message of the session, by its number, instead of the session" };

const mark: Command = {
  name: "mark",
  summary: "Notes, tags, bookmarks and saved searches: lists and writes them",
  group: "keep",
  example: "tag last review",
  usage:
    "note [list] [text…] [--tag t] [--bookmarked]\nnote set <session|last> <text…> [--message n]\nnote remove <session|last> [--message n]\ntag [<session|last> <tag…>] [--message n] [--remove]\nbookmark <session|last> [--message n] [--remove]\nsearch [list]\nsearch save <name> <query…>\nsearch <run|remove> <name> [--limit n]",
  options: {
    ...MESSAGE,
    tag: { type: "string", short: "t" },
    bookmarked: { type: "boolean", short: "b" },
    remove: { type: "boolean" },
    limit: { type: "string" },
  },
  help: {
    ...MESSAGE_HELP,
    tag: "Only notes with this tag",
    bookmarked: "Only bookmarks",
    remove: "Take the tags or the bookmark away instead",
    limit: "Sessions a search shows, 1 to 1000 (default 20)",
  },
  operands: ["note", "tag", "bookmark", "search"],
  current: () => true,
  load: () => import("./mark.ts"),
};

// The names of before `mark`.
const note: Command = {
  name: "note",
  hidden: true,
  summary: "Notes on sessions and messages: lists them, writes one, removes one",
  usage:
    "[list] [text…] [--tag t] [--bookmarked]\nset <session|last> <text…> [--message n]\nremove <session|last> [--message n]",
  options: { ...MESSAGE, tag: { type: "string", short: "t" }, bookmarked: { type: "boolean", short: "b" } },
  help: { ...MESSAGE_HELP, tag: "Only what has this tag", bookmarked: "Only bookmarks" },
  current: () => true,
  load: async () => ({ run: (await import("./marks.ts")).runNote }),
};

const tag: Command = {
  name: "tag",
  hidden: true,
  summary: "Tags sessions and messages: tag:name finds them in every search; lists all tags",
  usage: "[list]\n<session|last> <tag…> [--message n] [--remove]",
  options: { ...MESSAGE, remove: { type: "boolean" } },
  help: { ...MESSAGE_HELP, remove: "Take these tags away instead" },
  current: () => true,
  load: async () => ({ run: (await import("./marks.ts")).runTag }),
};

const bookmark: Command = {
  name: "bookmark",
  hidden: true,
  summary: "Bookmarks a session or a message: is:bookmarked finds it in every search",
  usage: "<session|last> [--message n] [--remove]",
  options: { ...MESSAGE, remove: { type: "boolean" } },
  help: { ...MESSAGE_HELP, remove: "Take the bookmark away instead" },
  current: () => true,
  load: async () => ({ run: (await import("./marks.ts")).runBookmark }),
};

const searches: Command = {
  name: "searches",
  hidden: true,
  summary: "Saved searches: lists them, saves one, runs one, removes one",
  usage: "[list]\nsave <name> <query…>\nrun <name> [--limit n]\nremove <name>",
  options: { limit: { type: "string", short: "n" } },
  help: { limit: "Sessions to show, 1 to 1000 (default 20)" },
  current: () => true,
  load: () => import("./searches.ts"),
};

export const commands: readonly Command[] = [mark, note, tag, bookmark, searches];
