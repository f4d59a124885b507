/** What the search box of the settings knows: every field with its section and the words it is found by. */
import { type Key, t } from "../../i18n/index.ts";
import { notifyText } from "../turns/words/index.ts";
import { settingsText } from "./words/index.ts";

interface Field {
  /** Of the row, after `#` in the address. */
  id: string;
  section: string;
  label: Key | (() => string);
  /** More words it is found by. */
  hint?: Key | (() => string);
}

export const said = (words: Key | (() => string)): string => (typeof words === "string" ? t(words) : words());

const FIELDS: readonly Field[] = [
  { id: "theme", section: "general", label: "settings.theme", hint: "keys.theme" },
  { id: "density", section: "general", label: "settings.density", hint: "settings.compact" },
  { id: "text-size", section: "general", label: "settings.textSize" },
  { id: "language", section: "general", label: "settings.language" },
  { id: "start", section: "general", label: "settings.start" },
  { id: "keys", section: "general", label: "settings.keys", hint: "settings.keysHint" },
  { id: "rail", section: "general", label: "keys.rail" },
  { id: "notifications", section: "general", label: () => notifyText("title"), hint: () => notifyText("hint") },
  { id: "custom-folder", section: "sources", label: "source.title", hint: "source.hint" },
  { id: "watch", section: "sources", label: "source.watch", hint: "source.watchHint" },
  { id: "sync", section: "service", label: () => settingsText("sync"), hint: () => settingsText("syncHint") },
  {
    id: "auto-import",
    section: "service",
    label: () => settingsText("autoImport"),
    hint: () => settingsText("autoImportHint"),
  },
  {
    id: "tool-search",
    section: "service",
    label: () => settingsText("toolSearch"),
    hint: () => settingsText("toolSearchHint"),
  },
  {
    id: "notices",
    section: "service",
    label: () => settingsText("noticesSystem"),
    hint: () => settingsText("noticesSystemHint"),
  },
  {
    id: "limits",
    section: "service",
    label: () => settingsText("noticesLimits"),
    hint: () => settingsText("noticesLimitsHint"),
  },
  { id: "block", section: "service", label: () => settingsText("block"), hint: () => settingsText("blockHint") },
  {
    id: "relay-address",
    section: "service",
    label: () => settingsText("relay"),
    hint: () => settingsText("relayHint"),
  },
  { id: "otlp", section: "service", label: () => settingsText("otlp"), hint: () => settingsText("otlpHint") },
  { id: "backup", section: "data", label: () => settingsText("backup"), hint: () => settingsText("backupHint") },
  { id: "vacuum", section: "data", label: () => settingsText("vacuum"), hint: () => settingsText("vacuumHint") },
  { id: "folder", section: "data", label: "settings.folder" },
  { id: "size", section: "data", label: "settings.size", hint: "settings.transcripts" },
  { id: "keeps", section: "data", label: "settings.keeps", hint: "settings.keepsText" },
  { id: "retention", section: "data", label: "settings.retention" },
  { id: "checks", section: "data", label: "settings.checks", hint: "settings.checksHint" },
  { id: "price-table", section: "prices", label: () => settingsText("table"), hint: () => settingsText("tableHint") },
  { id: "prices", section: "prices", label: "settings.priceTable", hint: "settings.pricesHint" },
  { id: "unpriced", section: "prices", label: "settings.unpriced", hint: "settings.unpricedHint" },
  { id: "machine", section: "privacy", label: "settings.leaves", hint: "settings.privacyText" },
  { id: "relay", section: "privacy", label: "settings.relay", hint: "settings.relayOff" },
  {
    id: "price-request",
    section: "privacy",
    label: () => settingsText("table"),
    hint: () => settingsText("priceRequestOff"),
  },
  { id: "collector", section: "privacy", label: () => settingsText("otlp"), hint: () => settingsText("otlpHint") },
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
