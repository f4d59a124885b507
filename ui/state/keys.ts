/** Keyboard: sequences such as `g h`, single letters and chords. The component mounted last is asked first. */
import { onScopeDispose } from "vue";
import { settings } from "./settings.ts";

export interface KeyBinding {
  /** `mod+k`, `g h`, `?`, `/`, `Escape`, `ArrowDown`. */
  keys: string;
  /** Key of the dictionary, for the help. */
  label?: string;
  /** Return false to let the key go on. */
  run(event: KeyboardEvent): unknown;
  /** Works while typing too. */
  always?: boolean;
  /** Whether it does anything now; elsewhere it is not in the help either. */
  when?(): boolean;
}

const layers: KeyBinding[][] = [];
let prefix = "";
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

/** What is typed for a field that is still being loaded. Undefined: nothing is held. */
let held: string | undefined;

/** From now on typed letters are no shortcuts and go to the field that takes them. */
export function holdTyping(): void {
  held ??= "";
}

/** What was typed since; letters are shortcuts again. */
export function takeTyping(): string {
  const typed = held ?? "";
  held = undefined;
  return typed;
}

/** Whether the key was text for the field that is being loaded. */
function hold({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (held === undefined || ctrlKey || metaKey || altKey) return false;
  if (key === "Backspace") held = held.slice(0, -1);
  else if (key.length === 1) held += key;
  // Enter and Tab would act on what was in focus before.
  else return key === "Enter" || key === "Tab";
  return true;
}

export function useKeys(bindings: KeyBinding[]): void {
  layers.push(bindings);
  onScopeDispose(() => {
    const at = layers.indexOf(bindings);
    if (at >= 0) layers.splice(at, 1);
  });
}

/** What can be pressed now, for the help: first what belongs to what is open. */
export const activeKeys = (): KeyBinding[] =>
  [...layers]
    .reverse()
    .flat()
    .filter((binding) => binding.label !== undefined && binding.when?.() !== false);

export function listenForKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (hold(event)) {
      event.preventDefault();
      prefix = "";
      return;
    }
    const key = nameOf(event);
    // An open menu takes letters for finding its items.
    const typing =
      isTyping(event.target) || (event.target instanceof Element && event.target.closest("[role=menu]") !== null);
    const tried = prefix === "" ? [key] : [`${prefix} ${key}`, key];
    const hadPrefix = prefix !== "";
    prefix = "";
    for (const name of tried) {
      for (const layer of [...layers].reverse()) {
        for (const binding of layer) {
          if (binding.keys !== name || (typing && !binding.always) || binding.when?.() === false) continue;
          if (isPlainLetter(name) && !settings.keys) continue;
          if (binding.run(event) === false) continue;
          event.preventDefault();
          return;
        }
      }
    }
    if (!typing && !hadPrefix && settings.keys && layers.flat().some((binding) => binding.keys.startsWith(`${key} `))) {
      prefix = key;
      clearTimeout(prefixTimer);
      prefixTimer = setTimeout(() => {
        prefix = "";
      }, 1_200);
    }
  });
}

function nameOf(event: KeyboardEvent): string {
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("mod");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && event.key.length > 1) parts.push("shift");
  parts.push(event.key.length === 1 && (event.ctrlKey || event.metaKey) ? event.key.toLowerCase() : event.key);
  return parts.join("+");
}

const isPlainLetter = (name: string) => /^.( .)?$/u.test(name);

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
/** `mod+k` as a person reads it. */
export const showKeys = (keys: string): string =>
  keys
    .replace("mod+", isMac ? "⌘ " : "Ctrl ")
    .replace("alt+", "Alt ")
    .replace("shift+", "Shift ")
    .replace("Arrow", "")
    .replace(/\b[a-z]$/, (c) => (keys.startsWith("mod") ? c.toUpperCase() : c));
