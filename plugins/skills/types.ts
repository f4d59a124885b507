/** Wire shapes of skills. */
import type { SessionUsage } from "sessarc";

export type Scope = "user" | "project";

export interface Origin {
  kind: "local" | "git";
  url: string | null;
  /** As it was asked for; null: what the repository's HEAD names. */
  ref: string | null;
  /** Folder it was copied from; of the repository for `git`, "" for its root. */
  path: string | null;
  commit: string | null;
  /** git's id of the skill's folder in that commit. */
  tree: string | null;
}

export interface SkillLink {
  tool: string;
  scope: Scope;
  /** Id of the project, for scope `project`. */
  project: string | null;
  path: string;
  /** `edited`: sessarc's copy, with other files than its snapshot. `directory` and `foreign` were not made by sessarc. */
  state: "none" | "linked" | "edited" | "foreign" | "directory" | "broken";
  mode: "symlink" | "copy" | null;
  /** Tools through whose folder this tool sees the skill already. */
  visibleThrough: string[];
}

export interface Skill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  /** 0 to 5; 0: none given. */
  rating: number;
  origin: Origin | null;
  contentHash: string;
  /** `local`: edited since it was imported, updated or restored; `upstream`: the last check found another version there. */
  drift: "none" | "local" | "upstream" | "both";
  links: SkillLink[];
  usage: { invocations: number; sessions: number; lastUsedAt: string | null };
  importedAt: string;
  /** Why its folder cannot be read as a skill now; null: it can. */
  problem: string | null;
}

export interface SkillDetail extends Skill {
  /** SKILL.md as it is; null when it is gone or over 1 MB. */
  content: string | null;
  files: { path: string; size: number }[];
  frontmatter: Record<string, unknown>;
  /** The frontmatter's `metadata`, each value as a text: author, version …; null: none. */
  metadata: Record<string, string> | null;
  warnings: string[];
  use: SkillUse;
}

export interface ScanPlace {
  path: string;
  tool: string;
  scope: Scope;
}

type ScanClass = "importable" | "managed" | "duplicate" | "broken";
export type BrokenReason =
  | "dangling-link"
  | "looping-link"
  | "not-a-folder"
  | "no-skill-file"
  | "frontmatter"
  | "too-large"
  | "leaves-root"
  | "unreadable";

export interface ScanEntry extends ScanPlace {
  /** Every tool that reads this place. */
  tools: string[];
  project: string | null;
  name: string;
  description: string | null;
  class: ScanClass;
  /** Of `broken` a BrokenReason, of `duplicate` same-content or same-name, of `managed` linked, linked-elsewhere or copied. */
  reason: BrokenReason | "same-content" | "same-name" | "linked" | "linked-elsewhere" | "copied" | null;
  detail: string | null;
  /** Line of SKILL.md that the reason is about. */
  line: number | null;
  /** Id of the stored skill, or path of the earlier entry. */
  duplicateOf: string | null;
  contentHash: string | null;
  /** Id of the stored skill this is. */
  skill: string | null;
  /** sessarc's copy was edited. */
  drift: boolean;
  /** A dangling link of sessarc's: linking again repairs it. */
  repairable: boolean;
  warnings: string[];
  /** Other places that lead to the same folder. */
  aliases: ScanPlace[];
}

export interface Scan {
  entries: ScanEntry[];
  /** Places that could not be listed. */
  problems: { path: string; reason: string }[];
}

export interface Snapshot {
  id: string;
  at: string;
  reason: "import" | "edit" | "update" | "restore" | "delete";
  contentHash: string;
  size: number;
  files: number;
  commit: string | null;
  /** What the folder holds now. */
  current: boolean;
}

/** How sessions of the archive used one skill. */
export interface SkillUse {
  invocations: number;
  failures: number;
  sessions: number;
  projects: number;
  tools: { tool: string; invocations: number; sessions: number; lastUsedAt: string | null }[];
  lastUsedAt: string | null;
  /** Tokens of the sessions that used it, each as a whole. */
  sessionUsage: SessionUsage;
  /** Last used first, 20 at most. */
  recent: SkillSession[];
}

export interface SkillSession {
  sessionId: string;
  tool: string;
  projectId: string;
  title: string | null;
  invocations: number;
  failures: number;
  lastUsedAt: string | null;
}
