/** What the search box of the settings knows: every field with its section and the words it is found by. */

import { t } from "../../i18n/index.ts";
import type { SettingsWords } from "./words/en.ts";
import { settingsText } from "./words/index.ts";

interface Field {
  /** Of the row, after `#` in the address. */
  id: string;
  section: string;
  label: Label;
  /** More words it is found by. */
  hint?: Label;
}

/** A key of the settings' own words, or what says it. */
export type Label = keyof SettingsWords | (() => string);
export const said = (label: Label): string => (typeof label === "string" ? settingsText(label) : label());

const FIELDS: readonly Field[] = [
  { id: "theme", section: "general", label: "settings.theme", hint: () => t("keys.theme") },
  { id: "density", section: "general", label: "settings.density", hint: "settings.compact" },
  { id: "text-size", section: "general", label: "settings.textSize" },
  { id: "language", section: "general", label: "settings.language" },
  { id: "start", section: "general", label: "settings.start" },
  { id: "keys", section: "general", label: () => t("settings.keys"), hint: () => t("settings.keysHint") },
  { id: "rail", section: "general", label: () => t("keys.rail") },
  { id: "notifications", section: "general", label: "title", hint: "hint" },
  { id: "custom-folder", section: "sources", label: "source.title", hint: "source.hint" },
  { id: "watch", section: "sources", label: "source.watch", hint: "source.watchHint" },
  { id: "sync", section: "service", label: "sync", hint: "syncHint" },
  {
    id: "auto-import",
    section: "service",
    label: "autoImport",
    hint: "autoImportHint",
  },
  {
    id: "tool-search",
    section: "service",
    label: "toolSearch",
    hint: "toolSearchHint",
  },
  {
    id: "notices",
    section: "service",
    label: "noticesSystem",
    hint: "noticesSystemHint",
  },
  {
    id: "limits",
    section: "service",
    label: "noticesLimits",
    hint: "noticesLimitsHint",
  },
  { id: "block", section: "service", label: "block", hint: "blockHint" },
  {
    id: "relay-address",
    section: "service",
    label: "relay",
    hint: "relayHint",
  },
  { id: "otlp", section: "service", label: "otlp", hint: "otlpHint" },
  { id: "backup", section: "data", label: "backup", hint: "backupHint" },
  { id: "vacuum", section: "data", label: "vacuum", hint: "vacuumHint" },
  { id: "folder", section: "data", label: "settings.folder" },
  { id: "size", section: "data", label: "settings.size", hint: "settings.transcripts" },
  { id: "keeps", section: "data", label: "settings.keeps", hint: "settings.keepsText" },
  { id: "retention", section: "data", label: "settings.retention" },
  { id: "checks", section: "data", label: "settings.checks", hint: "settings.checksHint" },
  { id: "price-table", section: "prices", label: "table", hint: "tableHint" },
  { id: "prices", section: "prices", label: "settings.priceTable", hint: "settings.pricesHint" },
  { id: "unpriced", section: "prices", label: "settings.unpriced", hint: "settings.unpricedHint" },
  { id: "machine", section: "privacy", label: "settings.leaves", hint: "settings.privacyText" },
  { id: "relay", section: "privacy", label: "settings.relay", hint: "settings.relayOff" },
  {
    id: "price-request",
    section: "privacy",
    label: "table",
    hint: "priceRequestOff",
  },
  { id: "collector", section: "privacy", label: "otlp", hint: "otlpHint" },
  { id: "plugins", section: "plugins", label: "settings.plugins", hint: "settings.loadTime" },
  { id: "version", section: "about", label: "settings.version" },
  { id: "license", section: "about", label: "settings.license", hint: "settings.licenses" },
  { id: "api", section: "about", label: "settings.api" },
];

/** Fields whose words hold all that was typed. */
export function findFields(typed: string, sectionName: (key: string) => string): Field[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return FIELDS.filter(({ label, hint, section }) => {
    const text = [said(label), hint ? said(hint) : "", sectionName(section)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
