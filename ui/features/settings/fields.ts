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
  { id: "notifications", section: "privacy", label: "title", hint: "notifications" },
  { id: "custom-folder", section: "sources", label: "source.title", hint: "source.hint" },
  { id: "sync", section: "sources", label: "sync", hint: "syncHint" },
  {
    id: "auto-import",
    section: "sources",
    label: "autoImport",
    hint: "autoImportHint",
  },
  {
    id: "tool-search",
    section: "privacy",
    label: "toolSearch",
    hint: "toolSearchHint",
  },
  {
    id: "notices",
    section: "privacy",
    label: "noticesSystem",
    hint: "noticesSystemHint",
  },
  {
    id: "limits",
    section: "privacy",
    label: "noticesLimits",
    hint: "noticesLimitsHint",
  },
  { id: "block", section: "privacy", label: "block", hint: "blockHint" },
  { id: "otlp", section: "privacy", label: "otlp", hint: "otlpHint" },
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
  { id: "relay", section: "privacy", label: "relay", hint: "settings.relayOff" },
  {
    id: "price-request",
    section: "privacy",
    label: "table",
    hint: "priceRequestOff",
  },
  { id: "login", section: "sources", label: "login", hint: "loginHint" },
  { id: "plugins", section: "plugins", label: "settings.plugins", hint: "settings.loadTime" },
  { id: "version", section: "about", label: "settings.version" },
  { id: "license", section: "about", label: "settings.license", hint: "settings.licenses" },
  { id: "about-folder", section: "about", label: "settings.folder" },
  { id: "report", section: "about", label: "settings.report", hint: "settings.reportHint" },
  { id: "api", section: "about", label: "settings.api" },
];

/** Ids that fields had, and those they have. */
const RENAMED: Record<string, string> = { "relay-address": "relay", collector: "otlp", watch: "sync" };
/** Sections that are part of another now. */
const MERGED: Record<string, string> = { service: "privacy" };

/** Where an older address of the settings leads now; undefined where it is up to date. */
export function readMoved(section: string, id: string): { section: string; id: string } | undefined {
  const field = RENAMED[id] ?? id;
  const place = FIELDS.find((one) => one.id === field)?.section ?? MERGED[section] ?? section;
  return place === section && field === id ? undefined : { section: place, id: field };
}

/** Fields whose words hold all that was typed. */
export function findFields(typed: string, sectionName: (key: string) => string): Field[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return FIELDS.filter(({ id, label, hint, section }) => {
    const text = [id, said(label), hint ? said(hint) : "", sectionName(section)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
