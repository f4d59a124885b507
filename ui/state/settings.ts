/** Choices of this browser, kept in localStorage and shown on `<html>`; `public/theme.js` applies the same before the first paint. */
import { reactive, watch } from "vue";

type Theme = "system" | "light" | "dark";
export type Language = "en" | "zh-CN" | "ja";
interface Settings {
  theme: Theme;
  density: "comfortable" | "compact";
  textSize: "s" | "m" | "l";
  /** Single-letter keys (WCAG 2.1.4 wants a switch). */
  keys: boolean;
  /** null follows the browser. */
  language: Language | null;
  /** Rail folded to icons. */
  rail: boolean;
  /** Share of the transcript, in percent of the session view. */
  split: number;
  /** Where Home goes. */
  start: "/" | "/sessions" | "/projects";
}

const KEY = "sessarc:settings";
const DEFAULTS: Settings = {
  theme: "system",
  density: "comfortable",
  textSize: "m",
  keys: true,
  language: null,
  rail: false,
  split: 54,
  start: "/",
};

export const settings = reactive<Settings>({ ...DEFAULTS, ...readStored<Partial<Settings>>(KEY, {}) });

const dark = matchMedia("(prefers-color-scheme: dark)");
export const isDark = () => settings.theme === "dark" || (settings.theme === "system" && dark.matches);

function show(): void {
  const root = document.documentElement;
  root.dataset.theme = isDark() ? "dark" : "light";
  root.dataset.density = settings.density;
  root.dataset.size = settings.textSize;
}

/** Starts showing and keeping the settings. */
export function keepSettings(): void {
  watch(settings, () => {
    show();
    writeStored(KEY, settings);
  });
  dark.addEventListener("change", show);
  show();
}

export function nextTheme(): void {
  settings.theme = isDark() ? "light" : "dark";
}

/** Of this browser, or of this tab. */
type Store = "localStorage" | "sessionStorage";

/** Reads JSON of a store; anything unreadable is the fallback. */
export function readStored<T>(key: string, fallback: T, store: Store = "localStorage"): T {
  try {
    const text = window[store].getItem(key);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Storage may be full or switched off: then the choice lasts as long as the page. `undefined` takes it away. */
export function writeStored(key: string, value: unknown, store: Store = "localStorage"): void {
  try {
    if (value === undefined) window[store].removeItem(key);
    else window[store].setItem(key, JSON.stringify(value));
  } catch {
    return;
  }
}
