/** What the search box of the settings knows: every field with its section and the words it is found by. */
import { type Key, t } from "../../i18n/index.ts";
import { n } from "../../i18n/notify/index.ts";
import { s } from "../../i18n/settings/index.ts";

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
  { id: "notifications", section: "general", label: () => n("title"), hint: () => n("hint") },
  { id: "custom-folder", section: "sources", label: "source.title", hint: "source.hint" },
  { id: "watch", section: "sources", label: "source.watch", hint: "source.watchHint" },
  { id: "sync", section: "service", label: () => s("sync"), hint: () => s("syncHint") },
  { id: "auto-import", section: "service", label: () => s("autoImport"), hint: () => s("autoImportHint") },
  { id: "tool-search", section: "service", label: () => s("toolSearch"), hint: () => s("toolSearchHint") },
  { id: "notices", section: "service", label: () => s("noticesSystem"), hint: () => s("noticesSystemHint") },
  { id: "limits", section: "service", label: () => s("noticesLimits"), hint: () => s("noticesLimitsHint") },
  { id: "block", section: "service", label: () => s("block"), hint: () => s("blockHint") },
  { id: "relay-address", section: "service", label: () => s("relay"), hint: () => s("relayHint") },
  { id: "otlp", section: "service", label: () => s("otlp"), hint: () => s("otlpHint") },
  { id: "backup", section: "data", label: () => s("backup"), hint: () => s("backupHint") },
  { id: "vacuum", section: "data", label: () => s("vacuum"), hint: () => s("vacuumHint") },
  { id: "folder", section: "data", label: "settings.folder" },
  { id: "size", section: "data", label: "settings.size", hint: "settings.transcripts" },
  { id: "keeps", section: "data", label: "settings.keeps", hint: "settings.keepsText" },
  { id: "retention", section: "data", label: "settings.retention" },
  { id: "checks", section: "data", label: "settings.checks", hint: "settings.checksHint" },
  { id: "price-table", section: "prices", label: () => s("table"), hint: () => s("tableHint") },
  { id: "prices", section: "prices", label: "settings.priceTable", hint: "settings.pricesHint" },
  { id: "unpriced", section: "prices", label: "settings.unpriced", hint: "settings.unpricedHint" },
  { id: "machine", section: "privacy", label: "settings.leaves", hint: "settings.privacyText" },
  { id: "relay", section: "privacy", label: "settings.relay", hint: "settings.relayOff" },
  { id: "price-request", section: "privacy", label: () => s("table"), hint: () => s("priceRequestOff") },
  { id: "collector", section: "privacy", label: () => s("otlp"), hint: () => s("otlpHint") },
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
