/** A shell line as the guard's parser reads it. */
import type { Services } from "sessarc";

export type Commands = NonNullable<Awaited<ReturnType<Services["guard"]["commands"]>>>;
export type ShellWord = Commands[number]["words"][number];

/** Which files below the path: all, or those that git lists as changed, untracked or ignored. */
export type Kind = "all" | "changed" | "untracked" | "ignored";
