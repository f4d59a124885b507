/** What users and their tools do to skills, in sequence, as plain data; and the things of others that stand around. */
import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSessarcError, type Kernel } from "sessarc";
import type {} from "../../plugins/index.ts";

export const NAMES = ["one", "two", "three"] as const;
export const TOOLS = ["claude-code", "codex", "opencode"] as const;
type Name = (typeof NAMES)[number];
type Tool = (typeof TOOLS)[number];

export type Action =
  | { do: "import" | "self"; name: Name }
  | { do: "link" | "copy" | "unlink"; name: Name; tool: Tool }
  | { do: "restore"; name: Name; which: number }
  | { do: "delete" | "delete-files"; name: Name }
  /** The user edits a file in the store. */
  | { do: "edit"; name: Name; text: string }
  /** The user puts a thing of their own where a link goes, in place of a link that may be there. */
  | { do: "plant"; name: Name; tool: Tool; what: Thing };
export type Thing = "folder" | "file" | "link" | "store-link";

const ROOTS: Readonly<Record<Tool, string>> = {
  "claude-code": ".claude/skills",
  codex: ".agents/skills",
  opencode: ".config/opencode/skills",
};
export const toPlace = (home: string, tool: Tool, name: Name) => join(home, ROOTS[tool], name);
export const toOriginal = (home: string, name: Name) => join(home, ".gemini/skills", name);
const toNote = (home: string, name: Name) => join(home, "data/skills/store", name, "note.txt");

/** Does one action. What sessarc refuses is refused; anything else it throws is a failure of the test. */
export async function act(kernel: Kernel, action: Action): Promise<void> {
  const { home } = kernel.env;
  if (action.do === "edit") {
    if (existsSync(dirname(toNote(home, action.name)))) writeFileSync(toNote(home, action.name), action.text);
    return;
  }
  if (action.do === "plant") return plantThing(toPlace(home, action.tool, action.name), action.what, home);
  try {
    await ask(kernel, action);
  } catch (error) {
    if (!isSessarcError(error)) throw error;
  }
}

async function ask(kernel: Kernel, action: Exclude<Action, { do: "edit" | "plant" }>): Promise<unknown> {
  const skills = kernel.inject("skills");
  const { name } = action;
  switch (action.do) {
    case "import":
      return skills.importPath(toOriginal(kernel.env.home, name));
    case "self":
      return skills.importSelf();
    case "link":
      return skills.link(name, { tool: action.tool, again: true });
    case "copy":
      return skills.link(name, { tool: action.tool, again: true, mode: "copy" });
    case "unlink":
      return skills.unlink(name, { tool: action.tool });
    case "restore": {
      const snapshots = await skills.snapshots(name);
      return skills.restore(name, snapshots[action.which % snapshots.length]?.id ?? "none");
    }
    default:
      return skills.remove(name, action.do === "delete-files");
  }
}

/** Takes a link away, never a folder or a file: those are a copy of sessarc's or of the user's. */
export function plantThing(path: string, what: Thing, home: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat && !stat.isSymbolicLink()) return;
  if (stat) rmSync(path);
  mkdirSync(dirname(path), { recursive: true });
  if (what === "folder") {
    mkdirSync(path);
    writeFileSync(join(path, "SKILL.md"), "mine");
  } else if (what === "file") writeFileSync(path, "mine");
  else symlinkSync(what === "link" ? "/somewhere" : join(home, "data/skills/store/one"), path);
}
