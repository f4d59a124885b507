/** How an assistant shows a status line that another program prints. Adapters provide it. */

import type { Json } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

export type StatuslineContract =
  | StatuslinePlace
  /** Why it runs no command for one; told to a user who wants it there. */
  | { none: string };

export interface StatuslinePlace {
  /** Default: the adapter's. */
  label?: string;
  /** The settings file. */
  settings(env: AdapterEnv): string;
  /** Default `jsonc`: comments and trailing commas. */
  syntax?: "json" | "jsonc" | "toml";
  /** Keys of the entry in it. Default `["statusLine"]`. */
  path?: readonly string[];
  /** The entry that runs the command. Default `{ type: "command", command, padding: 0 }`. */
  entry?(command: string): Json;
  /**
   * Where the JSON on the command's stdin has a figure under another name than the usual one, as keys with dots between: `{ model: "llm.name" }`. They
   * become words of the installed command, so they are letters, digits, `_`, `-` and dots.
   */
  fields?: Partial<Readonly<Record<StatuslineField, string>>>;
}

/** What the line takes from an assistant's JSON; `plugins/statusline/input.ts` has the usual names. */
export type StatuslineField = "session" | "name" | "model" | "folder" | "context" | "dollars";
