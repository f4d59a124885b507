/** The places of the dashboard: five in the rail, two at its foot, and the screens that the palette, keys and links open. */
import type { Key } from "./i18n/index.ts";
import { hasScreen } from "./state/offers.ts";

export interface RailEntry {
  path: string;
  label: Key;
  icon: string;
  keys: string;
  /** First steps of further addresses that belong to this place. */
  holds?: readonly string[];
}

const rail: RailEntry[] = [
  { path: "/", label: "nav.now", icon: "house", keys: "g h" },
  {
    path: "/sessions",
    label: "nav.sessions",
    icon: "list",
    keys: "g e",
    holds: ["search", "notes", "calls", "compare", "shares", "rescue", "replay", "import"],
  },
  { path: "/projects", label: "nav.code", icon: "folder-git-2", keys: "g p", holds: ["files"] },
  { path: "/usage", label: "nav.usage", icon: "chart-column", keys: "g u" },
  { path: "/tools", label: "nav.tools", icon: "wrench", keys: "g t" },
];

const railFoot: RailEntry[] = [
  { path: "/help", label: "nav.help", icon: "info", keys: "g d" },
  { path: "/settings", label: "nav.settings", icon: "settings", keys: "g ," },
];

const further: RailEntry[] = [
  { path: "/search", label: "nav.search", icon: "search", keys: "g s" },
  { path: "/notes", label: "nav.notes", icon: "bookmark", keys: "g n" },
  { path: "/shares", label: "nav.shares", icon: "share-2", keys: "g c" },
  { path: "/rescue", label: "nav.rescue", icon: "archive", keys: "g b" },
  { path: "/tools/secrets", label: "nav.security", icon: "shield-check", keys: "g x" },
  { path: "/tools/servers", label: "nav.hub", icon: "plug", keys: "g m" },
  { path: "/tools/skills", label: "nav.skills", icon: "sparkles", keys: "g k" },
  { path: "/import", label: "nav.import", icon: "download", keys: "g i" },
  { path: "/help/feedback", label: "nav.feedback", icon: "message-square", keys: "g f" },
];

/** The bar of a phone has room for so many places; the others are in its sheet. */
export const IN_BAR = 4;
export const places = rail.filter(hasScreen);
export const foot = railFoot.filter(hasScreen);
/** Screens without a row in the rail. */
export const screens = further.filter(hasScreen);

/** Whether the address belongs to the place. */
export function isAt({ path, holds = [] }: Pick<RailEntry, "path" | "holds">, address: string): boolean {
  if (path === "/") return address === "/";
  return address === path || address.startsWith(`${path}/`) || holds.includes(address.split("/")[1] ?? "");
}
