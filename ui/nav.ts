/** The rail. Screens of other features add their entry here (after the rule) when they exist; plugins add theirs behind them. */
import type { Key } from "./i18n/index.ts";

export interface RailEntry {
  path: string;
  label: Key;
  icon: string;
  keys: string;
}

export const primary: RailEntry[] = [
  { path: "/", label: "nav.home", icon: "house", keys: "g h" },
  { path: "/projects", label: "nav.projects", icon: "folder-git-2", keys: "g p" },
  { path: "/search", label: "nav.search", icon: "search", keys: "g s" },
];

/** Behind the rule: Security `g x`, Shares `g c`, Skills `g k`, MCP hub `g m`, Replay `g r` get their places here. */
export const secondary: RailEntry[] = [];
