/** The rail. Plugins add their entries behind those of the second list. */
import type { Key } from "./i18n/index.ts";
import { hasScreen } from "./state/offers.ts";

export interface RailEntry {
  path: string;
  label: Key;
  icon: string;
  keys: string;
  /** Stands in the sheet on a phone, whose bar has four places. */
  sheet?: boolean;
}

const first: RailEntry[] = [
  { path: "/", label: "nav.home", icon: "house", keys: "g h" },
  { path: "/projects", label: "nav.projects", icon: "folder-git-2", keys: "g p" },
  { path: "/sessions", label: "nav.sessions", icon: "list", keys: "g e", sheet: true },
  { path: "/notes", label: "nav.notes", icon: "bookmark", keys: "g n", sheet: true },
  { path: "/usage", label: "nav.usage", icon: "chart-column", keys: "g u" },
  { path: "/search", label: "nav.search", icon: "search", keys: "g s" },
];

const second: RailEntry[] = [
  { path: "/security", label: "nav.security", icon: "shield-check", keys: "g x" },
  { path: "/rescue", label: "nav.rescue", icon: "archive", keys: "g b" },
  { path: "/shares", label: "nav.shares", icon: "share-2", keys: "g c" },
  { path: "/skills", label: "nav.skills", icon: "sparkles", keys: "g k" },
  { path: "/mcp-hub", label: "nav.hub", icon: "plug", keys: "g m" },
  { path: "/replay", label: "nav.replay", icon: "play", keys: "g r" },
];

const third: RailEntry[] = [
  { path: "/import", label: "nav.import", icon: "download", keys: "g i" },
  { path: "/help", label: "nav.help", icon: "info", keys: "g d" },
  { path: "/feedback", label: "nav.feedback", icon: "message-square", keys: "g f" },
  { path: "/settings", label: "nav.settings", icon: "settings", keys: "g ," },
];

export const primary = first.filter(hasScreen);
/** Behind the rule. */
export const secondary = second.filter(hasScreen);
/** In the menu of a phone, the palette and the keys; the rail has some of them at its foot. */
export const others = third.filter(hasScreen);
